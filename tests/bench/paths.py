"""Adds the folder of the benchmark's Python modules to sys.path."""

import sys
from pathlib import Path

MOVEMENT = Path(__file__).resolve().parents[2] / "tools" / "bench" / "movement"
sys.path.insert(0, str(MOVEMENT))
