#!/usr/bin/env python3
"""Writes every message of jitc and the library into one document, so that they can be proofread together.

    messages.py --source DIR --jitc FILE            prints the differences from tests/messages/messages.txt; if any, exits with 1
    messages.py --source DIR --jitc FILE --update   rewrites that file

The first part holds the commands of cases.txt, each with jitc's output. The second part holds the messages in the sources
that none of these commands prints, with {} for values. They appear only in programs that embed the library, on broken
machines and on full disks. The document is complete: the comparison fails for a new message that is in neither part.
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import files

# Calls of these functions make a message, and so do the calls of RULE, which report a broken rule.
MESSAGE = re.compile(r"\b(refuse|refuse_\w+|fail|fail_\w+|Error|CompileError|CallMistake)\s*[({]")
RULE = re.compile(r"(?:\.add\(\{\s*\.rule|\brules\.add\(|[\s(]add\(\"|add_expression\(|check_count\(|\{\.rule = |return \{\")")
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\])\'|//[^\n]*')
FOLDERS = ["src", "tools/jitc", "tools/lib", "include"]
# The texts in these folders and files are findings about PTX and kernels, not errors. tests/mutants covers them.
EXCLUDED = ["src/sim/", "src/lint/", "src/ptx/", "src/conformance/", "src/codegen/directives.cpp"]
# Nouns after a count. If the count may be 1, the message must use counted(), which chooses singular or plural.
NOUNS = ("dimensions|elements|numbers|sources|inputs|axes|slices|strides|entries|values|destinations|views|indices|"
         "addresses|pixels|parameters|operands|lanes|offsets|channels")
PLURAL_OF_ONE = re.compile(rf"(?<![0-9.,x×/^-])\b1 ({NOUNS}|bytes|tiles|kernels|threads|CTAs)\b")
# Texts in which the count is never 1, because it exceeds a limit or differs from a legal 1.
ALWAYS_MANY = re.compile(r"the most is|at most .* (is|are) possible|legal is one|legal are fewer|without an expression|a warp has|values are|addresses are|addresses are|"
                         r"2\^63|would be written|moves bits, but|before the colon|^\{\} dimensions$|only \{\} \w+s; the last")
# Patterns that no message may contain, and what each of them is.
BROKEN = [
    (PLURAL_OF_ONE, "a plural after 1"),
    (re.compile(r"\b(is|are|must be|needs) (is|are|must|be|has|have|an? [a-z ]+ lies)\b"), "two verbs in a row"),
    (re.compile(r"[a-z] [;,.](\s|$)"), "a space before a sign"),
    (re.compile(r"\{\}|%s"), "a value that was not filled in"),
    (re.compile(r"\b([a-z]{2,}) \1\b"), "a word twice"),
    (re.compile(r"<- "), "an arrow"),
]


def texts_in(arguments: str) -> list[str]:
    """The string literals in a call's arguments. Adjacent literals are joined."""
    found: list[str] = []
    end = -1
    for token in TOKEN.finditer(arguments):
        text = token.group()
        if text[0] != '"':
            continue
        if end >= 0 and not arguments[end : token.start()].strip():
            found[-1] += text[1:-1]
        else:
            found.append(text[1:-1])
        end = token.end()
    return [text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\") for text in found]


def call_at(text: str, opening: int) -> str:
    """The text from an opening bracket to its closing one."""
    depth, at = 0, opening
    while at < len(text):
        token = TOKEN.match(text, at)
        if token:
            at = token.end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return text[opening:at]


def is_message(text: str) -> bool:
    return len(text) > 11 and " " in text.strip() and re.search("[a-z]{3}", text) is not None


def messages_in(source: pathlib.Path) -> list[tuple[str, str]]:
    """(file, text) of each message in the sources, in order."""
    found: list[tuple[str, str]] = []
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*.?pp")):
            name = path.relative_to(source).as_posix()
            if any(name.startswith(excluded) for excluded in EXCLUDED):
                continue
            text = path.read_text()
            text = TOKEN.sub(lambda token: "" if token.group().startswith("//") else token.group(), text)
            for pattern in (MESSAGE, RULE):
                for call in pattern.finditer(text):
                    opening = min((at for at in (text.find("(", call.start()), text.find("{", call.start())) if at >= 0))
                    for literal in texts_in(call_at(text, opening)):
                        if is_message(literal) and (name, literal) not in found:
                            found.append((name, literal))
    return found


def fragments(text: str) -> list[str]:
    """The constant parts of a message, between its values."""
    parts = re.split(r"\{[^{}]*\}", text.replace("{{", "\x01").replace("}}", "\x02"))
    return [part.replace("\x01", "{").replace("\x02", "}") for part in parts if part.strip()]


def is_in(text: str, said: list[str]) -> bool:
    """Whether one of the outputs contains all constant parts of a message, in their order."""
    parts = fragments(text)
    for output in said:
        at = 0
        for part in parts:
            at = output.find(part, at)
            if at < 0:
                break
            at += len(part)
        else:
            return True
    return False


def run_cases(source: pathlib.Path, jitc: pathlib.Path) -> tuple[str, list[str]]:
    """Runs the commands of cases.txt. Returns the document's first part, and an error for each command that succeeds."""
    page = ""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        files.write(work)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "TMAJIT_CACHE_DIR": str(work / "cache"), "NO_COLOR": "1"}
        if "TMAJIT_NVRTC" in os.environ:
            environment["TMAJIT_NVRTC"] = os.environ["TMAJIT_NVRTC"]
        for line in (source / "tests/messages/cases.txt").read_text().splitlines():
            if not line.strip() or line.startswith("##"):
                page += line.replace("##", "\n##") + "\n" if line.strip() else ""
                continue
            if line.startswith("{"):
                (work / "launch.json").write_text(line)
                words = ["jitc", "run", "--ptx", "kernel.ptx", "--launch", "launch.json", "--device", "sim"]
            else:
                words = shlex.split(line)
            own = dict(environment)
            while "=" in words[0]:
                name, _, value = words.pop(0).partition("=")
                own[name] = value
            done = subprocess.run([str(jitc), *words[1:]], cwd=work, env=own, capture_output=True, text=True, timeout=120,
                                  stdin=subprocess.DEVNULL)
            said = done.stderr if done.stderr else done.stdout
            if words[1:2] == ["validate"] and said.startswith("illegal:"):  # validate prints a table; explain prints the same rules as sentences
                said = subprocess.run([str(jitc), "explain", *words[2:]], cwd=work, env=own, capture_output=True, text=True,
                                      timeout=120, stdin=subprocess.DEVNULL).stderr
            said = said.replace(str(work), "…").replace("jitc: error: ", "")
            said = said.replace("jitc --help and jitc COMMAND --help say what is possible\n", "")
            if done.returncode not in (1, 2, 3):
                wrong.append(f"exit code {done.returncode}, but cases.txt is for commands that jitc refuses: {line}")
                continue
            page += f"\n$ {line}\n" + "".join(f"{part}\n" for part in said.rstrip().splitlines())
    return page, wrong


