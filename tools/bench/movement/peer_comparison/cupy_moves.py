"""The cases as CuPy programs, on PyTorch's buffers and stream."""

import cupy
import torch

from .contest import Entry, NotApplicable
from .torch_moves import seen, seen_shape

VERSION = cupy.__version__

# CuPy cannot compute with these types; it moves them as integers of their size.
_AS_INTEGER = {torch.bfloat16: torch.int16, torch.float8_e4m3fn: torch.uint8}

_KERNELS = {
    "2a+1": ("T a", "T y", "y = a * 2 + 1"),
    "a+b": ("T a, T b", "T y", "y = a + b"),
    "silu(a)*b+1": ("T a, T b", "T y", "y = a / (T(1) + exp(-a)) * b + T(1)"),
    "normalise": ("uint8 a", "float32 y", "y = (a * (1.0f / 255.0f) - 0.45f) * (1.0f / 0.225f)"),
}


def _array(tensor):
    kind = _AS_INTEGER.get(tensor.dtype)
    return cupy.from_dlpack(tensor.view(kind) if kind else tensor)


def _move(case, sources, destinations):
    operation, given, to = case["operation"], case["arguments"], destinations[0]
    axes, axis = given.get("axes"), given.get("axis")
    if operation in ("cast", "map"):
        if any(array["type"] in ("bf16", "e4m3") for array in case["sources"] + case["destinations"]):
            raise NotApplicable("CuPy's kernels do not compute with bf16 and fp8")
        if case["expression"] not in _KERNELS:
            raise NotApplicable(f"there is no kernel of CuPy's for {case['expression']}")
        inputs, output, text = _KERNELS[case["expression"]]
        kernel = cupy.ElementwiseKernel(inputs, output, text, "beside_tmajit")
        return lambda: kernel(*sources, to)
    if operation == "stencil":
        raise NotApplicable("there is no kernel of CuPy's for stencils")
    if operation == "reduce":
        if case["sources"][0]["type"] == "bf16":
            raise NotApplicable("CuPy does not compute with bf16")
        # CuPy uses CUB by default.
        if given["op"] == "arg_max":
            return lambda: cupy.argmax(sources[0], axis=axes[0] if len(axes) == 1 else None, out=to)
        if given["op"] == "max":
            return lambda: cupy.amax(sources[0], axis=tuple(axes), out=to)
        return lambda: cupy.sum(sources[0], axis=tuple(axes), dtype=to.dtype, out=to)
    if operation == "scan":
        if case["sources"][0]["type"] == "bf16":
            raise NotApplicable("CuPy does not compute with bf16")
        return lambda: cupy.cumsum(sources[0], axis=axis, dtype=to.dtype, out=to)  # by CUB along one row
    if operation == "concat":
        return lambda: cupy.concatenate(sources, axis, out=to)
    if operation == "pad":
        inside = tuple(
            slice(before, before + extent)
            for before, extent in zip(given["widths"]["before"], seen_shape(case))
        )
        value = given["value"]
        if case["sources"][0]["type"] == "bf16":
            value = int(torch.tensor(value, dtype=torch.bfloat16).view(torch.int16).item())

        def pad():
            to.fill(value)
            to[inside] = sources[0]

        return pad
    if operation == "split":
        parts, at = [], 0
        for extent in given["parts"]:
            parts.append(sources[0][(slice(None),) * axis + (slice(at, at + extent),)])
            at += extent

        def split():
            for destination, part in zip(destinations, parts):
                destination[...] = part

        return split
    source = sources[0]
    if operation == "permute":
        source = source.transpose(axes)
    elif operation == "slice":
        source = source[tuple(slice(*part) for part in given["slices"])]
    elif operation == "flip":
        source = cupy.flip(source, tuple(axes))
    return lambda: cupy.copyto(to, source)  # broadcasts, too


def cupy_entry(case, sources, destinations):
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    with stream:
        move = _move(case, [_array(s) for s in seen(case, sources)], [_array(d) for d in destinations])

    def run():
        with stream:
            move()

    return Entry("cupy", run, lambda: destinations)
