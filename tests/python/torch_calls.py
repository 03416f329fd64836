"""Random calls of every operation on PyTorch tensors, with PyTorch's own result of each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

import tmajit
from operation_cases import as_list
from support import random_shape

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
MOVED = [*INTEGERS, *FLOATS, torch.float8_e4m3fn, torch.float8_e5m2, torch.bool, torch.complex64]
EXACT = [torch.int32, torch.int64, torch.float32, torch.float64]  # sums of small numbers are exact
SAME_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
NUMPY_FLOATS = [torch.float16, torch.float32, torch.float64]
REVERSIBLE = [*INTEGERS, *NUMPY_FLOATS, torch.bool, torch.complex64]  # types that NumPy has
MAX_ELEMENTS = 1 << 20


class Call(NamedTuple):
    """A call, and the function of PyTorch that must give the same results. A graph can replay both."""

    name: str
    sources: list[Any]
    ours: Any  # a function of `sources`
    theirs: Any  # a function of `tensors`
    tensors: list[torch.Tensor]  # equal to `sources`, some of which are arrays with negative strides

    def __str__(self) -> str:
        views = [f"{tuple(x.shape)} by {tuple(x.stride())} {x.dtype}" for x in self.tensors]
        return f"{self.name} of {', '.join(views)}"

    def check(self, found=None) -> None:
        """Runs the call, unless its results are given, and compares type, device, shape and bits."""
        found = self.ours(*self.sources) if found is None else found
        wanted = self.theirs(*self.tensors)
        for one, other in zip(as_list(found), as_list(wanted), strict=True):
            assert type(one) is type(self.sources[0]), (str(self), type(one))
            one = one if isinstance(one, torch.Tensor) else torch.from_dlpack(one)
            described = [(x.dtype, x.device, tuple(x.shape)) for x in (one, other)]
            assert described[0] == described[1], (str(self), described)
            assert torch.equal(as_bits(one), as_bits(other)), str(self)


def as_bits(x: torch.Tensor) -> torch.Tensor:
    """The tensor with integers of the same size in place of its elements."""
    return x if x.dtype in INTEGERS else x.view(SAME_SIZE[x.element_size()])


class Random:
    """Draws tensors and calls. `arrays` returns an array on a tensor's memory, for negative strides."""

    def __init__(self, seed: int, place: str, arrays=None, max_elements: int = MAX_ELEMENTS):
        self.rng = np.random.default_rng(seed)
        self.place = place
        self.arrays = arrays
        self.max_elements = max_elements

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def one_of(self, choices):
        return choices[self.integer(0, len(choices))]

    def shape(self, rank: int) -> tuple[int, ...]:
        """A shape of extents below 9, one in three times with longer ones."""
        shape = list(random_shape(self.rng, rank))
        if rank and self.integer(0, 3) == 0:
            left = self.max_elements // max(1, int(np.prod(shape)))
            shape[self.integer(0, rank)] *= max(1, int(left ** self.rng.random()))
        return tuple(shape)

    def numbers(self, shape, dtype) -> torch.Tensor:
        """A dense tensor of small whole numbers."""
        return torch.from_numpy(self.rng.integers(0, 8, shape).astype(np.float32)).to(self.place).to(dtype)

    def any_bits(self, shape, dtype) -> torch.Tensor:
        """A dense tensor of random bits; of random truth values for bool."""
        size = torch.empty(0, dtype=dtype).element_size()
        high = 2 if dtype == torch.bool else 1 << (8 * size - 1)
        integers = torch.from_numpy(self.rng.integers(0 if dtype == torch.bool else -high, high, shape))
        return integers.to(SAME_SIZE[size]).to(self.place).view(dtype)

    def tensor(self, shape, dtype, values=None) -> torch.Tensor:
        """A tensor of that shape with permuted dimensions, gaps and dimensions of stride 0."""
        rank = len(shape)
        order = self.rng.permutation(rank)
        steps = [self.one_of([1, 1, 1, 2]) for _ in shape]
        whole = (values or self.numbers)(tuple(shape[d] * steps[d] for d in order), dtype)
        view = whole.permute(tuple(int(d) for d in np.argsort(order)))
        view = view[tuple(slice(None, None, step) for step in steps)]
        for d in range(rank):
            if self.integer(0, 8) == 0:
                view = view.narrow(d, 0, 1).expand(shape)
        return view

    def reversed(self, x: torch.Tensor):
        """The tensor, or one time in four an array with negative strides; and a tensor equal to it."""
        if self.arrays is None or x.ndim == 0 or x.dtype not in REVERSIBLE or self.integer(0, 4) != 0:
            return x, x
        axes = [d for d in range(x.ndim) if self.integer(0, 2)]
        parts = tuple(slice(None, None, -1 if d in axes else 1) for d in range(x.ndim))
        return self.arrays(x)[parts], as_bits(x).flip(axes).view(x.dtype)

    def call(self) -> Call:
        return self.one_of(CALLS)(self)

    def moved(self, name, ours, theirs, rank=None) -> Call:
        """A call that moves the elements of one tensor: PyTorch moves integers of the same size."""
        shape = self.shape(self.integer(0, 9) if rank is None else rank)
        given, same = self.reversed(self.tensor(shape, self.one_of(MOVED), self.any_bits))
        return Call(
            name, [given], ours, lambda x: [y.view(x.dtype) for y in as_list(theirs(as_bits(x)))], [same]
        )


