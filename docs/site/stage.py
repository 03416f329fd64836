#!/usr/bin/env python3
"""Copies the pages of the site, and the files that they link to, into the folder that MkDocs reads.

    stage.py FOLDER

Pages stay at their paths in the repository, so their links do not change. Words after a block's language, which tests/docs reads,
are removed, and lists get the empty line before them that Python's Markdown needs.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "templates/README.md"]
# Titles and modules of the package. `tmajit` re-exports the public names of these modules.
MODULES = {"Operations": "_operations", "Short names": "_conveniences", "Plans": "_plans", "Kernels": "_kernels", "Checks": "_check", "Errors": "_errors"}
ADDED = {
    "reference/python.md": "# The Python package\n\n[python.md](../docs/python.md) describes the package; this page has its docstrings.\n\n" +
                           "".join(f"## {title}\n\n::: tmajit.{module}\n\n" for title, module in MODULES.items()),
    "reference/cpp.md": "# The C++ and C headers\n\n[The reference of the headers](../cpp/index.html), made by Doxygen from their comments. "
                        "[embedding.md](../docs/embedding.md) shows how a program uses them.\n",
}
LINK = re.compile(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")
LIST = re.compile(r"[-*] |\d+\. ")


def fitted(text: str) -> str:
    """The page as Python's Markdown reads it."""
    lines: list[str] = []
    in_block = False
    for line in text.splitlines():
        if line.startswith("```"):
            line = re.sub(r"^(```\w*).*", r"\1", line)
            in_block = not in_block
        elif not in_block and LIST.match(line) and lines and lines[-1].strip() and not LIST.match(lines[-1].lstrip()) and not lines[-1].startswith(" "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    pages = [ROOT / page for page in PAGES] + sorted((ROOT / "docs").rglob("*.md"))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        staged = folder / page.relative_to(ROOT)
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(fitted(text), encoding="utf-8")
        for link in LINK.findall(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
            target = (page.parent / link).resolve()
            if target.suffix == ".md" or not target.is_file() or not target.is_relative_to(ROOT):
                continue
            copy = folder / target.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copy)
    for name, text in ADDED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