def wrong_grammar(page: str) -> list[str]:
    """The lines of jitc's output that match a pattern of BROKEN, each with the pattern's name."""
    wrong = []
    for line in page.splitlines():
        if line.startswith(("$", "#")):
            continue
        for pattern, what in BROKEN:
            match = pattern.search(line)
            if match:
                wrong.append(f"{what} (\"{match.group().strip()}\"): {line.strip()}")
    return wrong


def plurals_in(messages: list[tuple[str, str]]) -> list[str]:
    """Texts with a plural after a count that may be 1. After "at most" or "to" the count is a limit."""
    pattern = re.compile(rf"(?<!at most )(?<!to )(?<!more than )(?<!the )\{{\}} ({NOUNS})\b")
    return [f"{name}: use counted() for singular and plural: {text}" for name, text in messages
            if pattern.search(text) and not ALWAYS_MANY.search(text)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--jitc", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()

    said, wrong = run_cases(options.source, options.jitc.resolve())
    messages = messages_in(options.source)
    page = "What the program says. tests/messages/messages.py writes this file (--update) and compares it.\n\n"
    page += "# Commands and what jitc says to them\n" + said
    page += "\n\n# Messages that none of these commands gets\n"
    last = ""
    answers = said.split("\n$ ")
    for name, text in messages:
        if is_in(text, answers):
            continue
        if name != last:
            page += f"\n{name}\n"
        last = name
        page += "  " + text.strip("\n").replace("\n", "\n  ") + "\n"

    wrong += wrong_grammar(said) + plurals_in(messages)
    for line in wrong:
        print(line)
    document = options.source / "tests/messages/messages.txt"
    if options.update:
        document.write_text(page)
    stored = document.read_text() if document.exists() else ""
    if stored != page:
        sys.stdout.writelines(difflib.unified_diff(stored.splitlines(True), page.splitlines(True), str(document), "now"))
        print("messages differ; read them, then rewrite the document with --update")
    return 1 if wrong or stored != page else 0


if __name__ == "__main__":
    sys.exit(main())
