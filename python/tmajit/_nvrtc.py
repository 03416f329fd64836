"""Sets TMAJIT_NVRTC to the NVRTC of the wheel nvidia-cuda-nvrtc, unless it is set already.

The library loads this file when it first compiles a kernel.
"""

from __future__ import annotations

import os
import sys


def _find() -> str | None:
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (packages, *sys.path):
        file = os.path.join(folder, "nvidia", "cu13", "lib", "libnvrtc.so.13")
        if os.path.exists(file):
            return file
    return None


if "TMAJIT_NVRTC" not in os.environ:
    found = _find()
    if found is not None:
        os.environ["TMAJIT_NVRTC"] = found