def permute(random: Random) -> Call:
    rank = random.integer(0, 9)
    axes = tuple(int(a) for a in random.rng.permutation(rank))
    return random.moved(f"permute {axes}", lambda x: tmajit.permute(x, axes), lambda x: x.permute(axes), rank)


def flip(random: Random) -> Call:
    rank = random.integer(0, 9)
    axes = tuple(d for d in range(rank) if random.integer(0, 2))
    return random.moved(f"flip {axes}", lambda x: tmajit.flip(x, axes), lambda x: x.flip(axes), rank)


def slices(random: Random) -> Call:
    rank = random.integer(0, 9)
    parts = tuple(
        slice(random.integer(0, 2), random.integer(2, 9), random.integer(1, 3)) for _ in range(rank)
    )
    return random.moved(f"slice {parts}", lambda x: tmajit.slice(x, parts), lambda x: x[parts], rank)


def pad(random: Random) -> Call:
    rank = random.integer(1, 9)
    widths = tuple((random.integer(0, 3), random.integer(0, 3)) for _ in range(rank))
    flat = [n for width in reversed(widths) for n in width]
    return random.moved(
        f"pad {widths}", lambda x: tmajit.pad(x, widths), lambda x: functional.pad(x, flat), rank
    )


def broadcast(random: Random) -> Call:
    rank, extent = random.integer(0, 8), random.integer(1, 5)
    return random.moved(f"broadcast {extent}", lambda x: tmajit.broadcast(x, (extent, *x.shape)),
                        lambda x: x.expand(extent, *x.shape), rank)  # fmt: skip


def concat(random: Random) -> Call:
    rank = random.integer(1, 9)
    axis = random.integer(-rank, rank)
    return random.moved(
        f"concat {axis}", lambda x: tmajit.concat([x, x], axis), lambda x: torch.cat([x, x], axis), rank
    )


def stack(random: Random) -> Call:
    rank = random.integer(0, 8)
    axis = random.integer(-rank - 1, rank + 1)
    return random.moved(f"stack {axis}", lambda x: tmajit.concat([x, x, x], axis, new_axis=True),
                        lambda x: torch.stack([x, x, x], axis), rank)  # fmt: skip


