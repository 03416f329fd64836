"""Type aliases for the parameters of tmajit's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Tensor = Any
"""Any object that supports DLPack: an array of NumPy, PyTorch, CuPy, JAX …"""
DType = Any
"""An element type: a name such as "bfloat16", or a type object of an array library."""
Axes = int | Sequence[int]
Extents = int | Sequence[int]
Slices = slice | Sequence[slice]
Widths = Sequence[int | Sequence[int]]
