"""Every function has a signature, a docstring and types."""

from __future__ import annotations

import inspect

import tmajit
from tmajit import _core, _operations


def test_every_operation_is_a_function():
    for described in _core.operations():
        function = getattr(tmajit, described["name"])
        parameters = inspect.signature(function).parameters
        assert "out" in parameters
        for argument in described["arguments"]:
            # The parameter `offsets` tells whether bags are ragged.
            follows = described["has_offsets"] and argument["name"] == "ragged"
            assert ("offsets" if follows else argument["name"]) in parameters
            assert argument["sentence"].split()[0] in function.__doc__
        for parameter in parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty
        assert "Raises:" in function.__doc__
        assert "Types:" in function.__doc__


def test_every_public_name_has_a_docstring():
    for name in [*_operations.__all__, "sum", "argmax", "cumsum", "plan", "kernel", "check", "rules", "Plan"]:
        assert inspect.getdoc(getattr(tmajit, name)), name
    for name in ("Kernel", "TensorMap", "Report", "Finding", "Error", "SpecError", "CompileError"):
        assert inspect.getdoc(getattr(tmajit, name)), name
