"""Permutations by NVIDIA's cuTENSOR, on PyTorch's buffers and stream: with its built-in kernels, and with kernels
that it compiles for the permutation."""

import ctypes
import time

import torch  # first: it loads the cuBLAS that cuTENSOR needs

from . import cache_folders, cutensor
from .contest import Entry, NotApplicable

_library = ctypes.CDLL(cutensor.find())
# Two handles, because a handle reuses the plans that it has made before.
_plain, _compiling = (cutensor.Cutensor(_library, jit) for jit in (False, True))
VERSION = _plain.version

for _file in cache_folders.files("cutensor"):
    try:
        _compiling.read_kernels(_file)
    except cutensor.CutensorError:  # the file is for another version or GPU
        pass


def write_kernels(part):
    """Writes the kernels that this process compiled to file `part`, for later processes."""
    _compiling.write_kernels(cache_folders.folder("cutensor") / str(part))


def _entry(name, handle, case, sources, destinations):
    if case["operation"] != "permute":
        raise NotApplicable("cuTENSOR is measured with permutations")
    source, destination = sources[0].data_ptr(), destinations[0].data_ptr()
    # The lowest bit that is set is the largest power of two, at most 256, that divides both addresses.
    address_bits = source | destination | 256
    start = time.perf_counter()
    try:
        view, axes = case["sources"][0], case["arguments"]["axes"]
        move = handle.permutation(view["shape"], axes, view["type"], address_bits & -address_bits)
    except cutensor.Refused as error:
        raise NotApplicable(str(error)) from error
    seconds = time.perf_counter() - start
    stream = torch.cuda.current_stream().cuda_stream
    return Entry(name, lambda: move(destination, source, stream), lambda: destinations,
                 notes={"plan_s": round(seconds, 3)}, close=move.close)


def plain_entry(case, sources, destinations):
    return _entry("cutensor", _plain, case, sources, destinations)


def compiling_entry(case, sources, destinations):
    return _entry("cutensor-jit", _compiling, case, sources, destinations)
