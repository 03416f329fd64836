"""Operations that move elements, compared with NumPy bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit
from support import MOVED, SEED, assert_same, random_array, random_shape, random_view


def permute(rng, x):
    axes = tuple(int(a) for a in rng.permutation(x.ndim))
    return tmajit.permute(x, axes), x.transpose(axes)


def flip(rng, x):
    axes = tuple(int(a) for a in np.flatnonzero(rng.integers(0, 2, x.ndim)))
    return tmajit.flip(x, axes), np.flip(x, axes)


def slices(rng, x):
    parts = []
    for extent in x.shape:
        start, stop = sorted(int(n) for n in rng.integers(0, extent + 1, 2))
        parts.append(slice(start, stop, int(rng.integers(1, 3))))
    return tmajit.slice(x, tuple(parts)), x[tuple(parts)]


def pad(rng, x):
    widths = tuple((int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in x.shape)
    return tmajit.pad(x, widths), np.pad(x, widths) if x.ndim else x


def broadcast(rng, x):
    if x.ndim == 8:
        return tmajit.broadcast(x, x.shape), x
    shape = (int(rng.integers(1, 4)), *x.shape)
    return tmajit.broadcast(x, shape), np.broadcast_to(x, shape)


def concat(rng, x):
    if x.ndim == 0:
        return tmajit.copy(x), x
    axis = int(rng.integers(-x.ndim, x.ndim))
    return tmajit.concat([x, x], axis), np.concatenate([x, x], axis)


def stack(rng, x):
    if x.ndim == 8:
        return tmajit.copy(x), x
    axis = int(rng.integers(-x.ndim - 1, x.ndim + 1))
    return tmajit.concat([x, x, x], axis, new_axis=True), np.stack([x, x, x], axis)


def split(rng, x):
    if x.ndim == 0 or x.shape[0] < 2:
        return tmajit.copy(x), x
    first, second = tmajit.split(x, 0, (1, x.shape[0] - 1))
    assert_same(first, np.ascontiguousarray(x[:1]))
    return second, x[1:]


def unstack(rng, x):
    if x.ndim == 0:
        return tmajit.copy(x), x
    axis = int(rng.integers(-x.ndim, x.ndim))
    made = tmajit.split(x, axis, drop_axis=True)
    assert len(made) == x.shape[axis]
    return made[-1], x.take(-1, axis)


def copy_ragged(rng, x):
    (made,) = tmajit.copy_ragged([x])
    return made, x


@pytest.mark.parametrize(
    "operation", [permute, flip, slices, pad, broadcast, concat, stack, split, unstack, copy_ragged]
)
def test_random_moves(operation):
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for rank in range(9):
        for _ in range(2):
            dtype = MOVED[rng.integers(len(MOVED))]
            x = random_view(rng, random_shape(rng, rank), dtype)
            found, wanted = operation(rng, x)
            assert_same(
                found, np.ascontiguousarray(wanted).reshape(wanted.shape), (rank, dtype, x.shape, x.strides)
            )


@pytest.mark.parametrize("dtype", MOVED, ids=lambda dtype: np.dtype(dtype).name)
def test_every_type_is_moved(dtype):
    x = random_array(np.random.default_rng(SEED), (5, 7), dtype)
    assert_same(tmajit.permute(x, (1, 0)), np.ascontiguousarray(x.T))


@pytest.mark.parametrize("name", ["f32_ftz", "tf32", "tf32_ftz"])
def test_casts_to_types_that_numpy_lacks(name):
    x = np.array([0.0, 1.5, -3.0, 2.0**100], np.float32)
    assert_same(tmajit.cast(x, name), x)


def test_a_batch_of_different_sizes():
    sources = [np.arange(n * 4, dtype=np.float32).reshape(n, 4) for n in (1, 5, 3)]
    for made, source in zip(tmajit.copy_ragged(sources), sources, strict=True):
        assert_same(made, source)


def test_out_is_written_and_returned():
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    whole = np.full((4, 7), -1, np.int16)
    out = whole[:, ::2][:, :3]
    assert tmajit.permute(x, (1, 0), out=out) is out
    assert_same(np.ascontiguousarray(out), np.ascontiguousarray(x.T))
    assert (whole[:, 1::2] == -1).all()
    assert (whole[:, 6] == -1).all()


def test_read_only_sources_are_read():
    x = np.arange(6)
    x.flags.writeable = False
    assert_same(tmajit.copy(x), x)
    with pytest.raises(tmajit.ArgumentError, match="read-only"):
        tmajit.copy(np.arange(6), out=x)


def test_tensors_without_elements():
    x = np.empty((0, 3), np.float32)
    assert tmajit.permute(x, (1, 0)).shape == (3, 0)


def test_halves_of_one_matrix():
    x = np.arange(24, dtype=np.uint8).reshape(4, 6)
    wanted = x[:, :3].copy()
    tmajit.copy(x[:, :3], out=x[:, 3:])
    assert_same(np.ascontiguousarray(x[:, 3:]), wanted)
    with pytest.raises(tmajit.SpecError) as caught:
        tmajit.copy(x[:, :3], out=x[:, 1:4])
    assert caught.value.rule
    assert caught.value.violations[0].legal == caught.value.legal


def test_equal_calls_take_one_plan_and_other_memory():
    for n in range(5):
        x = np.arange(30, dtype=np.float32).reshape(5, 6) + n
        assert_same(tmajit.permute(x, (1, 0)), np.ascontiguousarray(x.T))


def test_split_without_parts_keeps_each_index():
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    parts = tmajit.split(x, 1)
    assert [part.shape for part in parts] == [(3, 1)] * 4
    assert (np.concatenate(parts, 1) == x).all()
    with pytest.raises(tmajit.ArgumentError, match="parts 2,2 of a dropped axis; legal: 1 for each index"):
        tmajit.split(x, 1, (2, 2), drop_axis=True)


def test_split_into_more_parts_than_a_tensor_has_dimensions():
    x = np.arange(60, dtype=np.int32).reshape(20, 3)
    lengths = [1, 0, 2, 1, 3, 1, 1, 4, 2, 5]
    parts = tmajit.split(x, 0, lengths)
    assert [len(part) for part in parts] == lengths
    assert (np.concatenate(parts) == x).all()
