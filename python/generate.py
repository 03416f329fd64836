"""Writes tmajit/_operations.py: a function for each operation, from the descriptions in the built _core.

usage: python generate.py [--check] FILE

With --check it writes nothing and exits with status 1 if the file differs. PYTHONPATH must contain the folder
of the built package.
"""

from __future__ import annotations

import sys
import textwrap

HEADER = '''"""A function for each operation. python/generate.py writes this file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from ._types import Axes, DType, Extents, Slices, Tensor, Widths
from ._values import given_sources as _given
from ._values import present_sources as _present

_one = _core.run_one
_some = _core.run_some
_all = _core.run_all
'''

ANNOTATIONS = {
    "number": "float",
    "count": "int",
    "text": "str",
    "choice": "str",
    "axis": "int",
    "axes": "Axes",
    "extents": "Extents",
    "parts": "Sequence[int]",
    "numbers": "Extents",
    "slices": "Slices",
    "widths": "Widths",
}

ACCEPTED_VALUES = {
    "number": "a number",
    "count": "a whole number, 0 or more",
    "text": "an expression",
    "axis": "a dimension; -1 is the last",
    "axes": "dimensions; -1 is the last",
    "extents": "whole numbers, 0 or more",
    "parts": "any number of whole numbers, 0 or more",
    "numbers": "whole numbers",
    "slices": "a slice for each dimension; numpy.s_ makes them",
    "widths": "for each dimension a whole number, or a pair (before, after)",
}

EXAMPLES = {
    "text": lambda text: f'"{text}"',
    "choice": lambda text: f'"{text}"',
    "axes": lambda text: f"({text.replace(',', ', ')})" if "," in text else text,
    "slices": lambda text: f"numpy.s_[{text.replace(',', ', ')}]",
}


#: What the shape of a recipe's source is.
SHAPES = {
    "rows": "the rows",
    "row": "one number for each row, with the axis missing or of extent 1",
    "block": "one number for each row, with the axis missing or of extent 1; or one for each block, "
    "whose number is then the axis's extent",
    "axis": "one number for each place of a row, in one dimension",
    "tile": "one number for each block",
    "tensor": "one number, without dimensions",
    "halves": "the rows",
    "half": "broadcast by NumPy's rules to the rows' shape with half of their extent along the axis",
    "rows_or_halves": "the rows, or both halves of each row if b is None",
}
ELEMENTS = {
    "floating": "floating point",
    "statistic": "floating point",
    "any": "any type",
    "integer": "integers",
    "quantised": "float8_e4m3fn, float8_e5m2 or int8",
}


#: The names of the sources of an operation that is no recipe and whose sources have different meanings, with
#: their annotations and descriptions.
SOURCES = {
    "cast_transpose": [
        (
            "x",
            "Tensor",
            "a tensor of float16, bfloat16 or float32; its last two dimensions are the matrix, those before "
            "them count matrices.",
        ),
        (
            "scale",
            "Tensor | float | None = None",
            "the factor: a tensor with one element of float32, or a number, all of whose values share a "
            "kernel; None: 1.",
        ),
    ],
    "top_k": [("x", "Tensor", "a tensor with any strides; bool is treated as uint8.")],
}


def is_bool(argument):
    return argument["choices"] == ["no", "yes"]


def default_of(argument):
    return argument["default"] == "yes" if is_bool(argument) else argument["default"]


def example_of(argument):
    kind, text = argument["type"], argument["example"]
    if is_bool(argument):
        return text == "yes"
    if kind == "widths":
        before, _, after = text.partition(":")
        pairs = zip(before.split(","), (after or before).split(","), strict=True)
        return "(" + ", ".join(f"({a}, {b})" for a, b in pairs) + ")"
    if kind in ("extents", "numbers", "parts"):
        parts = text.replace("x", ",").split(",")
        return "(" + ", ".join(parts) + ")" if len(parts) > 1 else parts[0]
    return EXAMPLES.get(kind, lambda plain: plain)(text)


