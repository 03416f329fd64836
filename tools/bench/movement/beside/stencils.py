"""Stencils in the words of any array library: an array padded as the boundary says, and shifted views of it."""

import re

_CALL = re.compile(r"\bx\(([^)]*)\)")


def expression(text):
    """A function of `neighbour`, itself a function of offsets, for a stencil's text in C++."""
    text = re.sub(r"(\d)f\b", r"\1", text)
    code = compile(re.sub(r"\bx\b(?!\()", "x()", text), "stencil", "eval")
    return lambda neighbour: eval(code, {"__builtins__": {}}, {"x": neighbour})


def offsets(text):
    """The offsets of all calls: [(-1, 0), (1, 0), ...]."""
    return [tuple(int(number) for number in call.split(",")) for call in _CALL.findall(text)]


def dimensions(case):
    """The dimensions that the offsets are along."""
    rank, count = len(case["sources"][0]["shape"]), len(offsets(case["arguments"]["expression"])[0])
    return [d % rank for d in case["arguments"].get("dims", range(rank - count, rank))]


def reach(case):
    """How far the calls reach along dimensions(), to either side."""
    text = case["arguments"]["expression"]
    return [max(abs(call[k]) for call in offsets(text)) for k in range(len(dimensions(case)))]


def places(extent, reach, boundary):
    """The elements that stand at -reach ... extent + reach - 1 of a dimension, where all of them are elements."""
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
