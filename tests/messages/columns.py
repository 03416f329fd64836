#!/usr/bin/env python3
"""Checks that jitc's output fits a terminal of 80 columns.

    columns.py --jitc FILE

It checks the --help of every command that jitc lists, and every table. It also checks that no word is broken across lines,
including the rules in the table of `validate`, and that work of more than a second shows its progress.
"""

import argparse
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

import files

COLUMNS = 80
ILLEGAL = ["validate", "copy", "--shape", "1000x1001", "--box", "32x48", "--swizzle", "128B", "--stages", "99"]


class Terminal:
    """Runs jitc in a terminal of 80 columns."""

    def __init__(self, jitc: pathlib.Path, folder: pathlib.Path):
        self.jitc = str(jitc)
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", "NO_COLOR": "1"}
        if "TMAJIT_NVRTC" in os.environ:
            self.environment["TMAJIT_NVRTC"] = os.environ["TMAJIT_NVRTC"]

    def run(self, *words: str, **environment: str) -> str:
        """The output of jitc, standard output and error, with \\n as line end."""
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        process = subprocess.Popen([self.jitc, *words], stdin=subprocess.DEVNULL, stdout=side, stderr=side,
                                   cwd=self.folder, env={**self.environment, **environment})
        os.close(side)
        said = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the process has closed its end of the terminal
                break
            if not part:
                break
            said += part
        process.wait()
        os.close(main)
        return said.decode().replace("\r\n", "\n")

    def quiet(self, *words: str) -> str:
        """The standard output of jitc without a terminal, whose width is therefore not limited."""
        return subprocess.run([self.jitc, *words], capture_output=True, text=True, cwd=self.folder, env=self.environment,
                              check=False).stdout


def commands_of(help_text: str) -> list[str]:
    if "\nCommands:\n" not in help_text:
        return []
    listed = help_text.split("\nCommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)


def all_commands(terminal: Terminal, parents: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The command with the names `parents`, and its subcommands at all levels."""
    found = [parents]
    for name in commands_of(terminal.quiet(*parents, "--help")):
        found += all_commands(terminal, (*parents, name))
    return found


def too_wide(name: str, said: str) -> list[str]:
    wrong = [] if said.strip() else [f"{name}: nothing is printed"]
    for line in said.split("\n"):  # not splitlines(), which splits at "\r" too
        line = re.sub(r".*\r(\x1b\[K)?", "", line)  # progress
        if len(line) > COLUMNS:
            wrong.append(f"{name}: {len(line)} columns: {line}")
    return wrong


def broken_words(name: str, said: str, wide: str) -> list[str]:
    """The words of `wide`, the text printed without a limit of width, that the narrow text `said` lacks. Numbers do not
    count, because they may change from run to run: doctor prints the size of the cache."""
    words = set(said.split())
    return [f"{name}: broken: {word}" for word in sorted(set(wide.split()) - words) if len(word) < 40 and word != "\\" and not word.isdigit()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jitc", type=pathlib.Path, required=True)
    options = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files.write(folder)
        terminal = Terminal(options.jitc.resolve(), folder)

        commands = all_commands(terminal)
        if len(commands) < 18:
            wrong.append(f"only {len(commands)} commands were found")
        for command in commands:
            said = terminal.run(*command, "--help")
            wrong += too_wide(" ".join(("jitc", *command, "--help")), said)
            wrong += broken_words(" ".join(command), said, terminal.quiet(*command, "--help"))

        # These kernels fill the cache, which `cache ls` shows below.
        for words in (["cubin", "copy", "--shape", "64x64"], ["cubin", "map", "--expr", "x0*x1", "--dtype", "bf16,f32,f32"],
                      ["cubin", "permute", "--axes", "1,0", "--shape", "16384x16384", "--dtype", "bf16"]):
            terminal.quiet(*words, "-o", "/dev/null")
        tables = [["doctor"], ["cache", "ls"], ["cache", "stat"], ["operations"], ["tune", "--list"], ILLEGAL,
                  ["conformance", "--list"], ["layout", "--box", "8x32", "--swizzle", "128B"],
                  ["explain", "permute", "--axes", "1,0", "--shape", "4096x4096"],
                  ["explain", "reduce", "--op", "sum", "--axes", "1", "--shape", "4096x4096"],
                  ["explain", "concat", "--axis", "0", "--shape", "64x64", "--inputs", "3"]]
        for words in tables:
            said = terminal.run(*words)
            wrong += too_wide("jitc " + " ".join(words), said)
            wrong += broken_words(words[0], said, terminal.quiet(*words)) if words[0] == "doctor" else []
        listed = terminal.run("cache", "ls")
        for part in ("OPERATION", "map", "copy", "bf16 <- f32", "16384x16384"):
            if part not in listed:
                wrong.append(f"cache ls does not show {part}:\n{listed}")
        said = terminal.run(*ILLEGAL)
        for violation in json.loads(terminal.quiet(*ILLEGAL, "--json"))["violations"]:
            if violation["rule"] not in said:
                wrong.append(f"validate breaks {violation['rule']}:\n{said}")

        said = terminal.run("doctor", TMAJIT_NVRTC="/nonexistent/libnvrtc.so")
        wrong += too_wide("doctor without NVRTC", said)
        said = terminal.run("cubin", "copy", "--shape", "8x8", "-o", "k", TMAJIT_NVRTC="/nonexistent/libnvrtc.so")
        if said.count("\n") > 3:
            wrong.append(f"without NVRTC more than three lines:\n{said}")

        # At least three seconds of simulated work on one thread of a fast machine.
        expression = "+".join(f"expf(-{n}*x)" for n in range(1, 9))
        said = terminal.run("run", "map", "--expr", expression, "--shape", "8192x4096", "--device", "sim",
                            "--sim-threads", "1")
        if not re.search(r"simulating ….*\(1 s\)", said):
            wrong.append(f"no progress is shown after one second:\n{said[:2000]}")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