def split(random: Random) -> Call:
    rank = random.integer(1, 9)

    def parts(x):
        return (x.shape[0] // 2, x.shape[0] - x.shape[0] // 2)

    return random.moved(
        "split", lambda x: tmajit.split(x, 0, parts(x)), lambda x: torch.split(x, parts(x)), rank
    )


def unstack(random: Random) -> Call:
    rank = random.integer(1, 9)
    axis = random.integer(-rank, rank)
    return random.moved(f"unstack {axis}", lambda x: tmajit.split(x, axis, drop_axis=True),
                        lambda x: torch.unbind(x, axis), rank)  # fmt: skip


def copy(random: Random) -> Call:
    return random.moved("copy", tmajit.copy, lambda x: x)


def copy_ragged(random: Random) -> Call:
    return random.moved("copy_ragged", lambda x: tmajit.copy_ragged([x, x]), lambda x: [x, x])


def tiles(random: Random) -> Call:
    x = random.numbers((random.integer(1, 99), 16 * random.integer(1, 30)), random.one_of(EXACT))
    return Call("tiles", [x], lambda x: tmajit.tiles(x, "copy"), lambda x: x, [x])


def im2col(random: Random) -> Call:
    shape = (random.integer(1, 4), random.integer(3, 9), random.integer(3, 9), random.integer(1, 9))
    filter = (random.integer(1, 4), random.integer(1, 4))
    x = random.numbers(shape, torch.float32)

    def theirs(x):
        columns = functional.unfold(x.permute(0, 3, 1, 2).contiguous(), filter)
        columns = columns.reshape(x.shape[0], x.shape[3], *filter, -1).permute(0, 4, 2, 3, 1)
        return columns.reshape(-1)

    return Call(f"im2col {filter}", [x], lambda x: tmajit.im2col(x, filter).reshape(-1), theirs, [x])


def cast(random: Random) -> Call:
    to = random.one_of([*INTEGERS, *FLOATS, torch.float8_e4m3fn, torch.float8_e5m2])
    x = random.tensor(random.shape(random.integer(0, 9)), random.one_of([*INTEGERS, *FLOATS]))
    return Call(f"cast {to}", [x], lambda x: tmajit.cast(x, to), lambda x: x.to(to), [x])


def map_two(random: Random) -> Call:
    dtype = random.one_of(EXACT)
    shape = random.shape(random.integer(0, 9))
    x, y = random.tensor(shape, dtype), random.tensor(shape, dtype)
    return Call("map", [x, y], lambda x, y: tmajit.map("x0 * x1 + 1", x, y), lambda x, y: x * y + 1, [x, y])


def stencil(random: Random) -> Call:
    x = random.tensor((random.integer(1, 40), random.integer(1, 40)), random.one_of(EXACT))

    def theirs(x):
        last = torch.arange(x.shape[1], device=x.device)
        right = x.index_select(1, (last + 1).clamp(max=x.shape[1] - 1))
        return right - x.index_select(1, (last - 1).clamp(min=0))

    return Call(
        "stencil", [x], lambda x: tmajit.stencil("x(0,1) - x(0,-1)", x, boundary="clamp"), theirs, [x]
    )


def reduce(random: Random) -> Call:
    rank = random.integer(1, 9)
    dtype = random.one_of(EXACT)
    axes = tuple(d for d in range(rank) if random.integer(0, 2)) or (0,)
    op, theirs = random.one_of([("sum", torch.sum), ("max", torch.amax), ("min", torch.amin)])
    x = random.tensor(random.shape(rank), dtype)
    return Call(f"{op} {axes}", [x], lambda x: tmajit.reduce(x, op, axes, dtype=dtype),
                lambda x: theirs(x, axes).to(dtype), [x])  # fmt: skip


def reduce_into(random: Random) -> Call:
    x = random.numbers(
        (random.integer(1, 99), 16 * random.integer(1, 30)), random.one_of([torch.int32, torch.float32])
    )
    return Call(
        "reduce_into", [x], lambda x: tmajit.reduce_into(x, "add", torch.ones_like(x)), lambda x: x + 1, [x]
    )


def scan(random: Random) -> Call:
    rank = random.integer(1, 9)
    axis = random.integer(-rank, rank)
    dtype = random.one_of(EXACT)
    x = random.tensor(random.shape(rank), dtype)
    return Call(f"cumsum {axis}", [x], lambda x: tmajit.scan(x, "sum", axis, dtype=dtype),
                lambda x: torch.cumsum(x, axis, dtype=dtype), [x])  # fmt: skip


def convolution(random: Random) -> Call:
    channels, filters = random.integer(1, 9), random.integer(1, 9)
    x = random.numbers(
        (random.integer(1, 4), random.integer(3, 9), random.integer(3, 9), channels), torch.float32
    )
    w = random.numbers((filters, random.integer(1, 4), random.integer(1, 4), channels), torch.float32)

    def theirs(x, w):
        images, weights = (t.permute(0, 3, 1, 2).double().cpu() for t in (x, w))
        return functional.conv2d(images, weights).permute(0, 2, 3, 1).float().to(x.device).reshape(-1)

    return Call("convolution", [x, w], lambda x, w: tmajit.convolution(x, w).reshape(-1), theirs, [x, w])


MOVES = [permute, flip, slices, pad, broadcast, concat, stack, split, unstack, copy, copy_ragged]
# Each entry is drawn with the same probability: an operation that is listed twice is drawn twice as often.
CALLS = [
    *MOVES,
    *MOVES,
    tiles,
    im2col,
    cast,
    cast,
    map_two,
    stencil,
    reduce,
    reduce,
    reduce_into,
    scan,
    scan,
    convolution,
]
