#!/usr/bin/env python3
"""Checks the fenced blocks of a Markdown file by running its scripts and comparing its texts.

The words after a block's language determine how the block is checked:

    ```sh tested           a script (bash -eu); it must exit with 0, or with N for `exit=N`
    ```text output         the output of the script before it: every line in order. "…" stands for any text in a
                           line, and a line "…" for any number of lines
    ```cpp file=PATH       exactly the text of PATH in the repository; later scripts find the file
    ```cpp from=PATH       consecutive lines of PATH, indentation aside; later scripts find the file

The scripts of one Markdown file run in order in one folder, which holds only the files shown. The build's programs
and examples are on PATH. Exits with 1 if a check fails or the file has no block to check.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys


@dataclasses.dataclass
class Block:
    line: int  # of the opening fence, from 1
    words: list[str]  # the language and what follows it
    text: str


def blocks(markdown: str) -> list[Block]:
    found: list[Block] = []
    opening = None
    for number, line in enumerate(markdown.splitlines(), 1):
        fence = re.match(r"^```(.*)$", line)
        if fence and opening is None:
            opening, content = Block(number, fence.group(1).split(), ""), []
        elif fence and fence.group(1) == "":
            opening.text = "".join(text + "\n" for text in content)
            found.append(opening)
            opening = None
        elif opening is not None:
            content.append(line)
    if opening is not None:
        raise ValueError(f"line {opening.line}: the block is not closed")
    return found


def first_mismatch(expected: str, printed: str) -> str | None:
    """The first line of `expected` that `printed` lacks at its place. If `printed` goes on after the last one,
    a note that says so. None if the texts match."""
    lines = [line.rstrip() for line in printed.splitlines()]
    at, skips_lines = 0, False
    for want in expected.splitlines():
        want = want.rstrip()
        if want.strip() == "…":
            skips_lines = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in want.split("…")))
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            if not skips_lines:
                return want
            at += 1
        if at == len(lines):
            return want
        at, skips_lines = at + 1, False
    if at < len(lines) and not skips_lines:
        return f"(the end of the output; it goes on with: {lines[at]})"
    return None


def is_part(part: str, text: str) -> bool:
    """Whether `text` has the lines of `part` in succession, all with the same additional indentation."""
    want, lines = part.splitlines(), text.splitlines()
    for i in range(len(lines) - len(want) + 1):
        indent = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
        if [line.removeprefix(indent) for line in lines[i : i + len(want)]] == want:
            return True
    return False


def expected_exit(words: list[str]) -> int:
    return next((int(word.removeprefix("exit=")) for word in words if word.startswith("exit=")), 0)


def run_script(text: str, folder: pathlib.Path, bin_folder: pathlib.Path) -> tuple[int, str]:
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(bin_folder), str(bin_folder / "examples"), environment["PATH"]])
    environment["TMAJIT_CACHE_DIR"] = str(folder / ".cache")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


def check(document: pathlib.Path, source: pathlib.Path, folder: pathlib.Path, bin_folder: pathlib.Path) -> int:
    checked, failed, printed = 0, 0, None

    def fail(block: Block, message: str) -> None:
        nonlocal failed
        failed += 1
        print(f"{document}:{block.line}: {message}")

    for block in blocks(document.read_text(encoding="utf-8")):
        kind = block.words[1:2]
        if block.words[:2] == ["sh", "tested"]:
            checked += 1
            status, printed = run_script(block.text, folder, bin_folder)
            if status != expected_exit(block.words):
                fail(block, f"exit status {status} instead of {expected_exit(block.words)}; it printed:\n{printed}")
        elif block.words[:2] == ["text", "output"]:
            checked += 1
            if printed is None:
                fail(block, "there is no tested script before this output")
                continue
            mismatch = first_mismatch(block.text, printed)
            if mismatch is not None:
                fail(block, f"the script does not print:\n{mismatch}\nbut:\n{printed}")
        elif kind and kind[0].startswith(("file=", "from=")):
            checked += 1
            how, path = kind[0].split("=", 1)
            text = (source / path).read_text(encoding="utf-8")
            if block.text != text if how == "file" else not is_part(block.text, text):
                fail(block, f"this is not the text of {path}" if how == "file" else f"{path} has no such lines")
            (folder / pathlib.PurePath(path).name).write_text(text, encoding="utf-8")
    print(f"{document.name}: {checked} blocks checked, {failed} wrong")
    return 1 if failed or not checked else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the repository")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the build's programs")
    parser.add_argument(
        "--work", type=pathlib.Path, required=True, help="a folder to work in, which is deleted and made again"
    )
    parser.add_argument("document", type=pathlib.Path)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    return check(arguments.document, arguments.source, arguments.work.resolve(), arguments.bin.resolve())


if __name__ == "__main__":
    sys.exit(main())
