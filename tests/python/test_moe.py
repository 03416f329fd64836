"""moe_permute against NumPy's stable argsort."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit
from support import SEED

ABSENT = -(2**31)


def sorted_by_numpy(x, experts, count, alignment):
    """rows without padding as a dictionary by position, positions, counts and offsets."""
    ids = experts.astype(object).ravel()  # of any integer type, without wrapping
    legal = np.array([0 <= one < count for one in ids], bool)
    keys = np.where(legal, ids, count).astype(np.int64)
    counts = np.bincount(keys, minlength=count + 1)[:count]
    offsets = np.concatenate([[0], np.cumsum(-(-counts // alignment) * alignment)])
    order = keys.argsort(kind="stable")[: counts.sum()]
    first = np.concatenate([[0], np.cumsum(counts)])[keys[order]]
    positions = np.full(ids.size, ABSENT, np.int64)
    positions[order] = offsets[keys[order]] + np.arange(order.size) - first
    slots = experts[0].size if len(experts) else 1
    return {p: x[i // slots] for i, p in enumerate(positions) if p != ABSENT}, positions, counts, offsets


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.float64, np.complex64, np.bool_])
def test_sorts_as_numpy_does(dtype, kind):
    rng = np.random.default_rng(SEED)
    for tokens, slots, count, row, alignment in (
        (1, 1, 1, (3,), 1),
        (7, 2, 5, (16,), 4),
        (300, 8, 32, (6,), 128),
        (40, None, 7, (2, 5), 1),
        (50, 3, 1000, (1,), 8),
    ):
        x = rng.integers(0, 100, (tokens, *row)).astype(dtype)
        low = -2 if np.issubdtype(kind, np.signedinteger) else 0
        experts = rng.integers(low, count + 3, (tokens,) if slots is None else (tokens, slots)).astype(kind)
        rows, positions, counts, offsets = tmajit.moe_permute(x, experts, count, alignment)
        wanted, places, numbers, first = sorted_by_numpy(x, experts, count, alignment)
        assert rows.dtype == x.dtype
        assert positions.dtype == counts.dtype == offsets.dtype == np.int32
        np.testing.assert_array_equal(positions.ravel(), places)
        np.testing.assert_array_equal(counts, numbers)
        np.testing.assert_array_equal(offsets, first)
        for position, token in wanted.items():
            np.testing.assert_array_equal(rows[position], token)


def test_destinations_keep_padding_and_may_be_short():
    rng = np.random.default_rng(SEED)
    x = rng.random((20, 5), np.float32)
    experts = rng.integers(0, 4, (20, 2), np.int32)
    for capacity in (0, 13, 100):
        rows = np.full((capacity, 5), -1, np.float32)
        positions = np.zeros((2, 20), np.int32).T
        counts, offsets = np.zeros(4, np.int32), np.zeros(5, np.int32)
        out = (rows, positions, counts, offsets)
        assert tmajit.moe_permute(x, experts, 4, 16, out=out) is out
        wanted, places, numbers, first = sorted_by_numpy(x, experts, 4, 16)
        np.testing.assert_array_equal(positions.ravel(), np.where(places < capacity, places, ABSENT))
        np.testing.assert_array_equal(counts, numbers)
        np.testing.assert_array_equal(offsets, first)
        for position in range(capacity):
            np.testing.assert_array_equal(rows[position], wanted.get(position, np.full(5, -1)))


def test_the_inverse_is_a_gather():
    rng = np.random.default_rng(SEED)
    x = rng.random((30, 8), np.float32)
    experts = rng.permuted(np.tile(np.arange(6), (30, 1)), axis=1)[:, :3]
    rows, positions, _, _ = tmajit.moe_permute(x, experts, 6, 8)
    np.testing.assert_array_equal(tmajit.gather(rows, positions), np.repeat(x[:, None], 3, 1))


def test_illegal_calls_are_refused():
    x, experts = np.zeros((4, 3), np.float32), np.zeros((4, 2), np.int64)
    for call, words in (
        (lambda: tmajit.moe_permute(x, experts[:3], 2), "tokens x slots"),
        (lambda: tmajit.moe_permute(x[:, 0], experts, 2), "tokens x a row"),
        (lambda: tmajit.moe_permute(x, experts, 0), "0 experts"),
        (lambda: tmajit.moe_permute(x, experts, 4097), "4097 experts"),
        (lambda: tmajit.moe_permute(x, experts, 2, 0), "an alignment of 0"),
    ):
        with pytest.raises(tmajit.ArgumentError, match=words):
            call()
    with pytest.raises(tmajit.SpecError, match="integers of 4 or 8 bytes"):
        tmajit.moe_permute(x, experts.astype(np.float32), 2)
