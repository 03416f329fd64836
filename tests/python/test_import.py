"""The cost of `import tmajit`, and the libraries that it must not load."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_import_loads_neither_nvrtc_nor_the_driver_nor_numpy():
    out = run(
        "import tmajit, sys; maps = open('/proc/self/maps').read();"
        "print([n for n in ('libnvrtc', 'libcuda.so') if n in maps], 'numpy' in sys.modules)"
    )
    assert out.strip() == "[] False"


def test_the_import_is_quick():
    # CPU time, since other tests run at the same time.
    code = "import time; t = time.process_time(); import tmajit; print(time.process_time() - t)"
    fastest = min(float(run(code)) for _ in range(5))
    print(f"import tmajit: {1000 * fastest:.1f} ms of CPU")
    assert fastest < 0.1


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="_xxsubinterpreters does not refuse modules before 3.12"
)
def test_sub_interpreters_are_refused_with_a_sentence():
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    code = (
        f"import {name} as i; n = i.create();"
        "r = i.run_string(n, 'try:\\n import tmajit\\nexcept ImportError as e: print(e, flush=True)')"
    )
    assert "main interpreter only" in run(code)
