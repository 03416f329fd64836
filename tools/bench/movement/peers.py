#!/usr/bin/env python3
"""Compares tmajit's moves with PyTorch, JAX, CuPy, Triton and cuTENSOR: same cases, same buffers, alternating rounds.

The cases and tmajit's plans come from libtmajit_movement.so, the buffers from PyTorch. Every result is
checked before it is timed. GB/s count bytes read plus bytes written, each element once. docs/movement.md
explains the options and the measurement.
"""

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

# A case has one kernel, for which starting PyTorch's pool of compiler processes takes longer than it saves.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from peer_comparison import chart, contest, distribution, distribution_chart, earlier, results, run, table, targets, warm
from peer_comparison.library import Library, TmajitError, find

# {name of the peer: (module, function in it that makes an Entry, package to which the module's VERSION belongs)}.
PEERS = {
    "eager": ("torch_moves", "eager", "torch"),
    "compile": ("torch_moves", "compiled", "torch"),
    "jax": ("jax_moves", "jax_entry", "jax"),
    "cupy": ("cupy_moves", "cupy_entry", "cupy"),
    "triton": ("triton_moves", "triton_entry", "triton"),
    "cutensor": ("cutensor_moves", "plain_entry", "cuTENSOR"),
    "cutensor-jit": ("cutensor_moves", "compiling_entry", "cuTENSOR"),
}
EXAMPLES = """examples:
  peers.py --json movement.json --svg movement.svg
  peers.py --quick --peers eager,compile
  peers.py --only '->(3,2,1,0)' --only odd --peers compile,triton
  peers.py --random 200 --part 1/3 --resume --json random.json --peers compile,jax,triton,cutensor,cutensor-jit
  peers.py --random 40 --peers none --before old/libtmajit_movement.so
  peers.py --from movement.json --targets
  peers.py --from movement.json --peers eager,compile,jax"""


def peer_list(text):
    names = [name for name in text.split(",") if name and name != "none"]
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"'{name}' is not among {', '.join(PEERS)}, none")
    return names


def positive(kind):
    def convert(text):
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"'{text}' is not positive")
        return value

    convert.__name__ = kind.__name__
    return convert


