#!/usr/bin/env python3
"""tmajit's moves beside PyTorch, JAX, CuPy and Triton: same cases, same buffers, alternating rounds.

The cases and tmajit's plans come from libtmajit_movement.so, the buffers from PyTorch. Every result is
checked before it is timed. GB/s count bytes read plus bytes written, each element once. docs/movement.md
has the rest.
"""

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

# One kernel a case: PyTorch's pool of compiling processes costs more than it saves.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from beside import chart, contest, results, run, table, warm
from beside.library import Library, TmajitError, find

# Peer: (module, the function in it that makes an Entry, the package whose version is told).
PEERS = {
    "eager": ("torch_moves", "eager", "torch"),
    "compile": ("torch_moves", "compiled", "torch"),
    "jax": ("jax_moves", "jax_entry", "jax"),
    "cupy": ("cupy_moves", "cupy_entry", "cupy"),
    "triton": ("triton_moves", "triton_entry", "triton"),
}
EXAMPLES = """examples:
  peers.py --json movement.json --svg movement.svg
  peers.py --quick --peers eager,compile
  peers.py --only '->(3,2,1,0)' --only odd --peers compile,triton
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
    add("--peers", type=peer_list, default=list(PEERS), metavar="NAMES",
        help="whom to measure or show, of eager,compile,jax,cupy,triton, or none [all]")
    add("--only", action="append", default=[], metavar="TEXT",
        help="cases whose label contains this; may be given again")
    add("--list", action="store_true", help="print the labels of the cases and stop")
    add("--quick", action="store_true", help="fewer cases and rounds")
    add("--rounds", type=positive(int), help="measurements of each contestant [15; 7 with --quick]")
    add("--limit", type=positive(float), metavar="SECONDS", help="begin no case after that long")
    add("--seed", type=int, default=1, help="of the data and of the random permutations [1]")
    add("--random", type=positive(int), default=0, metavar="N",
        help="instead of the list, N random permutations of each of f32, bf16 and u8, by --seed")
    add("--jit", action="store_true", help="also measure what planning costs")
    add("--json", metavar="FILE", help="also write everything to this file, brought up to date all along")
    add("--svg", metavar="FILE", help="also draw the table of peers")
    add("--warm", type=int, metavar="N",
        help="processes that make torch.compile's kernels ahead [as many as are worth it]")
    add("--warm-part", help=argparse.SUPPRESS)
    add("--targets", action="store_true", help="exit with 1 if a target is missed")
    add("--from", dest="earlier", metavar="FILE", help="measure nothing: show an earlier --json FILE")
    options = parser.parse_args(arguments)
    options.rounds = options.rounds or (contest.QUICK_ROUNDS if options.quick else contest.ROUNDS)
    return options


def write(path, text):
    """Whole or not at all."""
    partial = Path(f"{path}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def require_writable(path):
    """Raises OSError if write() would: better known before a run than after it."""
    partial = Path(f"{path}.{os.getpid()}.partial")
    partial.touch()
    partial.unlink()
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a directory")


def load_peers(names):
    """({name: maker}, {package: version}, {name: why it is absent})."""
    makers, versions, absent = {}, {}, {}
    for name in names:
        module, function, package = PEERS[name]
        try:
            makers[name] = getattr(importlib.import_module(f"beside.{module}"), function)
            versions[package] = importlib.import_module(package).__version__
        except Exception as error:  # whatever a package does when it is not whole
            absent[name] = contest.describe(error)
    return makers, versions, absent


def show(report, options):
    """Means and verdict. Returns whether every target was met."""
    found, _ = results.targets(report)
    report["targets"] = found
    if options.json:
        write(options.json, json.dumps(report, indent=1) + "\n")
    if options.svg:
        try:
            write(options.svg, chart.svg(report))
        except ValueError as error:
            print(f"peers.py: no chart: {error}", file=sys.stderr)
    return all(target["met"] for target in found)


def failed(report):
    """Whether tmajit itself failed anywhere."""
    return any(name in ("all", results.OURS, results.DRIVER)
               for result in report["results"] for name in result.get("errors", {}))


def measure(options, library, arguments):
    try:
        from beside import torch_machine
        why = torch_machine.why_not()
    except ImportError as error:
        why = f"PyTorch, which the buffers come from, cannot be imported: {error}"
    if why:
        print(f"Not run without a Hopper GPU: {why}. tmajit-movement needs no PyTorch.")
        return 0
    chosen = run.select(library.cases(options.seed, random=options.random), options.only, options.quick)
    to_compile = warm.cases_to_compile(chosen, options.peers)
    if options.warm_part:
        part, parts = map(int, options.warm_part.split("/"))
        warm.compile_part(torch_machine.TorchMachine(), to_compile[part::parts], load_peers(["compile"])[0]["compile"])
        return 0
    start = time.monotonic()
    count = warm.processes_for(to_compile) if options.warm is None else options.warm
    if count > 1:
        run.progress(f"{count} processes make torch.compile's kernels of {len(to_compile)} cases")
        done = warm.run(__file__, arguments, count)
        run.progress("")
        print(f"{done} of {count} processes made torch.compile's kernels ahead in "
              f"{time.monotonic() - start:.0f} s", flush=True)
    machine = torch_machine.TorchMachine()
    session = library.open(f"gpu:{torch_machine.ordinal()}", options.seed, random=options.random)
    makers, versions, absent = load_peers(options.peers)
    told = session.describe()
    report = {
        "device": told["device"],
        "versions": {"tmajit": told["tmajit"], "NVRTC": told["nvrtc"], **versions},
        "peers": list(makers),
        "absent": absent,
        "rounds": options.rounds,
        "seed": options.seed,
        "results": [],
    }
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

        def on_result(result):
            run.progress("")
            print(table.row(report, result), flush=True)
            for name, why in result.get("errors", {}).items():
                print(f"  {name}: {why}", file=sys.stderr, flush=True)
            if options.json:
                write(options.json, json.dumps(report, indent=1) + "\n")

        run.run(session, machine, chosen, makers, options, report, on_result)
    finally:
        run.progress("")
        met = show(report, options)
        print("\n" + "\n\n".join(text for text in (table.means(report), table.verdict(report)) if text))
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
        for _, case in run.select(library.cases(options.seed, random=options.random), options.only, options.quick):
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