def accepted_values(argument):
    if argument["choices"]:
        if is_bool(argument):
            return "a bool"
        return ", ".join(f'"{choice}"' for choice in argument["choices"])
    return ACCEPTED_VALUES[argument["type"]]


def annotation(argument):
    return "bool" if is_bool(argument) else ANNOTATIONS[argument["type"]]


def always_moves_bits(operation):
    """Whether no expression can change the elements that are moved."""
    return operation["moves_bits"] and all(a["name"] != "expression" for a in operation["arguments"])


def follows_from_sources(operation, argument):
    """Whether the function has no such parameter, because the sources' names tell its value."""
    return operation["has_offsets"] and argument["name"] == "ragged"


def takes_type(operation):
    """Whether the function has the parameter dtype."""
    if always_moves_bits(operation) or operation["reads_destination"] or len(operation["results"]) > 1:
        return False
    return operation["name"] not in SOURCES


def needs_type(operation):
    """Whether the type is the operation's only argument."""
    return not operation["arguments"] and not operation["sources"] and not operation["moves_bits"]


def parameters(operation):
    """The function's parameters, and the expression by which its body passes the sources to _core."""
    arguments = operation["arguments"]
    required = [f"{a['name']}: {annotation(a)}" for a in arguments if a["required"]]
    optional = [
        f"{a['name']}: {annotation(a)} | None = None"
        for a in arguments
        if not a["required"] and not follows_from_sources(operation, a)
    ]
    many = operation["many_results"]
    result = "Sequence[Tensor]" if many else "Tensor"
    out = f"out: {result}" if operation["reads_destination"] else f"out: {result} | None = None"
    if operation["one_result_alone"] and not operation["results"] and not operation["result_names"]:
        out = "out: Tensor | Sequence[Tensor] | None = None"
    dtype = [] if not takes_type(operation) else ["dtype: DType | None = None"]
    if needs_type(operation):
        dtype = ["dtype: DType"]
    if operation["sources"]:
        return recipe_parameters(operation["sources"], [*required, *optional], [out, *dtype])
    if operation["name"] in SOURCES:
        named = SOURCES[operation["name"]]
        first = [f"{name}: {kind}" for name, kind, _ in named]
        names = ", ".join(name for name, _, _ in named)
        return [*first, *required, *optional, "*", out], f"_given({names})" if len(named) > 1 else names
    least, most = operation["min_sources"], operation["max_sources"]
    if operation["source_names"]:
        names = operation["source_names"]
        first = [f"{name}: Tensor" for name in names]
        return [*first, *required, *optional, "*", out, *dtype], f"({', '.join(names)})"
    if operation["has_indices"]:
        first, sources = ["x: Tensor", "index: Tensor | Sequence[Tensor]"], "sources"
        if operation["has_weights"]:
            first = ["x: Tensor", "index: Tensor", "weights: Tensor | None = None"]
            sources = "_given(x, index, weights)"
        last = [out, *dtype]
        if operation["has_offsets"]:
            last = ["offsets: Tensor | None = None", *last]
            sources = "_present(x, index, weights, offsets)"
        return [*first, *required, *optional, "*", *last], sources
    if arguments and arguments[0]["name"] == "expression" and arguments[0]["required"]:
        return [*required, "*sources: Tensor", *optional, out, *dtype], "sources"
    if most > 8:
        return ["sources: Sequence[Tensor]", *required, "*", *optional, out, *dtype], "sources"
    if least == 2 and most == 2:
        return ["x0: Tensor", "x1: Tensor", *required, "*", *optional, out, *dtype], "(x0, x1)"
    if most > 1:
        first = "x: Tensor | Sequence[Tensor]"
        return [first, *required, *optional, "*", out, *dtype], "x"
    if dtype == ["dtype: DType"]:
        return ["x: Tensor", *dtype, out], "x"
    return ["x: Tensor", *required, *optional, out, *dtype], "x"


