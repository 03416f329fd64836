"""Kernels that COMPILER_kernels.py compiles all at once in one process. Each case then takes its own PTX."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys

from case import CannotMake, Tools

HERE = pathlib.Path(__file__).parent


@functools.cache
def _compile_all(script: str, site: pathlib.Path, folder: pathlib.Path) -> str:
    """Compiles all kernels. Returns why that failed, or an empty text."""
    if not site.is_dir():
        return f"{site.name} has not been fetched"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.suffix in (".ptx", ".error"):
            old.unlink()
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(HERE / script), str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=environment, cwd=folder)
    except subprocess.TimeoutExpired:
        return f"{script} took over 1200 s"
    if done.returncode == 0:
        return ""
    return "; ".join((done.stderr or done.stdout).strip().splitlines()[-2:])[-500:] or f"{script} ended with {done.returncode}"


def take(compiler: str, name: str, tools: Tools, folder: pathlib.Path) -> pathlib.Path:
    """The path of NAME.ptx. The first call compiles all kernels of the compiler."""
    script = f"{compiler}_kernels.py"
    made = folder.parent / f"made_by_{compiler}"
    reason = _compile_all(script, tools.site.with_name(f"site-{compiler}"), made)
    if (made / f"{name}.ptx").exists():
        return made / f"{name}.ptx"
    error = made / f"{name}.error"
    raise CannotMake(error.read_text()[-500:] if error.exists() else reason or f"{script} has made no {name}.ptx")
