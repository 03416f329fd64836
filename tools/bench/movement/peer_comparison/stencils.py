"""Stencils for any array library, computed from shifted views of an array that is padded according to the boundary."""

import re

_CALL = re.compile(r"\bx\(([^)]*)\)")


def expression(text):
    """A stencil's C++ text as a Python function. Its argument, neighbour(*offsets), returns a shifted view."""
    text = re.sub(r"(\d)f\b", r"\1", text)
    code = compile(re.sub(r"\bx\b(?!\()", "x()", text), "stencil", "eval")
    return lambda neighbour: eval(code, {"__builtins__": {}}, {"x": neighbour})


def offsets(text):
    """The offsets of all calls: [(-1, 0), (1, 0), ...]."""
    return [tuple(int(number) for number in call.split(",")) for call in _CALL.findall(text)]


def dimensions(case):
    """The dimensions to which the offsets apply."""
    rank, count = len(case["sources"][0]["shape"]), len(offsets(case["arguments"]["expression"])[0])
    return [d % rank for d in case["arguments"].get("dims", range(rank - count, rank))]


def reach(case):
    """The largest absolute offset along each of dimensions()."""
    text = case["arguments"]["expression"]
    return [max(abs(call[k]) for call in offsets(text)) for k in range(len(dimensions(case)))]


def boundary_indices(extent, reach, boundary):
    """The indices of the elements at -reach ... extent + reach - 1 of a dimension, for boundaries that repeat elements."""
    inside = range(-reach, extent + reach)
    if boundary == "clamp":
        return [min(max(at, 0), extent - 1) for at in inside]
    if boundary == "wrap":
        return [at % extent for at in inside]
    period = 2 * (extent - 1) or 1
    return [min(at % period, -at % period) for at in inside]


def formula(case, pad):
    """A function of the source that computes the stencil. pad(array, {dimension: reach}) pads both sides."""
    dims, reaches, compute = dimensions(case), reach(case), expression(case["arguments"]["expression"])
    shape = case["sources"][0]["shape"]

    def stencil(a):
        padded = pad(a, dict(zip(dims, reaches)))

        def neighbour(*offset):
            at = dict(zip(dims, zip(reaches, offset or [0] * len(dims))))
            return padded[tuple(slice(sum(at[d]), sum(at[d]) + shape[d]) if d in at else slice(None)
                                for d in range(len(shape)))]

        return compute(neighbour)

    return stencil