def recipe_parameters(sources, arguments, last):
    named = [f"{one['name']}: Tensor{'' if one['required'] else ' | None = None'}" for one in sources]
    if len(sources) == 1:
        return [*named, *arguments, "*", *last], sources[0]["name"]
    names = ", ".join(one["name"] for one in sources)
    return [*named, "*", *arguments, *last], f"_given({names})"


def sources_text(operation):
    least, most = operation["min_sources"], operation["max_sources"]
    numbers = " Python's numbers after them are p0, p1 …; their values share a kernel."
    if not operation["takes_numbers"]:
        numbers = ""
    if operation["has_indices"]:
        return "x", "the tensor whose elements are moved, with any strides."
    if most > 8:
        return "sources", "the tensors, in order."
    if least == 2 and most == 2:
        return "x0, x1", "the two tensors."
    if (
        operation["arguments"]
        and operation["arguments"][0]["name"] == "expression"
        and operation["arguments"][0]["required"]
    ):
        few = "" if least else " Without sources, out is required."
        return "sources", f"up to {most} tensors, broadcast to a common shape by NumPy's rules.{numbers}{few}"
    if most > 1:
        text = f"a tensor, or a sequence of up to {most}, broadcast to a common shape by NumPy's rules."
        return "x", text + numbers
    return "x", "a tensor with any strides and 0 to 8 dimensions."


def wrapped(text, indent, further=None):
    further = indent if further is None else further
    return textwrap.fill(text, 108, initial_indent=indent, subsequent_indent=further, break_long_words=False)


def docstring(operation):
    lines = [f'    """{operation["summary"][0].upper()}{operation["summary"][1:]}.', "", "    Args:"]
    entries = []
    for one in operation["sources"]:
        entries.append((one["name"], f"{SHAPES[one['shape']]} ({ELEMENTS[one['elements']]})."))
    for name, _, description in SOURCES.get(operation["name"], []):
        entries.append((name, description))
    if not entries:
        entries.append(sources_text(operation))
    if operation["source_names"]:
        for name in operation["source_names"][1:]:
            entries.append((name, "a tensor of integers of 32 or 64 bits."))
    elif operation["has_indices"]:
        text = "a tensor of integers of 32 or 64 bits, or one for each indexed dimension."
        if operation["has_weights"]:
            text = "a tensor of integers of 32 or 64 bits, whose last dimension is summed."
        if operation["takes_numbers"]:
            text += " Python's numbers after them are p0, p1 …; their values share a kernel."
        entries.append(("index", f"{text} Negative ones count from the end."))
    if operation["has_weights"]:
        entries.append(("weights", "a floating-point tensor of the index tensor's shape; by default ones."))
    for argument in operation["arguments"]:
        if follows_from_sources(operation, argument):
            continue
        values = accepted_values(argument)
        if argument["default"]:
            values += f"; default: {default_of(argument)}"
        text = f"{argument['sentence']} ({values}). For example {example_of(argument)}."
        entries.append((argument["name"], text))
    if operation["has_offsets"]:
        entries.append(
            (
                "offsets",
                "a tensor of int32 or int64 of one dimension: the first index of each bag, then the end of "
                "the last bag. The index tensor then has one dimension, too. By default each line of the "
                "index tensor is a bag.",
            )
        )
    if operation["many_results"]:
        entries.append(("out", "the tensors to write; by default new tensors of the sources' library."))
    elif operation["reads_destination"]:
        entries.append(("out", "the tensor that is read and written."))
    else:
        entries.append(("out", "the tensor to write; by default a new tensor of the first source's library."))
    if needs_type(operation):
        entries.insert(
            1, ("dtype", 'the element type of the result: "bfloat16", numpy.int8, torch.float16 …')
        )
    elif takes_type(operation):
        entries.append(
            ("dtype", "the element type of the new tensor; docs/gather.md says which is the default.")
            if operation["has_weights"]
            else ("dtype", "the element type of the new tensor; by default the type follows NumPy's rules.")
            if not operation["results"]
            else ("dtype", "the element type of the new tensor; docs/rowwise.md says which is the default.")
        )
    lines += [wrapped(f"{name}: {text}", "        ", "            ") for name, text in entries]
    types = (
        "every type; bits are moved unchanged"
        if always_moves_bits(operation)
        else "every type, moved unchanged; an expression takes integers and floating point"
        if operation["moves_bits"]
        else "integers and floating point; bool is treated as uint8"
    )
    if operation["name"] in SOURCES:
        types = "as above"
    if operation["sources"]:
        types = "as above; docs/rowwise.md has the results' types"
    lines += ["", "    Returns:"]
    names = ", ".join(operation["result_names"] or [one["name"] for one in operation["results"]])
    if names.count(",") > 0:
        lines.append(f"        out, or the new tensors {names}.")
    elif operation["one_result_alone"]:
        lines.append("        out, or a tuple of the new tensors; if there is one, the new tensor.")
    elif operation["many_results"]:
        lines.append("        out, or a tuple of the new tensors.")
    elif operation["reads_destination"]:
        lines.append("        out.")
    else:
        lines.append("        out, or the new tensor, which is dense and row-major.")
    lines += [
        "",
        "    Types:",
        wrapped(f"{types}.", "        "),
        "",
        "    Raises:",
        "        ArgumentError: shapes, arguments and the number of tensors do not match.",
        "        SpecError: tensors overlap or break another rule, which the error's `rule` names.",
    ]
    if any(a["type"] == "text" for a in operation["arguments"]):
        lines.append("        CompileError: the compiler refused the expression; `log` has its output.")
    lines.append('    """')
    return lines


