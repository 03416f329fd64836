"""Runs the Python blocks of pages, in order.

A block that imports PyTorch or JAX is left out on a machine without it.
"""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.tmajit_findings  # findings do not fail it
@pytest.mark.parametrize(
    "page",
    [
        "docs/python.md",
        "docs/start_python.md",
        "docs/recipes.md",
        "docs/rowwise.md",
        "docs/fusion.md",
        "docs/quantize.md",
        "docs/gather.md",
        "docs/moe.md",
        "docs/top_k.md",
        "docs/paged.md",
        "README.md",
    ],
)
def test_every_block(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks
    names: dict = {}
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 1
        code = "\n" * line + block[1]
        try:
            exec(compile(code, str(ROOT / page), "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in ("torch", "jax"):
                raise
    # PyTorch keeps compiled functions, and with them this dict, until the process ends.
    for name in [name for name in names if not name.startswith("__")]:
        del names[name]
