"""A tensor class that implements DLPack's C exchange interface on the memory of NumPy arrays."""

from __future__ import annotations

import ctypes as c

import numpy as np


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("number", c.c_int32)]


class Type(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class DLTensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device", Device),
        ("ndim", c.c_int32),
        ("dtype", Type),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Managed(c.Structure):
    _fields_ = [
        ("version", c.c_uint32 * 2),
        ("context", c.c_void_p),
        ("deleter", c.c_void_p),
        ("flags", c.c_uint64),
        ("tensor", DLTensor),
    ]


ALLOCATE = c.CFUNCTYPE(c.c_int, c.POINTER(DLTensor), c.POINTER(c.POINTER(Managed)), c.c_void_p, c.c_void_p)
FROM = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(c.POINTER(Managed)))
TO = c.PYFUNCTYPE(c.c_int, c.POINTER(Managed), c.POINTER(c.c_void_p))
VIEW = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(DLTensor))
STREAM = c.PYFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))

TYPES = {np.dtype(np.float32): (2, 32), np.dtype(np.int32): (0, 32)}
calls: list[str] = []
alive: dict[int, tuple] = {}


class Exchanged:
    """A tensor on the memory of an array."""

    def __init__(self, array):
        self.array = array
        self.shape = (c.c_int64 * array.ndim)(*array.shape)
        self.strides = (c.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))

    def fill(self, tensor, offset=0):
        tensor.data = self.array.ctypes.data - offset
        tensor.byte_offset = offset
        tensor.device = Device(1, 0)
        tensor.ndim = self.array.ndim
        tensor.dtype = Type(*TYPES[self.array.dtype], 1)
        tensor.shape = self.shape
        tensor.strides = self.strides


@VIEW
def view(tensor, out):
    calls.append("view")
    tensor.fill(out[0], offset=64)
    return 0


@FROM
def managed_from(tensor, out):
    raise AssertionError("tmajit must call view(), which costs less")


@ALLOCATE
def allocate(prototype, out, context, set_error):
    calls.append("allocate")
    wanted = prototype[0]
    (kind,) = [kind for kind, code in TYPES.items() if code == (wanted.dtype.code, wanted.dtype.bits)]
    made = Exchanged(np.empty(wanted.shape[: wanted.ndim], kind))
    managed = Managed()
    made.fill(managed.tensor)
    alive[c.addressof(managed)] = (made, managed)
    out[0] = c.pointer(managed)
    return 0


@TO
def managed_to(managed, out):
    calls.append("to")
    made, _ = alive.pop(c.addressof(managed[0]))
    c.pythonapi.Py_IncRef(c.py_object(made))
    out[0] = id(made)
    return 0


@STREAM
def stream(device_type, number, out):
    raise AssertionError("the CPU has no streams")


class Api(c.Structure):
    _fields_ = [
        ("version", c.c_uint32 * 2),
        ("previous", c.c_void_p),
        ("allocate", ALLOCATE),
        ("managed_from", FROM),
        ("managed_to", TO),
        ("view", VIEW),
        ("stream", STREAM),
    ]


api = Api((c.c_uint32 * 2)(1, 3), None, allocate, managed_from, managed_to, view, stream)
c.pythonapi.PyCapsule_New.restype = c.py_object
c.pythonapi.PyCapsule_New.argtypes = [c.c_void_p, c.c_char_p, c.c_void_p]
NAME = c.create_string_buffer(b"dlpack_exchange_api")
Exchanged.__dlpack_c_exchange_api__ = c.pythonapi.PyCapsule_New(c.addressof(api), NAME, None)
