"""TransformerEngine's kernels, by the C functions of its library, without its extension of PyTorch.

Each function prepares a call on PyTorch's current stream, and returns it. A call returns the same tensors
each time. The library ends the process if it refuses a call. So the import of this module starts a process
that tries all calls, and fails if that process does.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from ctypes import c_bool, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import torch

# NVTEDType, NVTETensorParam and NVTEScalingMode of transformer_engine.h.
DTYPES = {
    torch.uint8: 0,
    torch.int32: 2,
    torch.float32: 4,
    torch.float16: 5,
    torch.bfloat16: 6,
    torch.float8_e4m3fn: 7,
}
DATA, TRANSPOSED, SCALE, AMAX, SCALE_INV, TRANSPOSED_SCALE_INV = range(6)
PER_TENSOR, ROW_BLOCKS, SQUARE_BLOCKS = 0, 2, 3


class Shape(ctypes.Structure):
    _fields_ = (("data", c_size_t * 15), ("ndim", c_size_t))


class BasicTensor(ctypes.Structure):
    _fields_ = (("data", c_void_p), ("dtype", c_int), ("shape", Shape))


def load() -> Any:
    """The library of the installed package, whose Python modules are not imported."""
    package = importlib.util.find_spec("transformer_engine")
    if package is None:
        raise ModuleNotFoundError("No module named 'transformer_engine'")
    folders = [Path(folder) for folder in package.submodule_search_locations or ()]
    files = [file for folder in folders for file in folder.parent.rglob("libtransformer_engine.so")]
    if not files:
        raise FileNotFoundError(f"no libtransformer_engine.so in {folders}")
    ctypes.CDLL("libnvrtc.so.13", mode=ctypes.RTLD_GLOBAL)  # the library uses it without naming it
    # Lazily, because symbols of newer versions of cuBLAS may be missing, which no call here needs.
    loader = ctypes.CDLL(None)
    loader.dlopen.argtypes, loader.dlopen.restype = (ctypes.c_char_p, c_int), c_void_p
    loader.dlerror.restype = ctypes.c_char_p
    handle = loader.dlopen(str(files[0]).encode(), os.RTLD_LAZY)
    if not handle:
        raise OSError(loader.dlerror().decode())
    library = ctypes.CDLL(str(files[0]), handle=handle)
    for name, result, arguments in (
        ("nvte_create_tensor", c_void_p, (c_int,)),
        ("nvte_destroy_tensor", None, (c_void_p,)),
        ("nvte_set_tensor_param_v2", None, (c_void_p, c_int, c_void_p, c_size_t)),
        ("nvte_tensor_shape", Shape, (c_void_p,)),
        ("nvte_tensor_type", c_int, (c_void_p,)),
        ("nvte_create_quantization_config", c_void_p, ()),
        ("nvte_rmsnorm_fwd", None, (c_void_p, c_void_p, c_float, *[c_void_p] * 3, c_int, c_bool, c_void_p)),
        ("nvte_layernorm_fwd", None, (*[c_void_p] * 3, c_float, *[c_void_p] * 4, c_int, c_bool, c_void_p)),
        ("nvte_cast_transpose", None, (c_void_p,) * 3),
        ("nvte_compute_amax", None, (c_void_p,) * 3),
        ("nvte_compute_scale_from_amax", None, (c_void_p,) * 3),
        ("nvte_quantize_v2", None, (c_void_p,) * 4),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = load()


class Tensor:
    """A tensor of the library on memory of PyTorch's tensors, which it keeps."""

    def __init__(self, parts: dict[int, Any], mode: int = PER_TENSOR):
        self.handle = LIBRARY.nvte_create_tensor(mode)
        self.kept: list[Any] = []
        for part, tensor in parts.items():
            self.set(part, tensor)

    def set(self, part: int, tensor: Any) -> None:
        shape = Shape((c_size_t * 15)(*tensor.shape), tensor.ndim)
        basic = BasicTensor(tensor.data_ptr(), DTYPES[tensor.dtype], shape)
        LIBRARY.nvte_set_tensor_param_v2(self.handle, part, ctypes.byref(basic), ctypes.sizeof(basic))
        self.kept.append(tensor)

    def __del__(self) -> None:
        LIBRARY.nvte_destroy_tensor(self.handle)


def stream() -> int:
    return torch.cuda.current_stream().cuda_stream


