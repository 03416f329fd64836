"""Makes the demo's input matrix, and checks its result. Needs no NumPy: a .npy file is a short header and the elements.

    demo_data.py make FILE.npy ROWS COLUMNS
    demo_data.py check INPUT.npy OUTPUT.npy
"""

import array
import ast
import math
import pathlib
import random
import struct
import sys

SAMPLES = 10_000  # random elements that are checked


def write_matrix(path: pathlib.Path, rows: int, columns: int) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"  # after 10 bytes of magic; elements begin at a multiple of 64
    generator = random.Random(1)
    # The period of the values is a prime number, so that no two rows and no two tiles are equal.
    period = array.array("f", (generator.uniform(-8, 8) for _ in range(65_521)))
    total = rows * columns
    block = period * 64
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii"))
        for done in range(0, total, len(block)):
            file.write(memoryview(block)[: min(len(block), total - done)])
    partial.replace(path)


def open_matrix(path: pathlib.Path):
    file = open(path, "rb")
    magic = file.read(10)
    if magic[:8] != b"\x93NUMPY\x01\x00":
        sys.exit(f"{path} is not a .npy file of version 1.0")
    header = ast.literal_eval(file.read(struct.unpack("<H", magic[8:])[0]).decode("ascii"))
    if header["descr"] != "<f4" or header["fortran_order"]:
        sys.exit(f"{path} holds {header}, not a C-order matrix of f32")
    return file, file.tell(), header["shape"]


def check(before: pathlib.Path, after: pathlib.Path) -> None:
    """Compares random elements, and the first and the last element, with silu in double precision."""
    input_file, input_start, shape = open_matrix(before)
    output_file, output_start, output_shape = open_matrix(after)
    if shape != output_shape:
        sys.exit(f"the result has shape {output_shape} instead of {shape}")
    total = math.prod(shape)
    generator = random.Random()
    worst = 0.0
    for index in [generator.randrange(total) for _ in range(SAMPLES)] + [0, total - 1]:
        input_file.seek(input_start + 4 * index)
        output_file.seek(output_start + 4 * index)
        (x,) = struct.unpack("<f", input_file.read(4))
        (y,) = struct.unpack("<f", output_file.read(4))
        want = x / (1 + math.exp(-x))
        worst = max(worst, abs(y - want) / max(abs(want), 1e-30))
    # The error of expf, an addition and a division in f32 is a few units in the last place of 24 bits.
    if not worst <= 1e-6:
        sys.exit(f"a result is off by {worst:.1e} of its value")
    print(f"{SAMPLES + 2} elements checked against double precision: largest relative error {worst:.1e}")


def main() -> None:
    match sys.argv[1:]:
        case ["make", path, rows, columns]:
            write_matrix(pathlib.Path(path), int(rows), int(columns))
        case ["check", before, after]:
            check(pathlib.Path(before), pathlib.Path(after))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