def function(number, operation):
    signature, sources = parameters(operation)
    many = operation["many_results"]
    values = ", ".join(a["name"] for a in operation["arguments"])
    if values:
        values += "," if len(operation["arguments"]) == 1 else ""
    has_type = any(p.startswith("dtype") for p in signature)
    lines = ["", "", f"def {operation['name']}("]
    lines += [f"    {parameter}," for parameter in signature]
    lines += [") -> Any:"]
    lines += docstring(operation)
    may_be_alone = operation["one_result_alone"] and not operation["result_names"]
    run = "_some" if may_be_alone else "_all" if many else "_one"
    dtype = "dtype" if has_type else "None"
    if sources == "sources" and operation["has_indices"] and not operation["has_weights"]:
        lines.append("    sources = (x, *index) if isinstance(index, (list, tuple)) else (x, index)")
    if operation["has_offsets"]:
        lines.append("    ragged = None if offsets is None else True")
    call = f"    return {run}({number}, {sources}, out, {dtype}, ({values}))"
    lines += wrapped(call, "", "        ").split("\n") if len(call) > 108 else [call]
    return lines


def text_of(operations):
    lines = [HEADER.rstrip("\n")]
    for number, operation in enumerate(operations):
        lines += function(number, operation)
    names = ", ".join(f'"{operation["name"]}"' for operation in operations)
    lines += ["", "", wrapped(f"__all__ = [{names}]", "", "    "), ""]
    return "\n".join(lines)


def main(arguments):
    check = "--check" in arguments
    (path,) = [a for a in arguments if a != "--check"]
    # The extension is loaded by its path: the package itself imports the file that is written here.
    import importlib.util
    import pathlib

    for folder in sys.path:
        found = sorted(pathlib.Path(folder or ".").glob("tmajit/_core*.so"))
        if found:
            break
    else:
        sys.exit("no built tmajit/_core in PYTHONPATH")
    spec = importlib.util.spec_from_file_location("_core", found[0])
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    text = text_of(core.operations())
    if check:
        with open(path) as file:
            return 0 if file.read() == text else 1
    with open(path, "w") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
