"""Writes the files that the commands of cases.txt read."""

import pathlib
import struct

KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count)
{
  ret;
}
.visible .entry blocked(.param .align 64 .b8 map[128])
.reqntid 64, 1, 1
{
  ret;
}
"""


def npy(descr: str, shape: tuple[int, ...], data: bytes) -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(count: int) -> bytes:
    return struct.pack(f"<{count}f", *range(count))


def write(folder: pathlib.Path) -> None:
    arrays = {"a": ("<f4", (4, 4), floats(16)), "b": ("<f4", (3, 5), floats(15)), "one": ("<f4", (1,), floats(1)),
              "i": ("<i4", (4, 4), bytes(64)), "bool": ("|b1", (4,), bytes(4)), "v": ("|V2", (4,), bytes(8)),
              "deep": ("|u1", (1,) * 9, b"1"), "complex": ("<c8", (2,), bytes(16)), "short": ("<f4", (4, 4), floats(3)),
              "empty": ("<f4", (0, 3), b"")}
    for name, (descr, shape, data) in arrays.items():
        (folder / f"{name}.npy").write_bytes(npy(descr, shape, data))
    (folder / "text.npy").write_text("no array")
    (folder / "kernel.ptx").write_text(KERNEL)
    (folder / "broken.ptx").write_text(KERNEL.replace("ret;", "return"))
    (folder / "none.ptx").write_text(KERNEL[: KERNEL.index(".visible")])
    (folder / "own.cu").write_text('extern "C" __global__ void own(float* x) { x[0] = missing; }\n')
    (folder / "two.cu").write_text('extern "C" __global__ void a() {}\nextern "C" __global__ void b() {}\n')
    (folder / "good.cu").write_text('extern "C" __global__ void own(float* x) { x[0] = n; }\n')
    (folder / "host.cu").write_text("#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    (folder / "bad.json").write_text("{")
    (folder / "choices.json").write_text('{"tmajit": "0.1", "class_version": "x", "choice_version": 1, "choices": []}')
    (folder / "list.json").write_text('{"tmajit": "0.1", "class_version": 1, "choice_version": 1, "choices": 3}')
    (folder / "own.json").write_text('{"grid": 1, "block": 32, "buffers": {"x": {"dtype": "f32", "shape": [4]}}, '
                                     '"parameters": [{"buffer": "x"}]}')