def norm(x: Any, weights: list, eps: float, function: Callable, statistics: int) -> Callable:
    """A norm by `function`, which also stores as many f32 for each row as `statistics` says."""
    y = torch.empty_like(x)
    read = [Tensor({DATA: tensor}) for tensor in (x, *weights)]
    rows = [torch.empty(x.shape[0], dtype=torch.float32, device=x.device) for _ in range(statistics)]
    written = [Tensor({DATA: tensor}) for tensor in (y, *rows)]
    processors = torch.cuda.get_device_properties(x.device).multi_processor_count
    workspace = Tensor({})

    def run() -> Any:
        handles = [tensor.handle for tensor in read], [tensor.handle for tensor in written]
        function(*handles[0], eps, *handles[1], workspace.handle, processors, False, stream())
        return y

    run()  # only asks for the workspace
    shape = LIBRARY.nvte_tensor_shape(workspace.handle)
    dtype = {number: dtype for dtype, number in DTYPES.items()}[LIBRARY.nvte_tensor_type(workspace.handle)]
    workspace.set(DATA, torch.zeros(shape.data[: shape.ndim], dtype=dtype, device=x.device))
    return run


def rms_norm(x: Any, weight: Any, eps: float) -> Callable:
    return norm(x, [weight], eps, LIBRARY.nvte_rmsnorm_fwd, 1)


def layer_norm(x: Any, weight: Any, bias: Any, eps: float) -> Callable:
    return norm(x, [weight, bias], eps, LIBRARY.nvte_layernorm_fwd, 2)


def e4m3(x: Any, *shape: int) -> Any:
    return torch.empty(*(shape or x.shape), dtype=torch.float8_e4m3fn, device=x.device)


def cast_transpose(x: Any, scale: Any) -> Callable:
    """The scaled matrix as e4m3, in both orders, and its greatest magnitude before the scaling."""
    q, transposed = e4m3(x), e4m3(x, *reversed(x.shape))
    amax, inverse = torch.zeros_like(scale), torch.empty_like(scale)
    source = Tensor({DATA: x})
    inverses = {SCALE_INV: inverse, TRANSPOSED_SCALE_INV: inverse}
    to = Tensor({DATA: q, TRANSPOSED: transposed, SCALE: scale, AMAX: amax, **inverses})

    def run() -> tuple:
        LIBRARY.nvte_cast_transpose(source.handle, to.handle, stream())
        return q, transposed, amax.view(())

    return run


def quantize_tensor(x: Any) -> Callable:
    """e4m3 with one scale, by three kernels: the maximum, the scale, the cast."""
    q = e4m3(x)
    scale, amax, inverse = torch.zeros(3, 1, device=x.device)
    source = Tensor({DATA: x})
    measured = Tensor({DATA: q, SCALE: scale, AMAX: amax, SCALE_INV: inverse})
    to = Tensor({DATA: q, SCALE: scale, SCALE_INV: inverse})
    config = LIBRARY.nvte_create_quantization_config()

    def run() -> tuple:
        LIBRARY.nvte_compute_amax(source.handle, measured.handle, stream())
        LIBRARY.nvte_compute_scale_from_amax(measured.handle, config, stream())
        LIBRARY.nvte_quantize_v2(source.handle, to.handle, config, stream())
        return q, inverse.view(())

    return run


def quantize_blocks(x: Any, square: bool) -> Callable:
    """e4m3 with an f32 scale for each block of 128 elements of a row, or of 128 x 128."""
    rows, columns = x.shape
    q = e4m3(x)
    blocks = (rows // 128, columns // 128) if square else (columns // 128, rows)
    inverse = torch.zeros(blocks[0], -(-blocks[1] // 4) * 4, device=x.device)  # padded to multiples of 4
    source = Tensor({DATA: x})
    to = Tensor({DATA: q, SCALE_INV: inverse}, SQUARE_BLOCKS if square else ROW_BLOCKS)
    config = LIBRARY.nvte_create_quantization_config()
    scales = inverse[:, : blocks[1]]

    def run() -> tuple:
        LIBRARY.nvte_quantize_v2(source.handle, to.handle, config, stream())
        return q, scales if square else scales.t()

    return run


def try_calls() -> None:
    """Calls everything once, on small tensors."""
    x = torch.ones(256, 512, dtype=torch.bfloat16, device="cuda")
    weight, scale = x[0].clone(), torch.ones(1, device="cuda")
    for call in (
        rms_norm(x, weight, 1e-6),
        layer_norm(x, weight, weight, 1e-5),
        cast_transpose(x, scale),
        quantize_tensor(x),
        quantize_blocks(x, square=False),
        quantize_blocks(x, square=True),
    ):
        call()
        torch.cuda.synchronize()


if __name__ == "__main__":
    try_calls()
else:
    trial = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300)
    if trial.returncode != 0:
        reason = trial.stderr.strip().splitlines() or [f"exit code {trial.returncode}"]
        raise RuntimeError(f"a call failed: {reason[-1]}")
