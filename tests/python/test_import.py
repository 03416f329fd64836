"""The cost of `import tmajit`, and the libraries that it must not load."""

from __future__ import annotations

import subprocess
import sys
import sysconfig

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
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter is not free-threaded"
)
def test_the_import_does_not_enable_the_gil():
    assert run("import sys, tmajit; print(sys._is_gil_enabled())").strip() == "False"


@pytest.mark.parametrize("own_gil", [True, False])
def test_sub_interpreters_are_refused_with_a_sentence(own_gil):
    if sys.version_info >= (3, 13):
        name, config = "_interpreters", "'isolated'" if own_gil else "'legacy'"
    else:
        name, config = "_xxsubinterpreters", f"isolated={own_gil}"
    code = (
        f"import {name} as i; n = i.create({config});"
        "i.run_string(n, 'try:\\n import tmajit\\nexcept ImportError as e: print(e, flush=True)');"
        "i.destroy(n); import tmajit; print(tmajit.__version__)"
    )
    sentence, version = run(code).splitlines()
    assert "main interpreter only" in sentence and version
