"""The cases as JAX programs. The sources are PyTorch's buffers, by DLPack; JAX allocates the results."""

import itertools
import os
import time

# Set before JAX is imported, so that its memory pool does not take most of the device's memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.4")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax
import jax.numpy as jnp
import torch

from . import cache_folders, stencils
from .contest import GRAPH_BELOW, TOO_SMALL, Entry, NotApplicable, by_host_clock
from .torch_moves import DTYPES, seen_shape

VERSION = jax.__version__
jax.config.update("jax_enable_x64", True)
# Later processes find the kernels that JAX compiles.
jax.config.update("jax_compilation_cache_dir", str(cache_folders.folder("jax")))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

_DTYPES = {
    "u8": jnp.uint8,
    "i32": jnp.int32,
    "i64": jnp.int64,
    "bf16": jnp.bfloat16,
    "f32": jnp.float32,
    "f64": jnp.float64,
    "e4m3": jnp.float8_e4m3fn,
}
# {tmajit's name of a boundary: NumPy's name}.
_MODES = {"zero": "constant", "constant": "constant", "clamp": "edge", "wrap": "wrap", "reflect": "reflect"}


def _cast(a, to):
    """A cast that clamps floats to an integer's least and largest value."""
    if jnp.issubdtype(a.dtype, jnp.floating) and to == jnp.uint8:
        a = jnp.clip(a if a.dtype == jnp.float64 else a.astype(jnp.float32), 0, 255)
    return a.astype(to)


def _reduction(case):
    axes, to = tuple(case["arguments"]["axes"]), _DTYPES[case["destinations"][0]["type"]]
    return {
        "sum": lambda a: jnp.sum(a, axes, dtype=to),
        "max": lambda a: jnp.max(a, axes),
        "arg_max": lambda a: jnp.argmax(a, axes[0] if len(axes) == 1 else None).astype(to),
    }[case["arguments"]["op"]]


def _stencil(case):
    given, rank = case["arguments"], len(case["sources"][0]["shape"])
    mode = _MODES[given.get("boundary", "zero")]
    extra = {"constant_values": given.get("value", 0)} if mode == "constant" else {}
    # u8 arithmetic would wrap around, and sums of many bf16 would lose their last bits.
    wide = {"u8": jnp.int16, "bf16": jnp.float32}.get(case["sources"][0]["type"])

    def pad(a, reach):
        return jnp.pad(a.astype(wide) if wide else a, [(reach.get(d, 0),) * 2 for d in range(rank)], mode, **extra)

    return stencils.formula(case, pad)


def _formula(case):
    move, orders = _formula_of_views(case), case.get("orders", [])
    order = dict(enumerate(orders))
    return lambda *sources: move(*(jnp.transpose(a, order[i]) if order.get(i) else a
                                   for i, a in enumerate(sources)))


def _formula_of_views(case):
    operation, given = case["operation"], case["arguments"]
    axes, axis = given.get("axes"), given.get("axis")
    shape = case["destinations"][0]["shape"]
    to = _DTYPES[case["destinations"][0]["type"]]
    if operation == "copy":
        return lambda a: [jnp.copy(a)]
    if operation == "permute":
        return lambda a: [jnp.transpose(a, axes)]
    if operation == "slice":
        slices = tuple(slice(*part) for part in given["slices"])
        return lambda a: [a[slices]]
    if operation == "pad":
        widths = [
            (before, outer - inner - before)
            for before, inner, outer in zip(given["widths"]["before"], seen_shape(case), shape)
        ]
        return lambda a: [jnp.pad(a, widths, constant_values=given["value"])]
    if operation == "flip":
        return lambda a: [jnp.flip(a, tuple(axes))]
    if operation == "concat":
        return lambda *parts: [jnp.concatenate(parts, axis)]
    if operation == "split":
        ends = list(itertools.accumulate(given["parts"]))[:-1]
        return lambda a: jnp.split(a, ends, axis)
    if operation == "broadcast":
        return lambda a: [jnp.broadcast_to(a, shape)]
    if operation == "reduce":
        return lambda a: [_reduction(case)(a)]
    if operation == "scan":
        return lambda a: [jnp.cumsum(a, axis, dtype=to)]
    if operation == "stencil":
        return lambda a: [_stencil(case)(a).astype(to)]
    compute = {
        "cast": lambda a: _cast(a, to),
        "2a+1": lambda a: a * 2 + 1,
        "a+b": lambda a, b: a + b,
        "a+b+c": lambda a, b, c: a + b + c,
        "100a": lambda a: jnp.clip(a * 100, 0, 255).astype(to),
        "2.5a": lambda a: (a.astype(jnp.float32) * 2.5).astype(to),
        "silu(a)*b+1": lambda a, b: jax.nn.silu(a) * b + 1,
        "normalise": lambda a: (a.astype(jnp.float32) * jnp.float32(1 / 255) - jnp.float32(0.45))
        * jnp.float32(1 / 0.225),
    }[case["expression"]]
    return lambda *sources: [compute(*sources).astype(to)]


def _to_torch(array, type_name):
    if type_name == "e4m3":  # not every version of DLPack has this type
        return torch.from_dlpack(jax.lax.bitcast_convert_type(array, jnp.uint8)).view(DTYPES["e4m3"])
    return torch.from_dlpack(array)


def jax_entry(case, sources, destinations):
    """JAX enqueues on its own stream, where PyTorch's events cannot time it. So it is timed by the host's clock."""
    if case["sector_bytes"] < GRAPH_BELOW:  # do not compile cases that are too small to be timed
        raise NotApplicable(TOO_SMALL)
    torch.cuda.synchronize()
    imported = [jax.dlpack.from_dlpack(tensor) for tensor in sources]
    if imported[0].device.platform not in ("gpu", "cuda"):
        raise NotApplicable("this JAX has no GPU")
    function = jax.jit(_formula(case))
    start = time.perf_counter()
    jax.block_until_ready(function(*imported))
    seconds = time.perf_counter() - start

    def results():
        arrays = function(*imported)
        jax.block_until_ready(arrays)
        return [_to_torch(a, d["type"]) for a, d in zip(arrays, case["destinations"])]

    return Entry(
        "jax",
        lambda: jax.block_until_ready(function(*imported)),
        results,
        sample=by_host_clock(lambda: function(*imported), jax.block_until_ready),
        notes={"first_call_s": round(seconds, 3)},
        close=jax.clear_caches,
    )
