"""Reads and makes arrays of libraries that have no DLPack exchange interface.

`library_of` returns a Library, whose three functions the extension calls. `read` returns (type, shape,
strides in elements or None, address, DLPack's device type, device number, whether the array is read-only,
the memory's owner). If `read` is None, the extension calls the array's `__dlpack__` instead.
`empty(shape, type, DLPack's device type, device number)` makes an uninitialised array, and
`stream(device number)` returns the address of a GPU's current stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

_CPU, _CUDA = 1, 2  # device types of DLPack


class Library(NamedTuple):
    read: Callable[[Any], tuple] | None
    empty: Callable[[tuple, str, int, int], Any]
    stream: Callable[[int], int]
    #: Whether each call waits until its launch on a GPU has ended, because the library's streams cannot wait.
    waits: bool = False


def _default_stream(device: int) -> int:
    return 0


def type_name(kind: Any) -> str:
    """The name of a type object such as numpy.float32, numpy.dtype("float32") or torch.float32."""
    name = getattr(kind, "name", None) or getattr(kind, "__name__", None) or str(kind)
    return name.rpartition(".")[2]


# Element types of tmajit that no library has; their elements have the format of the other type.
_STORED_AS = {"tf32": "float32", "f32_ftz": "float32", "tf32_ftz": "float32"}


def numpy_type(name: str) -> Any:
    import numpy

    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))
    return numpy.dtype(_STORED_AS.get(name, name))


def _read_numpy(x: Any) -> tuple:
    if not hasattr(x, "ctypes"):  # a NumPy scalar, such as x[0]
        import numpy

        x = numpy.array(x)
    if not x.dtype.isnative:
        raise TypeError(f"arrays of type {x.dtype} are in another machine's order of bytes; use x.byteswap()")
    size = x.dtype.itemsize
    if any(step % size for step in x.strides):
        raise TypeError(f"strides of {x.strides} bytes are no multiples of the {size} bytes of {x.dtype}")
    strides = tuple(step // size for step in x.strides)
    return x.dtype.name, x.shape, strides, x.ctypes.data, _CPU, 0, not x.flags.writeable, x


def _numpy() -> Library:
    def empty(shape: tuple, kind: str, device_type: int, device: int) -> Any:
        import numpy

        return numpy.empty(shape, numpy_type(kind))

    return Library(_read_numpy, empty, _default_stream)


def _torch() -> Library:
    import torch

    def read(x: Any) -> tuple:
        if x.layout != torch.strided:
            raise TypeError(f"a tensor of layout {x.layout} has no strides; use x.to_dense()")
        if x.is_conj() or x.is_neg():
            raise TypeError(
                "a conjugated or negated view is no plain memory; use x.resolve_conj().resolve_neg()"
            )
        kind = _CUDA if x.is_cuda else _CPU if x.device.type == "cpu" else -1
        return (
            type_name(x.dtype),
            tuple(x.shape),
            x.stride(),
            x.data_ptr(),
            kind,
            x.device.index or 0,
            False,
            x,
        )

    def empty(shape: tuple, kind: str, device_type: int, device: int) -> Any:
        place = f"cuda:{device}" if device_type == _CUDA else "cpu"
        return torch.empty(shape, dtype=getattr(torch, _STORED_AS.get(kind, kind)), device=place)

    return Library(read, empty, lambda device: torch.cuda.current_stream(device).cuda_stream)


def _cupy() -> Library:
    import cupy

    def read(x: Any) -> tuple:
        strides = tuple(step // x.itemsize for step in x.strides)
        return x.dtype.name, x.shape, strides, x.data.ptr, _CUDA, x.device.id, False, x

    def empty(shape: tuple, kind: str, device_type: int, device: int) -> Any:
        with cupy.cuda.Device(device):
            return cupy.empty(shape, numpy_type(kind))

    def stream(device: int) -> int:
        with cupy.cuda.Device(device):
            return cupy.cuda.get_current_stream().ptr

    return Library(read, empty, stream)


def _jax() -> Library:
    import jax
    import jax.numpy as jnp

    def read(x: Any) -> tuple:
        if len(x.devices()) != 1:
            raise TypeError("an array over several devices is no single memory; give its shards")
        (device,) = x.devices()
        x.block_until_ready()
        kind = _CPU if device.platform == "cpu" else _CUDA
        number = 0 if kind == _CPU else device.local_hardware_id
        return x.dtype.name, x.shape, None, x.unsafe_buffer_pointer(), kind, number, True, x

    def empty(shape: tuple, kind: str, device_type: int, device: int) -> Any:
        jax_type = jax.dtypes.canonicalize_dtype(numpy_type(kind))
        if jax_type != numpy_type(kind):
            raise TypeError(
                f"JAX makes arrays of {jax_type} in place of {kind}; give dtype, or set jax_enable_x64 in JAX"
            )
        platform = "cpu" if device_type == _CPU else "gpu"
        (place,) = [d for d in jax.devices(platform) if device_type == _CPU or d.local_hardware_id == device][
            :1
        ]
        # A new buffer: no other array may refer to the memory that the kernel writes.
        return jax.device_put(jnp.empty(shape, jax_type), place).copy()

    return Library(read, empty, _default_stream, waits=True)


def _other() -> Library:
    def empty(shape: tuple, kind: str, device_type: int, device: int) -> Any:
        if device_type != _CPU:
            raise TypeError("this library's tensors have no allocator that tmajit knows; give out")
        import numpy

        return numpy.empty(shape, numpy_type(kind))

    return Library(None, empty, _default_stream, waits=True)


_LIBRARIES = {"numpy": _numpy, "torch": _torch, "cupy": _cupy, "jax": _jax, "jaxlib": _jax}


def library_of(kind: type) -> Library:
    """The library of an array type: the first known library that defines the type or one of its bases."""
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in _LIBRARIES and root in sys.modules:
            return _LIBRARIES[root]()
    return _other()
