#!/usr/bin/env python3
"""gdb must show the values of sample.cpp as the printers of tools/gdb print them.

    printers_test.py PRINTERS PROGRAM

Exits with 77 if there is no gdb with Python, or if gdb may not trace a program here.
"""

import shutil
import subprocess
import sys

SHOWN = {
    "dims": "{8, 512, 16}",
    "none": "{}",
    "source": "f32 (512, 1024) at 0x1000",
    "turned": "f32 (1024, 512) strides (1, 1024)",
    "shape": "grid 4x2x1, block 128x1x1, cluster 2x1x1, 1024 bytes shared",
    "choice": "direct_transpose tile=32x32 threads=64 ",
    "kernel_plan": "direct_transpose: grid 512x1x1, block 64x1x1",
    "nothing": "Plan of 0 kernels",
}


def gdb(*commands: str) -> str:
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    for command in commands:
        words += ["-ex", command]
    return subprocess.run([*words, "--args", sys.argv[2]], capture_output=True, text=True, check=False, timeout=120).stdout


def main() -> int:
    if shutil.which("gdb") is None or "python works" not in gdb("python print('python works')"):
        print("SKIP: no gdb with Python")
        return 77
    said = gdb(f"source {sys.argv[1]}", "break stop", "run", "finish",
               *[f'python print("{name} = " + str(gdb.parse_and_eval("{name}").format_string()))' for name in SHOWN])
    if "stop ()" not in said:
        print(f"SKIP: gdb cannot run a program here\n{said}")
        return 77
    lines = dict(line.split(" = ", 1) for line in said.splitlines() if " = " in line)
    wrong = [f"{name}: {lines.get(name)}, not {text}" for name, text in SHOWN.items() if not lines.get(name, "").startswith(text)]
    print("\n".join(wrong) if wrong else "all values are shown", said if wrong else "", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
