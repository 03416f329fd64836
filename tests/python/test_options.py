"""tmajit.options: packs, records, and what operations do whose kernels are in no cache."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """
import numpy, sys
import tmajit
tmajit.options(**eval(sys.argv[1]))
x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
try:
    print((tmajit.permute(x, axes=(1, 0)) == x.T).all())
except tmajit.Error as error:
    print(error.code, error)
try:
    tmajit.options()
except tmajit.ArgumentError as error:
    print("late" if "comes too late" in str(error) else error)
with open("/proc/self/maps") as maps:
    print("nvrtc" if "libnvrtc.so" in maps.read() else "no nvrtc")
"""


def run(folder: pathlib.Path, **options: object) -> str:
    # An installed package may have packs.
    environment = {**os.environ, "TMAJIT_CACHE_DIR": str(folder), "TMAJIT_PACKS": ""}
    command = [sys.executable, "-c", PROGRAM, repr(options)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_a_missing_kernel_is_refused_until_it_was_compiled(tmp_path):
    refused = run(tmp_path, when_missing="refuse")
    assert refused.startswith("missing_kernel ")
    assert "no nvrtc" in refused
    compiled = run(tmp_path)
    assert compiled == "True\nlate\nnvrtc\n"
    assert run(tmp_path, when_missing="refuse") == "True\nlate\nno nvrtc\n"


def test_a_kernel_is_served(tmp_path):
    assert run(tmp_path, when_missing="serve", allow_other_rounding=True).startswith("True")


@pytest.mark.parametrize("options", [{"when_missing": "wait"}, {"background_compiles": -1}])
def test_illegal_options_are_refused(tmp_path, options):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(tmp_path, **options)
    assert "ArgumentError" in failed.value.stderr


CALL = "import numpy; assert tmajit.sum(numpy.arange(9, dtype=numpy.int32)) == 36;"


def run_code(code, cache, **environment):
    return subprocess.run(
        [sys.executable, "-c", "import tmajit;" + code],
        env={**os.environ, "TMAJIT_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
    )


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_call_that_waits_for_the_compiler_is_counted(tmp_path):
    options = "tmajit.options(when_missing='serve', shipped_packs=False);"
    for waited in (1, 0):  # the second process finds the kernel in the cache
        done = run_code(options + CALL + "print(tmajit.counters()['waited'])", tmp_path)
        assert (done.stdout, done.stderr) == (f"{waited}\n", "")


def test_compiled_kernels_are_recorded(tmp_path):
    done = run_code(f"tmajit.options(record={str(tmp_path / 'a.jsonl')!r});" + CALL, tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    [kernel] = lines_of(tmp_path / "a.jsonl")
    assert kernel["operation"] == "reduce" and kernel["generator"] and kernel["source"]
    # The kernel is in the cache now.
    assert run_code(CALL, tmp_path / "cache", TMAJIT_RECORD=str(tmp_path / "b.jsonl")).returncode == 0
    assert not (tmp_path / "b.jsonl").exists()
    assert run_code(CALL, tmp_path / "other", TMAJIT_RECORD=str(tmp_path / "b.jsonl")).returncode == 0
    assert lines_of(tmp_path / "b.jsonl") == [kernel]


def test_a_pack_that_cannot_be_read_is_logged_and_skipped(tmp_path):
    done = run_code(f"tmajit.options(packs=[{str(tmp_path / 'none.pack')!r}]);" + CALL, tmp_path / "cache")
    assert done.returncode == 0
    assert "none.pack cannot be read" in done.stderr


def test_options_after_the_first_call_are_refused(tmp_path):
    done = run_code("tmajit.options(shipped_packs=False);" + CALL + "tmajit.options()", tmp_path / "cache")
    assert done.returncode == 1
    assert "ArgumentError: tmajit.options() comes too late" in done.stderr
