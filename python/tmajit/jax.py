"""The functions of tmajit for JAX, under jax.jit, jax.vmap and, where they are linear, jax.grad.

Arrays of JAX are never written: `out` is a jax.ShapeDtypeStruct, and reduce_into() returns a new array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._jax import FUNCTIONS

if TYPE_CHECKING:
    from ._conveniences import *
    from ._operations import *

globals().update(FUNCTIONS)

__all__ = list(FUNCTIONS)
