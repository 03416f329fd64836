"""libtmajit_movement.so through ctypes: the list of cases, plans and copies by the driver."""

import ctypes
import json
import os
import tempfile
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

NAME = "libtmajit_movement.so"

# {name without the prefix tmajit_movement_: (type of the result, types of the arguments)}
_FUNCTIONS = {
    "error": (c_char_p, []),
    "error_code": (c_char_p, []),
    "cases": (c_char_p, [c_uint64, c_int, c_size_t, c_int, c_int, c_int, c_int]),
    "open": (c_void_p, [c_char_p, c_uint64, c_int, c_size_t, c_int, c_int, c_int, c_int]),
    "open_improving": (c_void_p, [c_char_p, c_uint64, c_int, c_size_t, c_int, c_int, c_int, c_int]),
    "close": (None, [c_void_p]),
    "describe": (c_char_p, [c_void_p]),
    "predict": (c_char_p, [c_void_p, c_size_t, c_char_p]),
    "make_plan": (c_void_p, [c_void_p, c_size_t, c_uint64, c_uint64]),
    "describe_plan": (c_char_p, [c_void_p]),
    "run": (c_int, [c_void_p, c_void_p]),
    "free_plan": (None, [c_void_p]),
    "copy": (c_int, [c_void_p, c_uint64, c_uint64, c_uint64, c_void_p]),
    "allocate": (c_uint64, [c_void_p, c_uint64]),
    "free": (None, [c_void_p, c_uint64]),
    "write": (c_int, [c_void_p, c_uint64, c_char_p, c_uint64]),
    "read": (c_int, [c_void_p, c_void_p, c_uint64, c_uint64]),
    "jit": (c_char_p, [c_void_p, c_uint]),
}


class TmajitError(RuntimeError):
    """An error of the library; `code` is the name of its tmajit::ErrorCode."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def find(given=None):
    """The library's path: `given`, $TMAJIT_MOVEMENT_LIBRARY, or the build in the source tree."""
    if given or os.environ.get("TMAJIT_MOVEMENT_LIBRARY"):
        return Path(given or os.environ["TMAJIT_MOVEMENT_LIBRARY"])
    root = Path(__file__).resolve().parents[4]
    for folder in (root / "bin", root / "build" / "release" / "bin"):
        if (folder / NAME).exists():
            return folder / NAME
    raise TmajitError("unavailable", f"no {NAME} found: build it, or say where it is with --library")


class Library:
    """The functions of one libtmajit_movement.so."""

    def __init__(self, path):
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise TmajitError("unavailable", f"{path} cannot be loaded: {error}") from error
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._library, f"tmajit_movement_{name}", None)
            if function is None:  # --before may load an older build without this function
                continue
            function.restype, function.argtypes = result, arguments
            if result and name not in ("error", "error_code"):
                function.errcheck = self._checked
            setattr(self, f"_{name}", function)

    @classmethod
    def of_other_build(cls, path):
        """Loads another build's library with another soname of libtmajit.so: otherwise the loader would reuse this
        build's libtmajit.so."""
        with tempfile.TemporaryDirectory() as folder:
            for file in (*Path(path).resolve().parent.glob("libtmajit.so.?.?"), Path(path)):
                renamed = Path(folder, file.name)
                renamed.write_bytes(file.read_bytes().replace(b"libtmajit.so.0.", b"libtmajit.so._."))
                ctypes.CDLL(str(renamed))
            return cls(renamed)

    def _checked(self, answer, function, _arguments):
        """The result of a function, with JSON decoded. Raises TmajitError if the result means that the call failed."""
        if answer is None or answer == (0 if function.restype is c_uint64 else -1):
            raise TmajitError(self._error_code().decode(), self._error().decode())
        return json.loads(answer) if function.restype is c_char_p else answer

    def cases(self, seed, tiny=False, random=0, views=False, reductions=False, scans=False, stencils=False):
        return self._cases(seed, int(tiny), random, int(views), int(reductions), int(scans), int(stencils))

    def open(self, device="auto", seed=1, tiny=False, random=0, views=False, reductions=False, scans=False,
             stencils=False, improve=False):
        which = (int(views), int(reductions), int(scans), int(stencils))
        opened = self._open_improving if improve else self._open
        return Session(self, opened(device.encode(), seed, int(tiny), random, *which))


class Session:
    """A device, a runtime and a list of cases."""

    def __init__(self, library, handle):
        self.library = library
        self.handle = handle

    def close(self):
        if self.handle:
            self.library._close(self.handle)
            self.handle = None

    def describe(self):
        return self.library._describe(self.handle)

    def predict(self, index, chip, costs):
        """[{"choice", "family", "default", "allowed", "us"}] for every kernel that could do a case, on the chip of a report
        with the costs {name: number}."""
        return self.library._predict(self.handle, index, json.dumps({**chip, "costs": costs}).encode())

    def plan(self, index, destination, source):
        return Plan(self.library, self.library._make_plan(self.handle, index, destination, source))

    def copy(self, destination, source, count, stream):
        self.library._copy(self.handle, destination, source, count, stream)

    def jit(self, rounds):
        return self.library._jit(self.handle, rounds)

    # Device memory for tests; peers.py uses PyTorch's buffers.
    def allocate(self, count):
        return self.library._allocate(self.handle, count)

    def free(self, address):
        self.library._free(self.handle, address)

    def write(self, address, data):
        self.library._write(self.handle, address, bytes(data), len(data))

    def read(self, address, count):
        data = ctypes.create_string_buffer(count)
        self.library._read(self.handle, data, address, count)
        return data.raw


class Plan:
    """A planned move. Call free() before its session is closed."""

    def __init__(self, library, handle):
        self.library = library
        self.handle = handle

    def __call__(self, stream):
        self.library._run(self.handle, stream)

    def describe(self):
        return self.library._describe_plan(self.handle)

    def free(self):
        if self.handle:
            self.library._free_plan(self.handle)
            self.handle = None
