"""Adds the folders of the benchmarks' Python modules to sys.path."""

import sys
from pathlib import Path

MOVEMENT = Path(__file__).resolve().parents[2] / "tools" / "bench" / "movement"
sys.path[:0] = [str(MOVEMENT), str(MOVEMENT.parent)]