def parse(arguments):
    parser = argparse.ArgumentParser(prog="peers.py", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--library", metavar="FILE", help="libtmajit_movement.so [$TMAJIT_MOVEMENT_LIBRARY, or the build's]")
    add("--before", metavar="FILE", help="another build's libtmajit_movement.so, whose moves are a peer, too")
    add("--peers", type=peer_list, default=list(PEERS), metavar="NAMES",
        help=f"peers to measure or show, of {','.join(PEERS)}, or none [all]")
    add("--only", action="append", default=[], metavar="TEXT",
        help="cases whose label contains this; can be repeated")
    add("--list", action="store_true", help="print the labels of the cases and stop")
    add("--quick", action="store_true", help="fewer cases and rounds")
    add("--rounds", type=positive(int), help="measurements of each contestant [15; 7 with --quick and --random]")
    add("--limit", type=positive(float), metavar="SECONDS",
        help="begin no case after this time, which includes compiling ahead")
    add("--seed", type=int, default=1, help="seed of the data and of the random cases [1]")
    add("--random", type=positive(int), default=0, metavar="N",
        help="instead of the list, N random permutations of each of f32, bf16 and u8, by --seed")
    add("--random-views", action="store_true",
        help="with --random: N pads, slices, flips, broadcasts, casts and maps each instead")
    add("--reductions", action="store_true",
        help="instead of the list, reductions; with --random N, sums of random shapes over random axes")
    add("--scans", action="store_true",
        help="instead of the list, cumulative sums; with --random N, of random shapes along random axes")
    add("--stencils", action="store_true",
        help="instead of the list, its stencils; with --random N, stencils of random 3D shapes")
    add("--improve", action="store_true",
        help="also measure tmajit with RuntimeOptions::improve (8 candidates), after its trials")
    add("--jit", action="store_true", help="also measure the cost of planning")
    add("--json", metavar="FILE", help="also write all results to this file, which is updated during the run")
    add("--resume", action="store_true", help="continue the run that wrote --json FILE, if that file exists")
    add("--part", type=part, metavar="I/N", help="only one of N parts of the cases: every N-th, beginning with the I-th")
    add("--svg", metavar="FILE", help="also draw the table of peers, or the distribution of random cases")
    add("--warm", type=int, metavar="N",
        help="processes that compile the peers' kernels ahead [as many as save time]")
    add("--no-graph-cache", action="store_true",
        help="torch.compile reuses only Triton's kernels made ahead, and repeats its other work")
    add("--warm-part", help=argparse.SUPPRESS)
    add("--targets", action="store_true", help="exit with 1 if a target is missed")
    add("--from", dest="earlier", metavar="FILE", help="measure nothing: show an earlier --json FILE")
    options = parser.parse_args(arguments)
    few = options.quick or options.random
    options.rounds = options.rounds or (contest.QUICK_ROUNDS if few else contest.ROUNDS)
    if options.random_views and not options.random:
        parser.error("--random-views needs --random N")
    if options.resume and not options.json:
        parser.error("--resume needs the --json FILE of the run to continue")
    return options


def part(text):
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I of 1 to N")
    return int(number), int(parts)


def write(path, text):
    """Replaces the file atomically."""
    partial = Path(f"{path}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def require_writable(path):
    """Raises OSError if write() would, to fail before a run instead of after it."""
    partial = Path(f"{path}.{os.getpid()}.partial")
    partial.touch()
    partial.unlink()
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a directory")


def load_peers(names):
    """({name: maker}, {package: version}, {name: why it is absent})."""
    makers, versions, absent = {}, {}, {}
    for name in names:
        file, function, package = PEERS[name]
        try:
            module = importlib.import_module(f"peer_comparison.{file}")
            makers[name], versions[package] = getattr(module, function), module.VERSION
        except Exception as error:  # a broken installation may raise anything
            absent[name] = contest.describe(error)
    return makers, versions, absent


def show(report, options):
    """Adds targets and distribution to the report, and writes the files. Returns whether every target was met."""
    report["targets"], _ = targets.of(report)
    if distribution.is_random(report):
        report["distribution"] = distribution.of(report)
    if options.json:
        write(options.json, json.dumps(report, indent=1) + "\n")
    if options.svg:
        try:
            drawn = distribution_chart if distribution.is_random(report) else chart
            write(options.svg, drawn.svg(report))
        except ValueError as error:
            print(f"peers.py: no chart: {error}", file=sys.stderr)
    return all(target["met"] for target in report["targets"])


def failed(report):
    """Whether tmajit or the driver's copy failed in any case."""
    return any(name in ("all", results.OURS, results.DRIVER)
               for result in report["results"] for name in result.get("errors", {}))


def list_arguments(options):
    """The options that select the list of cases, as arguments of Library's methods."""
    return {"random": options.random, "views": options.random_views, "reductions": options.reductions,
            "scans": options.scans, "stencils": options.stencils}


def choose(library, options):
    """[(index, case)] of the cases of this run."""
    chosen = run.select(library.cases(options.seed, **list_arguments(options)), options.only, options.quick)
    return earlier.part_of(chosen, *options.part) if options.part else chosen


def load(options):
    """The result of load_peers(), after torch.compile has been configured."""
    loaded = load_peers(options.peers)
    if "compile" in loaded[0]:
        from peer_comparison import torch_moves
        torch_moves.set_compiler(keep_graphs=not options.no_graph_cache)
    return loaded


def warm_part(options, chosen, machine):
    """The work of one process of compile_ahead()."""
    number, parts = map(int, options.warm_part.split("/"))
    options.peers = warm.peers_to_warm(options.peers)
    makers, _, _ = load(options)
    warm.compile_part(machine, warm.cases_to_compile(chosen, options.peers)[number::parts], makers)
    if "cutensor-jit" in makers:
        from peer_comparison import cutensor_moves
        cutensor_moves.write_kernels(number)
    return 0


def compile_ahead(options, cases, arguments, free_bytes):
    """Compiles the peers' kernels of `cases` in several processes, if that saves time."""
    count = warm.processes_for(cases, free_bytes) if options.warm is None else options.warm
    if count < 2 or not cases:
        return
    run.progress(f"{count} processes compile {len(cases)} cases for {', '.join(warm.peers_to_warm(options.peers))}")
    succeeded = warm.run(__file__, arguments, count, warm.patience(len(cases), count, options.limit))
    run.progress("")
    print(f"{succeeded} of {count} processes made the peers' kernels ahead in "
          f"{time.monotonic() - options.start:.0f} s", flush=True)


class PeriodicWriter:
    """Writes the report at most every ten seconds, because each time the whole report is written."""

    def __init__(self, path):
        self._path, self._last = path, time.monotonic()

    def __call__(self, report):
        if self._path and time.monotonic() - self._last > 10:
            write(self._path, json.dumps(report) + "\n")
            self._last = time.monotonic()


def measure(options, library, arguments):
    try:
        from peer_comparison import torch_machine
        why = torch_machine.why_not()
    except ImportError as error:
        why = f"PyTorch, which the buffers come from, cannot be imported: {error}"
    if why:
        print(f"Not run without a Hopper GPU: {why}. tmajit-movement needs no PyTorch.")
        return 0
    options.start = time.monotonic()
    old = earlier.read(options.json) if options.resume else None
    chosen = earlier.missing(choose(library, options), old)
    if options.warm_part:
        return warm_part(options, chosen, torch_machine.TorchMachine())
    compile_ahead(options, warm.cases_to_compile(chosen, options.peers), arguments, torch_machine.free_bytes())
    machine = torch_machine.TorchMachine()
    device = f"gpu:{torch_machine.ordinal()}"
    session = library.open(device, options.seed, **list_arguments(options))
    trying = library.open(device, options.seed, improve=True, **list_arguments(options)) if options.improve else None
    makers, versions, absent = load(options)
    if options.before:
        other = Library.of_other_build(options.before)
        makers[results.BEFORE] = run.before(other.open(device, options.seed, **list_arguments(options)), machine,
                                            other.cases(options.seed, **list_arguments(options)))
    description = session.describe()
    report = {
        "device": description["device"],
        "versions": {"tmajit": description["tmajit"], "NVRTC": description["nvrtc"], **versions},
        "peers": list(makers),
        "absent": absent,
        **{name: getattr(options, name) for name in ("rounds", "seed", "random", "reductions", "scans", "stencils")},
        "views": options.random_views,
        "results": [],
    }
    if old:
        try:
            earlier.continue_run(old, report)
        except ValueError as error:
            raise TmajitError("invalid_argument", f"--resume: {options.json}: {error}") from error
    print(table.setting(report), flush=True)
    try:
        if options.jit:
            try:
                report["jit"] = session.jit(min(options.rounds, 7))
                print("\n" + table.planning(report), flush=True)
            except TmajitError as error:
                print(f"peers.py: the cost of planning: {error}", file=sys.stderr)
                absent["cost of planning"] = str(error)
        print("\n" + table.header(report), flush=True)
        write_sometimes = PeriodicWriter(options.json)

        def on_result(result):
            run.progress("")
            print(table.row(report, result), flush=True)
            for name, why in result.get("errors", {}).items():
                print(f"  {name}: {why}", file=sys.stderr, flush=True)
            write_sometimes(report)

        run.run(session, machine, chosen, makers, options, report, on_result, trying)
    finally:
        run.progress("")
        met = show(report, options)
        print("\n" + table.summary(report))
    return 1 if failed(report) or (options.targets and not met) else 0


def main(arguments):
    options = parse(arguments)
    if options.earlier:
        report = results.among(json.loads(Path(options.earlier).read_text(encoding="utf-8")), options.peers)
        print(table.whole(report))
        met = show(report, options)
        return 1 if options.targets and not met else 0
    library = Library(find(options.library))
    if options.list:
        for _, case in choose(library, options):
            print(case["label"])
        return 0
    for path in filter(None, (options.json, options.svg)):
        require_writable(path)
    return measure(options, library, arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (TmajitError, OSError) as error:
        print(f"peers.py: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
