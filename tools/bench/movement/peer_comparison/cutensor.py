"""Permutations by libcutensor.so.2 through ctypes. Names and numbers are those of NVIDIA's cutensor.h 2.x."""

import ctypes
import importlib.util
import os
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

NAME = "libcutensor.so.2"

_OBJECT = POINTER(c_void_p)  # output parameter for a handle, descriptor or plan
# {name without "cutensor": types of its arguments}. All of these functions return a cutensorStatus_t.
_FUNCTIONS = {
    "Create": [_OBJECT],
    "CreateTensorDescriptor": [c_void_p, _OBJECT, c_uint32, POINTER(c_int64), POINTER(c_int64), c_int, c_uint32],
    "CreatePermutation": [c_void_p, _OBJECT, c_void_p, POINTER(c_int32), c_int, c_void_p, POINTER(c_int32),
                          c_void_p],
    "OperationDescriptorGetAttribute": [c_void_p, c_void_p, c_int, c_void_p, c_size_t],
    "CreatePlanPreference": [c_void_p, _OBJECT, c_int, c_int],
    "CreatePlan": [c_void_p, _OBJECT, c_void_p, c_void_p, c_uint64],
    "Permute": [c_void_p] * 6,
    "DestroyTensorDescriptor": [c_void_p],
    "DestroyOperationDescriptor": [c_void_p],
    "DestroyPlan": [c_void_p],
    "ReadKernelCacheFromFile": [c_void_p, c_char_p],
    "WriteKernelCacheToFile": [c_void_p, c_char_p],
}
_OP_IDENTITY = 1
_ALGO_DEFAULT = -1
_JIT_MODE_NONE, _JIT_MODE_DEFAULT = 0, 1
_OPERATION_SCALAR_TYPE = 1
_INVALID_VALUE, _NOT_SUPPORTED = 7, 15

# {type: (cudaDataType_t, precision of the computation)}.
_TYPES = {"f32": (0, "32F"), "f64": (1, "64F"), "bf16": (14, "32F"), "u8": (8, "32F"), "e4m3": (28, "32F"),
          "i32": (10, "32F")}
# The types that cuTENSOR's manual lists for permutations.
_DOCUMENTED = ("f32", "f64", "bf16")
# The bits of the number 1 in each cudaDataType_t that a scaling factor may have.
_ONE = {0: (c_uint32, 0x3F800000), 1: (c_uint64, 0x3FF0000000000000), 2: (ctypes.c_uint16, 0x3C00),
        14: (ctypes.c_uint16, 0x3F80)}


class CutensorError(RuntimeError):
    """A call of cuTENSOR failed."""


class Refused(CutensorError):
    """cuTENSOR does not support this operation."""


def find():
    """The library to load: $CUTENSOR_LIBRARY, that in the folder of the package cutensor, or the loader's."""
    if os.environ.get("CUTENSOR_LIBRARY"):
        return os.environ["CUTENSOR_LIBRARY"]
    package = importlib.util.find_spec("cutensor")
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / "lib" / NAME).exists():
            return str(Path(folder) / "lib" / NAME)
    return NAME


class Cutensor:
    """A cuTENSOR handle. jit: cuTENSOR may compile a kernel for each permutation.

    library: the ctypes.CDLL of libcutensor.so.2."""

    def __init__(self, library, jit):
        self._library = library
        library.cutensorGetErrorString.restype = c_char_p
        library.cutensorGetErrorString.argtypes = [c_int]
        library.cutensorGetVersion.restype = c_size_t
        for name, arguments in _FUNCTIONS.items():
            function = getattr(library, f"cutensor{name}")
            function.restype, function.argtypes = c_int, arguments
        number = library.cutensorGetVersion()
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        self._handle, self._preference = c_void_p(), c_void_p()
        self._call("Create", ctypes.byref(self._handle))
        self._call("CreatePlanPreference", self._handle, ctypes.byref(self._preference), _ALGO_DEFAULT,
                   _JIT_MODE_DEFAULT if jit else _JIT_MODE_NONE)

    def _call(self, name, *arguments):
        status = getattr(self._library, f"cutensor{name}")(*arguments)
        if status:
            why = self._library.cutensorGetErrorString(status).decode()
            kind = Refused if status == _NOT_SUPPORTED else CutensorError
            error = kind(f"cutensor{name}: {why}")
            error.status = status
            raise error

    def _compute(self, precision):
        return c_void_p.in_dll(self._library, f"CUTENSOR_COMPUTE_DESC_{precision}")

    def permutation(self, shape, axes, type_name, alignment):
        """A plan of destination[...] = source.permute(axes), both dense and row-major; `shape` is the source's.

        alignment: a number of bytes that divides both addresses. Raises Refused if cuTENSOR does not support it."""
        try:
            return Permutation(self, shape, axes, type_name, alignment)
        except CutensorError as error:
            if type_name in _DOCUMENTED or error.status != _INVALID_VALUE:
                raise
            # For types that the manual does not list, cuTENSOR may return "invalid value" instead.
            raise Refused(f"{error}, of {type_name}") from error

    def read_kernels(self, path):
        """Reads compiled kernels from a file of write_kernels() for the same version and kind of GPU."""
        self._call("ReadKernelCacheFromFile", self._handle, str(path).encode())

    def write_kernels(self, path):
        """Writes all compiled kernels; replaces the file atomically."""
        partial = f"{path}.{os.getpid()}.partial"
        self._call("WriteKernelCacheToFile", self._handle, partial.encode())
        os.replace(partial, path)


class Permutation:
    """A planned permutation; close() frees it."""

    def __init__(self, owner, shape, axes, type_name, alignment):
        self._owner, self._made = owner, []
        data_type, precision = _TYPES[type_name]
        try:
            source = self._tensor(shape, data_type, alignment)
            destination = self._tensor([shape[axis] for axis in axes], data_type, alignment)
            rank = len(shape)
            operation = self._make("CreatePermutation", "DestroyOperationDescriptor", source,
                                   (c_int32 * rank)(*range(rank)), _OP_IDENTITY, destination,
                                   (c_int32 * rank)(*axes), owner._compute(precision))
            scalar = c_int()
            owner._call("OperationDescriptorGetAttribute", owner._handle, operation, _OPERATION_SCALAR_TYPE,
                        ctypes.byref(scalar), ctypes.sizeof(scalar))
            kind, bits = _ONE[scalar.value]
            self._one = kind(bits)
            self._plan = self._make("CreatePlan", "DestroyPlan", operation, owner._preference, 0)
        except Exception:
            self.close()
            raise

    def _make(self, create, destroy, *arguments):
        """Creates an object of cuTENSOR, which close() destroys."""
        made = c_void_p()
        self._owner._call(create, self._owner._handle, ctypes.byref(made), *arguments)
        self._made.append((destroy, made))
        return made

    def _tensor(self, shape, data_type, alignment):
        strides = [1] * len(shape)
        for d in range(len(shape) - 2, -1, -1):
            strides[d] = strides[d + 1] * shape[d + 1]
        numbers = c_int64 * len(shape)
        return self._make("CreateTensorDescriptor", "DestroyTensorDescriptor", len(shape), numbers(*shape),
                          numbers(*strides), data_type, alignment)

    def __call__(self, destination, source, stream):
        """Enqueues the move on a CUstream; works inside graph capture."""
        self._owner._call("Permute", self._owner._handle, self._plan, ctypes.byref(self._one), source, destination,
                          stream)

    def close(self):
        while self._made:
            self._owner._call(*self._made.pop())
