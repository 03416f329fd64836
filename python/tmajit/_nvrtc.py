"""Names the NVRTC of the wheel nvidia-cuda-nvrtc to the library, which loads it when it first compiles.

The environment variable TMAJIT_NVRTC names another file.
"""

from __future__ import annotations

import glob
import os


def _find() -> str | None:
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = glob.glob(os.path.join(packages, "nvidia", "cu13", "lib", "libnvrtc.so.*"))
    return found[0] if found else None


if "TMAJIT_NVRTC" not in os.environ:
    file = _find()
    if file is not None:
        os.environ["TMAJIT_NVRTC"] = file
