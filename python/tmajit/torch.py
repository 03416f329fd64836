"""The functions of tmajit as custom operators of PyTorch, torch.ops.tmajit.

They take tensors of PyTorch. torch.compile keeps them in its graphs, and linear operations have gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._torch import FUNCTIONS

if TYPE_CHECKING:
    from ._conveniences import *
    from ._operations import *

globals().update(FUNCTIONS)

__all__ = list(FUNCTIONS)
