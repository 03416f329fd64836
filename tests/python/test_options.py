"""Options of the process: packs, and the record of what was compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys

CALL = "import numpy; assert tmajit.sum(numpy.arange(9, dtype=numpy.int32)) == 36;"


def run(code, cache, **environment):
    return subprocess.run(
        [sys.executable, "-c", "import tmajit;" + code],
        env={**os.environ, "TMAJIT_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
    )


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_compiled_kernels_are_recorded(tmp_path):
    done = run(f"tmajit.options(record={str(tmp_path / 'a.jsonl')!r});" + CALL, tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    [kernel] = lines_of(tmp_path / "a.jsonl")
    assert kernel["operation"] == "reduce" and kernel["generator"] and kernel["source"]
    # The kernel is in the cache now.
    assert run(CALL, tmp_path / "cache", TMAJIT_RECORD=str(tmp_path / "b.jsonl")).returncode == 0
    assert not (tmp_path / "b.jsonl").exists()
    assert run(CALL, tmp_path / "other", TMAJIT_RECORD=str(tmp_path / "b.jsonl")).returncode == 0
    assert lines_of(tmp_path / "b.jsonl") == [kernel]


def test_a_pack_that_cannot_be_read_is_logged_and_skipped(tmp_path):
    done = run(f"tmajit.options(packs=[{str(tmp_path / 'none.pack')!r}]);" + CALL, tmp_path / "cache")
    assert done.returncode == 0
    assert "none.pack cannot be read" in done.stderr


def test_options_after_the_first_call_are_refused(tmp_path):
    done = run("tmajit.options(shipped_packs=False);" + CALL + "tmajit.options()", tmp_path / "cache")
    assert done.returncode == 1
    assert "ArgumentError: tmajit.options() comes too late" in done.stderr
