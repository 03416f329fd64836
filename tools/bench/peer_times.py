"""Times of other libraries beside tmajit's, for the benchmarks written in Python.

A script calls start(), which finds the peers, and Contest.measure() for each case. Every result of a peer is
checked before it is timed. Contest.finish() prints the distributions of the times.
"""

from __future__ import annotations

import argparse
import importlib
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any

try:
    import torch

    import tmajit
except ImportError as error:  # require_gpu() prints it
    torch = tmajit = None
    MISSING = str(error)
else:
    MISSING = ""

COPY = "copy"
BEST = "best peer"
# The modules that each peer is called by. A peer whose modules cannot be imported is not measured.
MODULES = {
    "eager": ("torch",),
    "compile": ("torch._dynamo",),
    "Triton": ("triton",),
    "CuPy": ("cupy",),
    "Liger": ("liger_kernel.ops.rms_norm", "liger_kernel.ops.softmax"),
    "QuACK": ("quack.rmsnorm", "quack.softmax"),
    "FlashInfer": ("flashinfer.norm", "flashinfer.page", "flashinfer.sampling", "flashinfer.topk"),
    "vLLM": ("vllm._C", "vllm._C_stable_libtorch", "vllm._moe_C"),
    "TransformerEngine": ("transformer_engine_calls",),
}


class NotApplicableError(Exception):
    """A peer has no kernel for a case."""


def require_gpu() -> None:
    """Ends the program with a message if there is no Hopper GPU, PyTorch or tmajit."""
    why = MISSING
    if not why:
        from movement.peer_comparison import torch_machine

        why = torch_machine.why_not()
    if why:
        print(f"Not run without a Hopper GPU, PyTorch and tmajit: {why}.")
        sys.exit(0)


def found(names: Iterable[str]) -> list[str]:
    """The peers whose modules can be imported. Prints the missing peers with the reasons."""
    result = []
    for name in names:
        try:
            for module in MODULES[name]:
                importlib.import_module(module)
            result.append(name)
        except Exception as error:  # a broken installation may raise anything
            print(f"{name} is not measured: {first_line(error)}")
    return result


def first_line(error: object) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def start(
    description: str | None, names: Iterable[str], cases: int, add_options: Callable = lambda parser: None
) -> tuple[argparse.Namespace, random.Random, Contest]:
    """The options, the source of random numbers and the contest of a script with peers of these names."""
    names = list(names)
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=cases, help=f"number of random cases ({cases})")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
    parser.add_argument(
        "--peers", nargs="*", choices=names, default=names, help="default: all that can be imported"
    )
    add_options(parser)
    options = parser.parse_args()
    require_gpu()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, seed {options.seed}")
    contest = Contest(found(options.peers))
    print("time in us, and per cent of the speed of a copy that reads and writes as many bytes")
    return options, random.Random(options.seed), contest


def compiled(function: Callable) -> Callable:
    """The function as torch.compile makes it for tensors of one shape."""
    torch._dynamo.reset()
    return torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs")


