"""Names the NVRTC of the wheel nvidia-cuda-nvrtc to the library, which loads it when it first compiles.

The environment variable TMAJIT_NVRTC names another file.
"""

from __future__ import annotations

import glob
import os
import sys


def _find() -> str | None:
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (packages, *sys.path):
        found = glob.glob(os.path.join(folder, "nvidia", "cu13", "lib", "libnvrtc.so.*"))
        if found:
            return found[0]
    return None


if "TMAJIT_NVRTC" not in os.environ:
    file = _find()
    if file is not None:
        os.environ["TMAJIT_NVRTC"] = file
