"""Converts arguments of operations to numbers, texts and flat tuples of numbers, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _core

OPERATIONS = _core.operations()

#: Stands for an absent bound of a slice: a number beyond every extent.
FAR = 1 << 60


def _integers(given: Any) -> Any:
    return (given,) if hasattr(given, "__index__") else tuple(given)


def _to_triples(given: Any) -> tuple:
    numbers: list = []
    for one in (given,) if isinstance(given, slice) else given:
        step = 1 if one.step is None else one.step
        start, stop = (0, FAR) if step > 0 else (FAR, -FAR)
        numbers += [start if one.start is None else one.start, stop if one.stop is None else one.stop, step]
    return tuple(numbers)


def _from_triples(numbers: Sequence[int]) -> tuple:
    return tuple(slice(*numbers[i : i + 3]) for i in range(0, len(numbers), 3))


def _to_pairs(given: Any) -> tuple:
    numbers: list = []
    for one in given:
        pair = _integers(one)
        numbers += [pair[0], pair[-1]]
    return tuple(numbers)


def _from_pairs(numbers: Sequence[int]) -> tuple:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


#: By the argument's type, the functions that convert a caller's value to a flat one and back. None: the flat
#: value needs no conversion back. Values of other types are flat already.
_FLAT: dict[str, tuple[Callable, Callable | None]] = {
    "axes": (_integers, None),
    "extents": (_integers, None),
    "parts": (_integers, None),
    "numbers": (_integers, None),
    "slices": (_to_triples, _from_triples),
    "widths": (_to_pairs, _from_pairs),
}
_ENCODERS = [
    tuple(_FLAT.get(argument["type"], (None, None))[0] for argument in operation["arguments"])
    for operation in OPERATIONS
]
_DECODERS = [
    tuple(
        (i, _FLAT[argument["type"]][1])
        for i, argument in enumerate(operation["arguments"])
        if argument["type"] in ("slices", "widths")
    )
    for operation in OPERATIONS
]


def flattened(number: int, values: tuple) -> list:
    """The arguments of operation `number` as flat values, which are hashable."""
    return [
        encode(value) if encode is not None and value is not None else value
        for encode, value in zip(_ENCODERS[number], values, strict=True)
    ]


def restored(number: int, flat: Sequence[Any]) -> tuple:
    """The arguments from their flat values. Arguments beyond the end of `flat` are None."""
    values = [*flat, *[None] * (len(_ENCODERS[number]) - len(flat))]
    for i, decode in _DECODERS[number]:
        if values[i] is not None:
            values[i] = decode(values[i])
    return tuple(values)


def default_of(operation: dict[str, Any], argument: str) -> float:
    """The default of an operation's argument that is a number."""
    return float(next(one["default"] for one in operation["arguments"] if one["name"] == argument))


def named(number: int, values: tuple) -> dict[str, Any]:
    """The arguments by name."""
    names = [argument["name"] for argument in OPERATIONS[number]["arguments"]]
    return dict(zip(names, values, strict=True))


def divided_sources(number: int, sources: tuple | list, kinds: tuple[type, ...]) -> tuple[Any, Any]:
    """The tensors of operation `number` and the numbers after them; numbers have one of these types."""
    count = len(sources)
    if not OPERATIONS[number]["takes_numbers"]:
        return sources, ()
    while count and isinstance(sources[count - 1], kinds):
        count -= 1
    if any(isinstance(source, kinds) for source in sources[:count]):
        name = OPERATIONS[number]["name"]
        raise TypeError(f"{name}: a number before a tensor; numbers stand after all tensors")
    return sources[:count], sources[count:]


def present_sources(*sources: Any) -> tuple:
    """The sources that are not None."""
    return tuple(source for source in sources if source is not None)


def given_sources(*sources: Any) -> tuple:
    """A recipe's sources without the optional ones at the end that are None."""
    count = len(sources)
    while count and sources[count - 1] is None:
        count -= 1
    if any(source is None for source in sources[:count]):
        raise TypeError("an optional source is None, but one after it is given; give both")
    return sources[:count]