def copy_us(count: int) -> float:
    """The time of the driver's copy that reads and writes `count` bytes in all."""
    from device_time import device_us

    source = torch.empty(max(1, count // 2), dtype=torch.uint8, device="cuda")
    to = torch.empty_like(source)
    return device_us(lambda: to.copy_(source))


def difference(result: Any, wanted: Any, relative: float, least: float) -> str | None:
    """Reports the element whose error exceeds `relative` of the value plus `least` by most; None if no error does."""
    if result.shape != wanted.shape:
        return f"its shape is {tuple(result.shape)}, not {tuple(wanted.shape)}"
    wide = torch.float64 if torch.float64 in (result.dtype, wanted.dtype) else torch.float32
    value, exact = result.to(wide), wanted.to(wide)
    excess = (value - exact).abs() - relative * exact.abs() - least
    if not bool((excess > 0).any() | excess.isnan().any()):
        return None
    where = int(excess.nan_to_num(nan=math.inf).flatten().argmax())
    return f"{value.flatten()[where].item():.6g} instead of {exact.flatten()[where].item():.6g}"


def differing_bits(result: Any, wanted: Any) -> str | None:
    """Says how many elements differ in their bits, or that the shape or type differs; None if nothing does."""
    if result.shape != wanted.shape or result.dtype != wanted.dtype:
        return f"it is {tuple(result.shape)} {result.dtype}, not {tuple(wanted.shape)} {wanted.dtype}"
    width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[result.element_size()]
    unequal = result.contiguous().view(width) != wanted.contiguous().view(width)
    count = int(unequal.sum())
    return f"{count} elements differ" if count else None


def found_wrong(check: Callable[[Any], str | None], results: Any) -> str | None:
    """What is wrong about the results. Results that cannot be checked, such as too few of them, are wrong, too."""
    try:
        return check(results)
    except Exception as error:
        return first_line(error)


class Contest:
    """Cases, each measured with tmajit, the copy and the peers."""

    def __init__(self, peers: list[str]):
        self.peers = peers
        # For each kind its cases, each with the time of every contestant, divided by tmajit's.
        self.ratios: dict[str, list[dict[str, float]]] = {}
        self.refusals: dict[str, list[str]] = {}
        self.errors: list[str] = []

    def measure(
        self,
        kind: str,
        case: str,
        moved: int,
        ours: Callable,
        calls: dict[str, Callable],
        check: Callable[[Any], str | None],
        check_peer: Callable[[Any], str | None] | None = None,
    ) -> None:
        """Measures a case that moves `moved` bytes.

        calls: for a peer a function that prepares the case and returns the call to time.
        check: takes the results of a call, and says what is wrong about them. check_peer is for peers.
        """
        from device_time import device_us

        if wrong := check(ours()):
            sys.exit(f"{kind}: {case}: tmajit is wrong: {wrong}")
        time = device_us(ours)
        copy = copy_us(moved)
        times = {COPY: copy}
        for peer in self.peers:
            if peer not in calls:
                continue
            call = results = None  # frees the tensors of the last peer
            try:
                call = calls[peer]()
                results = call()
            except Exception as error:
                self.refusals.setdefault(peer, []).append(f"{kind}: {case}: {first_line(error)}")
                continue
            if wrong := found_wrong(check_peer or check, results):
                self.errors.append(f"{peer}, {kind}: {case}: {wrong}")
                print(f"  {self.errors[-1]}", flush=True)
            else:
                times[peer] = device_us(call)
        measured = {peer: times[peer] for peer in self.peers if peer in times}
        texts = (
            f"{name} {us:.1f}, {100 * copy / us:.0f} %" for name, us in {"tmajit": time, **measured}.items()
        )
        print(f"{kind}: {case}: {'; '.join(texts)}", flush=True)
        if measured:
            times[BEST] = min(measured.values())
        self.ratios.setdefault(kind, []).append({name: value / time for name, value in times.items()})

    def finish(self) -> None:
        """Prints the distributions. Ends the program with 1 if a peer computed something else."""
        print("\ntimes of the copy and of peers, divided by tmajit's")
        for kind, cases in self.ratios.items():
            for name in [COPY, *self.peers, BEST]:
                if ratios := [case[name] for case in cases if name in case]:
                    print(f"{kind}, {name}: {distribution(ratios)}")
        if len(self.ratios) > 1:
            every = [case for cases in self.ratios.values() for case in cases]
            for name in [COPY, *self.peers, BEST]:
                if ratios := [case[name] for case in every if name in case]:
                    print(f"all, {name}: {distribution(ratios)}")
        for peer, reasons in self.refusals.items():
            print(f"{peer} refused {len(reasons)} cases or has no kernel for them, first {reasons[0]}")
        if self.errors:
            sys.exit(f"peers computed something else in {len(self.errors)} cases, first {self.errors[0]}")


def distribution(ratios: list[float]) -> str:
    """Extremes, first and ninth decile, median and geometric mean of ratios, and the share of at least 0.97."""
    ordered = sorted(ratios)
    tenth, median, ninetieth = (ordered[round(part * (len(ordered) - 1))] for part in (0.1, 0.5, 0.9))
    mean = math.exp(statistics.fmean(map(math.log, ordered)))
    share = 100 * sum(ratio >= 0.97 for ratio in ordered) // len(ordered)
    return (
        f"{len(ordered)} cases, least {ordered[0]:.2f}, tenth {tenth:.2f}, median {median:.2f}, ninetieth "
        f"{ninetieth:.2f}, greatest {ordered[-1]:.2f}, mean {mean:.2f}, at least 0.97 in {share} %"
    )
