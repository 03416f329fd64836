"""Permutations by calls of cuTENSOR, run by a stand-in library that carries the calls out on the host."""

import ctypes
import itertools
import tempfile
import unittest
from pathlib import Path

import paths  # noqa: F401
from peer_comparison import cutensor

SIZES = {0: 4, 1: 8, 14: 2}


class Function:
    """A library's symbol as ctypes returns it: a callable whose argument and result types can be set."""

    def __init__(self, call):
        self.call, self.restype, self.argtypes = call, None, None

    def __call__(self, *arguments):
        assert self.argtypes is None or len(arguments) == len(self.argtypes)
        return self.call(*arguments)


class Standin:
    """Stands in for libcutensor.so.2, with host memory. Like the real library it refuses 1-byte types."""

    def __init__(self, refusal=15):
        self.refusal, self.made, self.alive, self.modes = refusal, {}, 0, []
        for name in ("GetErrorString", "GetVersion", *cutensor._FUNCTIONS):
            setattr(self, f"cutensor{name}", Function(getattr(self, name)))

    def new(self, where, thing):
        self.made[len(self.made) + 1] = thing
        self.alive += 1
        where._obj.value = len(self.made)
        return 0

    def get(self, handle):
        return self.made[getattr(handle, "value", handle)]

    def GetVersion(self):
        return 20801

    def GetErrorString(self, status):
        return b"CUTENSOR_STATUS_%d" % status

    def Create(self, handle):
        return self.new(handle, "handle")

    def CreatePlanPreference(self, _, preference, algorithm, jit):
        return self.new(preference, (algorithm, jit))

    def CreateTensorDescriptor(self, _, descriptor, rank, extents, strides, number, alignment):
        if number not in SIZES:
            return self.refusal
        return self.new(descriptor, (list(extents)[:rank], list(strides)[:rank], SIZES[number]))

    def CreatePermutation(self, _, operation, source, source_modes, identity, destination, modes, compute):
        assert identity == 1
        return self.new(operation, (self.get(source), list(source_modes), self.get(destination), list(modes)))

    def OperationDescriptorGetAttribute(self, _, operation, attribute, answer, size):
        assert (attribute, size) == (1, 4)
        answer._obj.value = 1 if self.get(operation)[0][2] == 8 else 0
        return 0

    def CreatePlan(self, _, plan, operation, preference, workspace):
        assert self.get(preference)[0] == -1 and workspace == 0
        return self.new(plan, self.get(operation))

    def Permute(self, _, plan, one, source, destination, stream):
        (extents, from_strides, size), from_modes, (_, to_strides, _), to_modes = self.get(plan)
        assert float(type_of(one._obj).from_buffer(one._obj).value) == 1.0
        for index in itertools.product(*map(range, extents)):
            mode = dict(zip(from_modes, index))
            start = sum(i * s for i, s in zip(index, from_strides))
            end = sum(mode[m] * s for m, s in zip(to_modes, to_strides))
            ctypes.memmove(destination + end * size, source + start * size, size)
        return 0

    def destroy(self, _):
        self.alive -= 1
        return 0

    DestroyTensorDescriptor = DestroyOperationDescriptor = DestroyPlan = destroy

    def WriteKernelCacheToFile(self, _, path):
        Path(path.decode()).write_bytes(b"kernels")
        return 0

    def ReadKernelCacheFromFile(self, _, path):
        return 0 if Path(path.decode()).read_bytes() == b"kernels" else 7


def type_of(bits):
    return {4: ctypes.c_float, 8: ctypes.c_double}[ctypes.sizeof(bits)]


class Cutensor(cutensor.Cutensor):
    def _compute(self, precision):
        assert precision in ("32F", "64F")
        return ctypes.c_void_p(1)


class Permutations(unittest.TestCase):
    def moved(self, shape, axes, type_name, kind):
        count = 1
        for extent in shape:
            count *= extent
        source, destination = (kind * count)(*range(count)), (kind * count)()
        move = Cutensor(Standin(), jit=False).permutation(shape, axes, type_name, 256)
        move(ctypes.addressof(destination), ctypes.addressof(source), 0)
        return list(destination)

    def expected(self, shape, axes):
        indices = list(itertools.product(*map(range, shape)))
        number = {index: n for n, index in enumerate(indices)}
        to = itertools.product(*(range(shape[axis]) for axis in axes))
        return [number[tuple(i[axes.index(d)] for d in range(len(shape)))] for i in to]

    def test_every_order_of_three_axes(self):
        for axes in itertools.permutations(range(3)):
            for name, kind in (("f32", ctypes.c_int32), ("bf16", ctypes.c_int16), ("f64", ctypes.c_int64)):
                self.assertEqual(self.moved([2, 3, 5], list(axes), name, kind), self.expected([2, 3, 5], list(axes)))

    def test_a_refusal_names_the_failed_call_and_leaks_nothing(self):
        for status in (15, 7):
            library = Standin(refusal=status)
            handle = Cutensor(library, jit=True)
            before = library.alive
            with self.assertRaises(cutensor.Refused) as caught:
                handle.permutation([2, 3], [1, 0], "u8", 256)
            self.assertIn(f"cutensorCreateTensorDescriptor: CUTENSOR_STATUS_{status}", str(caught.exception))
            self.assertEqual(library.alive, before)

    def test_an_invalid_argument_of_a_documented_type_is_an_error(self):
        library = Standin()
        library.CreatePlan = library.cutensorCreatePlan.call = lambda *_: 7
        with self.assertRaises(cutensor.CutensorError) as caught:
            Cutensor(library, jit=False).permutation([2, 3], [1, 0], "f32", 256)
        self.assertNotIsInstance(caught.exception, cutensor.Refused)

    def test_close_frees_all_objects(self):
        library = Standin()
        handle = Cutensor(library, jit=False)
        before = library.alive
        handle.permutation([2, 3], [1, 0], "f32", 256).close()
        self.assertEqual(library.alive, before)

    def test_version_is_text_and_jit_is_a_plan_preference(self):
        library = Standin()
        self.assertEqual(Cutensor(library, jit=True).version, "2.8.1")
        self.assertIn((-1, 1), library.made.values())

    def test_compiled_kernels_can_be_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "1"
            handle = Cutensor(Standin(), jit=True)
            handle.write_kernels(file)
            handle.read_kernels(file)
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["1"])
            file.write_bytes(b"another version")
            with self.assertRaises(cutensor.CutensorError):
                handle.read_kernels(file)


if __name__ == "__main__":
    unittest.main()
