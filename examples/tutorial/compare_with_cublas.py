"""Compares the tutorial's matrix product with torch.matmul (cuBLAS), alternating on one GPU: TFLOP/s and their ratio.

    python3 examples/tutorial/compare_with_cublas.py PROGRAM [--size 4096,4096,4096 …] [options of PROGRAM]

PROGRAM is build/release/bin/examples/matrix_product.
"""

import argparse
import re
import statistics
import subprocess
import sys

import torch

BACK_TO_BACK = 10  # products between two events; the program times as many in a graph


def cublas(m, n, k, repeats):
    """Median time of torch.matmul for A · Bᵀ, in milliseconds; random elements from −1 to 1, as in the program."""
    a, b = ((torch.rand(rows, k, device="cuda") * 2 - 1).to(torch.bfloat16) for rows in (m, n))
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    for _ in range(3):
        torch.matmul(a, b.T, out=c)
    times = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(BACK_TO_BACK):
            torch.matmul(a, b.T, out=c)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / BACK_TO_BACK)
    return statistics.median(times)


def ours(program, size, repeats, options):
    """Median time of the tutorial's program, in milliseconds; it checks a sample of the results."""
    command = [program, "--device", "gpu", "--size", size, "--repeat", str(repeats), *options]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return float(re.search(r"median ([\d.]+) us", text).group(1)) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--size", action="append", help="m,n,k; can be repeated [4096 and 8192 cubed]")
    parser.add_argument("--repeat", type=int, default=20, help="measurements in a turn [20]")
    parser.add_argument("--turns", type=int, default=3)
    arguments, options = parser.parse_known_args()

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(f"{'m,n,k':>18} {'ours':>8} {'cuBLAS':>8}  TFLOP/s")
    for size in arguments.size or ["4096,4096,4096", "8192,8192,8192"]:
        m, n, k = (int(number) for number in size.split(","))
        turns = [(ours(arguments.program, size, arguments.repeat, options), cublas(m, n, k, arguments.repeat))
                 for _ in range(arguments.turns)]
        our_time, cublas_time = (statistics.median(times) for times in zip(*turns))
        tflops = [2e-9 * m * n * k / milliseconds for milliseconds in (our_time, cublas_time)]
        print(f"{size:>18} {tflops[0]:8.1f} {tflops[1]:8.1f}  ratio {cublas_time / our_time:.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
