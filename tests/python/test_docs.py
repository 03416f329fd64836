"""Runs the Python blocks of pages, in order."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.tmajit_findings
@pytest.mark.parametrize("page", ["docs/python.md", "docs/start_python.md", "docs/recipes.md", "README.md"])
def test_every_block(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks
    names: dict = {}
    for block in blocks:
        line = text.count("\n", 0, block.start()) + 1
        code = "\n" * line + block[1]
        exec(compile(code, str(ROOT / page), "exec"), names)
