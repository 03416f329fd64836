"""A tensor class that implements DLPack's C exchange interface on the memory of NumPy arrays."""

from __future__ import annotations

import ctypes

import numpy as np


# The structs of DLPack, with the fields of python/src/dlpack.hpp.
class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


# The types of the functions of DLPackExchangeAPI, in its order.
ALLOCATE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(DLTensor),
    ctypes.POINTER(ctypes.POINTER(Managed)),
    ctypes.c_void_p,
    ctypes.c_void_p,
)
FROM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))
TO = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.c_void_p))
VIEW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))

TYPES = {np.dtype(np.float32): (2, 32), np.dtype(np.int32): (0, 32)}
calls: list[str] = []  # the functions that tmajit has called
#: By the address of its DLPack struct, each tensor that was allocated and not yet made an object of Python.
alive: dict[int, tuple] = {}


class Exchanged:
    """A tensor on the memory of an array."""

    def __init__(self, array):
        self.array = array
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))

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
    alive[ctypes.addressof(managed)] = (made, managed)
    out[0] = ctypes.pointer(managed)
    return 0


@TO
def managed_to(managed, out):
    calls.append("to")
    made, _ = alive.pop(ctypes.addressof(managed[0]))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    out[0] = id(made)
    return 0


@STREAM
def stream(device_type, number, out):
    raise AssertionError("the CPU has no streams")


class Api(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("previous", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("managed_from", FROM),
        ("managed_to", TO),
        ("view", VIEW),
        ("stream", STREAM),
    ]


api = Api((ctypes.c_uint32 * 2)(1, 3), None, allocate, managed_from, managed_to, view, stream)
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAME = ctypes.create_string_buffer(b"dlpack_exchange_api")
Exchanged.__dlpack_c_exchange_api__ = ctypes.pythonapi.PyCapsule_New(ctypes.addressof(api), NAME, None)
