#!/usr/bin/env python3
"""The schema of launch files agrees with the parser.

    schema_test.py --source DIR --jitc FILE --parser FILE

Both must accept the repository's launch files, and one that has every member. The latter is also changed in one place at a time.
A changed file must fit the schema if the parser accepts it. If the parser refuses it, it must not fit, unless no schema can express
the reason. If the package jsonschema is missing, the test exits with 77, which ctest counts as skipped.
"""

import argparse
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("SKIP: no jsonschema; tools/setup.sh fetches it")
    sys.exit(77)

EVERYTHING = {
    "$schema": "launch.schema.json", "entry": "k", "source": "k.cu", "constants": {"rows": 8, "on": True, "step": "4u"}, "include": ["headers"],
    "grid": ["ceil_div(30, rows)", 2], "block": [32, 1, 2], "cluster": [2], "shared_bytes": 4096, "cooperative": True, "overlaps": False,
    "note": "everything",
    "buffers": {
        "a": {"in": "a.npy", "out": "b.npy", "dtype": "bf16"},
        "v": {"dtype": "f16", "shape": [2, 3], "values": [1, -2.5, "inf", "0x3c01"]},
        "y": {"out": "y.npy", "dtype": "float32", "shape": [8], "fill": 238, "note": "the result"},
    },
    "parameters": [
        {"type": "u32", "value": 7},
        {"type": "i16", "value": [-1, 2]},
        {"buffer": "a", "offset": 16},
        {"tensor_map": {"buffer": "y", "box": [8], "swizzle": "32B", "oob_fill": "nan", "l2_promotion": "128B", "interleave": "none",
                        "element_strides": [1], "strides": [4], "shape": [8], "dtype": "u32", "offset": 32}},
        {"tensor_map": {"buffer": "v", "pixel_box": {"lower": [-1, 0], "upper": [1, -2], "channels": 8, "pixels": 6}}},
        {"struct": [{"type": "u8", "value": 255}, {"buffer": "v", "at": 8}], "bytes": 32},
    ],
    "before": [{"entry": "first", "grid": 1, "block": 32, "parameters": [{"buffer": "a"}]}],
}
VALUES = [None, -1, 1.5, "", "x", [], {}, 10**19]
# Reasons of the parser that depend on two places of the file, on the meaning of a string or on a number's exact type.
BEYOND = re.compile("|".join([
    r"a CTA has at most 1024", r"a cluster has at most 16", r"does not divide the grid", r"\$\.buffers has", r"the shape has", r"; the box has",
    r"the struct's fields take", r"needs an offset that is a multiple", r"whole numbers? from", r"lower has", r"numbers up to", r"to be filled in",
    r"an expression of one", r"only options of jitc", r"C\+\+ literal", r"is no (number|literal)", r"takes (whole )?numbers", r"a pattern of", r"constant",
]))


def places(value, path=()):
    """The path of every value in a document except the root: its keys and list indices, from the outermost one on."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield (*path, key)
        yield from places(member, (*path, key))


def holder(document, path):
    """The object or list that directly contains the value at `path`."""
    for key in path[:-1]:
        document = document[key]
    return document


def mutants(document):
    """Yields (what was changed, the changed document) for each change in one place of a document."""
    for path in places(document):
        for value in VALUES:
            changed = copy.deepcopy(document)
            holder(changed, path)[path[-1]] = value
            yield f"{path} = {value!r}", changed
        without = copy.deepcopy(document)
        del holder(without, path)[path[-1]]
        yield f"without {path}", without
        if isinstance(holder(document, path), dict):
            added = copy.deepcopy(document)
            holder(added, path)["unknown"] = 1
            yield f"{path} beside an unknown key", added


def refusals(program: pathlib.Path, documents: list) -> list[str]:
    """The parser's error for each document; empty if it accepts it."""
    with tempfile.TemporaryDirectory(prefix="tmajit-test-") as name:
        texts = pathlib.Path(name) / "launches"
        texts.write_text("".join(json.dumps(document) + "\n" for document in documents))
        subprocess.run([program, "[refusals]"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "TMAJIT_LAUNCHES": str(texts)})
        return texts.with_suffix(".refusals").read_text().splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--jitc", type=pathlib.Path, required=True)
    parser.add_argument("--parser", type=pathlib.Path, required=True, help="the program test_launch, which parses the files")
    options = parser.parse_args()
    printed = subprocess.run([options.jitc, "launch-file", "--schema"], capture_output=True, text=True, check=True).stdout
    schema = json.loads(printed)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = []
    files = [path for folder in ("examples", "tests/mutants/kernels", "tests/fuzz/corpus/launch_description_fuzz")
             for path in sorted((options.source / folder).rglob("*.json"))]
    documents = [(path.name, json.loads(path.read_text())) for path in files] + [("every member", EVERYTHING)]
    for name, document in documents:
        wrong += [f"{name}: the schema refuses it: {error.message}" for error in validator.iter_errors(document)]
    if len(documents) < 20:
        wrong.append(f"only {len(documents)} launch files were found")
    missing = [key for key in schema["properties"] if key not in EVERYTHING]
    wrong += [f"no test of the member {key}" for key in missing]

    changed = list({json.dumps(document): (what, document) for what, document in mutants(EVERYTHING)}.values())
    errors = refusals(options.parser, [document for _, document in [*documents, *changed]])
    wrong += [f"{name}: the parser refuses it: {error}" for (name, _), error in zip(documents, errors) if error]
    both = 0
    for (what, document), error in zip(changed, errors[len(documents):]):
        fits = validator.is_valid(document)
        both += bool(error) and not fits
        if fits and error and not BEYOND.search(error):
            wrong.append(f"{what}: fits the schema, but the parser says {error}")
        if not fits and not error:
            wrong.append(f"{what}: the parser accepts it, but not the schema")
    print(f"{len(documents)} launch files; {len(changed)} changed ones, {both} of which parser and schema refuse")
    if both < len(changed) / 2:
        wrong.append("the schema refuses too few of the changed files")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
