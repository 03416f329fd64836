#!/usr/bin/env python3
"""Finds comments, and lines of Markdown, with unclear subjects: words that name no thread, kernel or caller, and sentences
that begin with a detached "Of …", "What …" or "Who …". Prints FILE:LINE: WORD for each; exits with 1 if there is any.
"""

import re
import sys

VAGUE = re.compile(r"\b(nobody|somebody|everybody|whoever|likewise|that there is not)\b", re.IGNORECASE)
DETACHED = re.compile(r"^(?:@\w+ )?(Of|What|Who|Whose) |[.:;] (Of|What|Who) [a-z]")
# A string or a comment, whichever begins first.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|(?P<comment>//.*)')


def paragraphs(lines):
    """Yields (line number, text, whether it continues the previous line) for every line of Markdown outside of code."""
    previous, code = "", False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            code = not code
        elif not code:
            yield number, line.lstrip("#-|>* "), previous != "" and not line.startswith(("#", "-", "|", ">", "*"))
        previous = line.strip()


def comments(lines):
    """Yields (line number, text, whether it continues the comment of the previous line) for every comment."""
    previous = -1
    for number, line in enumerate(lines, 1):
        found = next((match for match in TOKEN.finditer(line) if match["comment"]), None)
        if found is None:
            continue
        alone = line[: found.start()].strip() == ""
        yield number, found["comment"].lstrip("/<! "), alone and previous == number - 1
        if alone:
            previous = number


def main() -> int:
    wrong = 0
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for number, text, continues in (paragraphs if path.endswith(".md") else comments)(lines):
            # A line that continues a sentence may begin with any word.
            at_start = None if continues else DETACHED.match(text)
            found = VAGUE.search(text) or at_start or next((m for m in DETACHED.finditer(text) if m.start() > 0), None)
            if found:
                wrong += 1
                print(f'{path}:{number}: "{found.group().strip(" .:;")}": {text}')
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
