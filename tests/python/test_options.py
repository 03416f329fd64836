"""tmajit.options: what operations do whose kernels are in no cache."""

from __future__ import annotations

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
    print("late" if "in use already" in str(error) else error)
with open("/proc/self/maps") as maps:
    print("nvrtc" if "libnvrtc.so" in maps.read() else "no nvrtc")
"""


def run(folder: pathlib.Path, **options: object) -> str:
    environment = {**os.environ, "TMAJIT_CACHE_DIR": str(folder)}
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
