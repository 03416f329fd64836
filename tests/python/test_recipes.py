"""Recipes against their definitions in NumPy, over random shapes, types, axes and optional sources."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tmajit
from support import SEED
from tmajit import _values

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
RECIPES = [operation["name"] for operation in _values.OPERATIONS if operation["sources"]]


class Draw:
    """Random sources of one call. The definitions compute with them in f64, with rows along the last axis."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        rank = int(rng.integers(1, 4))
        self.shape = tuple(2 * int(n) for n in rng.integers(1, 20, rank))
        self.axis = int(rng.integers(-rank, rank))
        self.dtype = np.dtype(FLOATS[rng.integers(len(FLOATS))])
        self.optional = int(rng.integers(3))
        self.length = self.shape[self.axis]

    def tensor(self, *shape: int) -> np.ndarray:
        return self.rng.normal(size=shape).astype(self.dtype)

    def rows(self, factor: float = 1) -> np.ndarray:
        shape = list(self.shape)
        shape[self.axis] = int(factor * shape[self.axis])
        return self.tensor(*shape)

    def weights(self, most: int) -> list[np.ndarray]:
        return [self.tensor(self.length) for _ in range(min(self.optional, most))]

    def labels(self) -> np.ndarray:
        kind = [np.int32, np.int64][self.rng.integers(2)]
        labels = self.rng.integers(-1, self.length + 1, self.shape).astype(kind)
        return labels.take(0, self.axis)

    def by_row(self) -> np.ndarray:
        return self.rows().take(0, self.axis).astype(np.float32)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def mean(x):
    return x.mean(-1, keepdims=True)


def rms_norm(x, weight=1.0, eps=1e-6):
    return x / np.sqrt(mean(x * x) + eps) * weight


def rms_norm_backward(dy, x, weight=1.0):
    r, g = 1 / np.sqrt(mean(x * x) + 1e-6), dy * weight
    return r * (g - x * r * r * mean(g * x))


def layer_norm(x, weight=1.0, bias=0.0):
    c = x - mean(x)
    return c / np.sqrt(mean(c * c) + 1e-5) * weight + bias


def layer_norm_backward(dy, x, weight=1.0):
    c, g = x - mean(x), dy * weight
    r = 1 / np.sqrt(mean(c * c) + 1e-5)
    return r * (g - mean(g) - c * r * mean(g * c * r))


def cross_entropy(logits, labels):
    legal = (labels >= 0) & (labels < logits.shape[-1])
    one_hot = (labels[..., None] == np.arange(logits.shape[-1])).astype(float)
    loss = np.where(legal, np.log(np.exp(logits).sum(-1)) - (logits * one_hot).sum(-1), 0)
    return loss, np.where(legal[..., None], softmax(logits) - one_hot, 0)


def silu(a):
    return a / (1 + np.exp(-a))


def silu_derivative(a):
    s = 1 / (1 + np.exp(-a))
    return s * (1 + a * (1 - s))


def turned(x, cos, sin):
    first, second = np.split(x, 2, -1)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def turned_pairs(x, cos, sin):
    result = np.empty_like(x)
    result[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * sin
    return result


def l2_normalize(x):
    return x / np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), 1e-12)


#: By recipe, the sources of a random call, and the results from sources in f64 whose rows are last.
DEFINITIONS = {
    "softmax": (lambda d: [d.rows()], softmax),
    "softmax_backward": (
        lambda d: [d.rows(), d.rows()],
        lambda dy, y: y * (dy - (dy * y).sum(-1, keepdims=True)),
    ),
    "log_softmax": (lambda d: [d.rows()], lambda x: np.log(softmax(x))),
    "log_softmax_backward": (
        lambda d: [d.rows(), d.rows()],
        lambda dy, y: dy - np.exp(y) * dy.sum(-1, keepdims=True),
    ),
    "logsumexp": (lambda d: [d.rows()], lambda x: np.log(np.exp(x).sum(-1))),
    "rms_norm": (lambda d: [d.rows(), *d.weights(1)], rms_norm),
    "rms_norm_backward": (lambda d: [d.rows(), d.rows(), *d.weights(1)], rms_norm_backward),
    "add_rms_norm": (
        lambda d: [d.rows(), d.rows(), *d.weights(1)],
        lambda x, residual, weight=1.0: (rms_norm(x + residual, weight), x + residual),
    ),
    "layer_norm": (lambda d: [d.rows(), *d.weights(2)], layer_norm),
    "layer_norm_backward": (lambda d: [d.rows(), d.rows(), *d.weights(1)], layer_norm_backward),
    "l2_normalize": (lambda d: [d.rows()], l2_normalize),
    "cross_entropy": (lambda d: [d.rows(), d.labels()], lambda x, labels: cross_entropy(x, labels)[0]),
    "cross_entropy_with_gradient": (lambda d: [d.rows(), d.labels()], cross_entropy),
    "cross_entropy_backward": (
        lambda d: [d.by_row(), d.rows(), d.labels()],
        lambda dloss, x, labels: dloss[..., None] * cross_entropy(x, labels)[1],
    ),
    "max_with_index": (lambda d: [d.rows()], lambda x: (x.max(-1), x.argmax(-1))),
    "dequantize_rows": (
        lambda d: [(20 * d.rows()).astype(np.int8), d.by_row()],
        lambda q, scale: q * scale[..., None],
    ),
    "swiglu": (
        lambda d: [d.rows(), d.rows()] if d.optional else [d.rows(2)],
        lambda a, b=None: (
            silu(a) * b if b is not None else silu(np.split(a, 2, -1)[0]) * np.split(a, 2, -1)[1]
        ),
    ),
    "swiglu_backward": (
        lambda d: [d.rows(), d.rows(), d.rows()],
        lambda dy, a, b: (dy * b * silu_derivative(a), dy * silu(a)),
    ),
    "rotary": (lambda d: [d.rows(), d.rows(0.5), d.rows(0.5)], turned),
}


def last(x, rank, axis):
    """A source in f64 or as integers, with its rows last."""
    moved = np.moveaxis(x, axis, -1) if x.ndim == rank else x
    return moved.astype(np.float64) if x.dtype.kind not in "iu" else moved


@pytest.mark.parametrize("name", DEFINITIONS)
def test_recipes_are_their_definitions(name):
    print(f"seed {SEED}")
    for n in range(12):
        draw = Draw(np.random.default_rng([SEED, n]))
        make, define = DEFINITIONS[name]
        sources = make(draw)
        found = getattr(tmajit, name)(*sources, axis=draw.axis)
        rank = len(draw.shape)
        # Sources of one dimension are weights, which lie along the rows.
        wanted = define(*(last(x, rank, draw.axis) for x in sources))
        found, wanted = (one if isinstance(one, tuple) else (one,) for one in (found, wanted))
        coarse = {2: 2e-2}.get(draw.dtype.itemsize, 1e-4)
        for ours, theirs in zip(found, wanted, strict=True):
            ours = last(ours, rank, draw.axis)
            np.testing.assert_allclose(
                ours, theirs, rtol=coarse, atol=coarse * 5, err_msg=f"{n} {draw.__dict__}"
            )


def test_every_recipe_has_a_definition():
    others = ["quantize_rows", "quantize_blocks", "dequantize_blocks", "quantize_tensor", "dequantize_tensor"]
    assert sorted([*DEFINITIONS, *others]) == sorted(RECIPES)


@pytest.mark.parametrize("to", ["e4m3", "e5m2", "i8"])
def test_quantised_rows_and_blocks(to):
    print(f"seed {SEED}")
    most, kind = {
        "e4m3": (448, ml_dtypes.float8_e4m3fn),
        "e5m2": (57344, ml_dtypes.float8_e5m2),
        "i8": (127, np.int8),
    }[to]
    for n in range(8):
        rng = np.random.default_rng([SEED, n])
        shape = (int(rng.integers(1, 9)), 16 * int(rng.integers(1, 9)))
        block = [0, 4, 16][rng.integers(3)]
        x = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3, (shape[0], 1))).astype(np.float32)
        x[0] = 0
        q, scale = tmajit.quantize_rows(x, block=block, to=to)
        assert (q.dtype, q.shape, scale.dtype) == (np.dtype(kind), shape, np.float32)
        blocks = x.reshape(shape[0], -1, block or shape[1])
        greatest = abs(blocks).max(-1)
        wanted = np.where(greatest == 0, 1, greatest / np.float32(most))
        np.testing.assert_allclose(scale.reshape(wanted.shape), wanted, rtol=1e-6)
        assert scale.shape == (wanted.shape if block else shape[:1])
        back = tmajit.dequantize_rows(q, scale, block=block)
        step = {"e4m3": 1 / 16, "e5m2": 1 / 8, "i8": 0}[to]
        error = abs(back - x).reshape(blocks.shape)
        bound = step * abs(blocks) + (0.51 if to == "i8" else 0.01) * wanted[..., None]
        assert (error <= bound).all()
        whole = tmajit.dequantize_rows(q, scale, block=block, dtype="bfloat16")
        assert whole.dtype == ml_dtypes.bfloat16


def test_quantised_square_blocks():
    print(f"seed {SEED}")
    for n in range(8):
        rng = np.random.default_rng([SEED, n])
        block = [1, 4, 24, None][n % 4]
        side = block or 128
        counts = tuple(int(k) for k in rng.integers(1, 4, 2))
        batch = (2,) if n > 3 else ()
        shape = (*batch, counts[0] * side, counts[1] * side)
        x = (rng.normal(size=shape) * 10.0 ** rng.integers(-3, 3)).astype(np.float32)
        q, scale = tmajit.quantize_blocks(x, block, "i8")
        blocks = x.reshape(*batch, counts[0], side, counts[1], side)
        wanted = abs(blocks).max((-3, -1)) / np.float32(127)
        assert (q.shape, scale.shape) == (shape, (*batch, *counts))
        np.testing.assert_allclose(scale, wanted, rtol=1e-6)
        back = tmajit.dequantize_blocks(q, scale, block=block)
        error = abs(back - x).reshape(blocks.shape)
        assert (error <= 0.51 * wanted[..., :, None, :, None]).all()


@pytest.mark.parametrize("shape", [(7,), (3, 40), (2, 3, 1, 5)])
def test_quantised_tensors(shape):
    print(f"seed {SEED}")
    x = np.random.default_rng([SEED, *shape]).normal(size=shape).astype(np.float32)
    q, scale = tmajit.quantize_tensor(x, to="i8")
    assert (q.shape, scale.shape, scale.dtype) == (shape, (), np.float32)
    np.testing.assert_allclose(scale, abs(x).max() / np.float32(127), rtol=1e-6)
    assert (abs(tmajit.dequantize_tensor(q, scale) - x) <= 0.51 * scale).all()
    by_column = x.T
    assert (tmajit.quantize_tensor(by_column, to="i8")[0].T == q).all()


def test_pairs_turn_neighbours():
    rng = np.random.default_rng(SEED)
    x, cos, sin = (rng.normal(size=shape).astype(np.float32) for shape in ((3, 5, 8), (5, 4), (4,)))
    np.testing.assert_allclose(
        tmajit.rotary(x, cos, sin, layout="pairs"), turned_pairs(x, cos, sin), rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(tmajit.rotary(x, cos, sin), turned(x, cos, sin), rtol=1e-5, atol=1e-5)
    given = x.copy()
    assert tmajit.rotary(given, cos, sin, layout="pairs", out=given) is given
    np.testing.assert_allclose(given, turned_pairs(x, cos, sin), rtol=1e-5, atol=1e-5)


def test_packed_swiglu_and_its_gradient():
    rng = np.random.default_rng(SEED)
    dy, both = (rng.normal(size=shape).astype(np.float32) for shape in ((4, 6), (4, 12)))
    a, b = np.split(both, 2, -1)
    wanted = np.concatenate(tmajit.swiglu_backward(dy, a, b), -1)
    np.testing.assert_array_equal(tmajit.swiglu_backward(dy, both), wanted)


def test_rows_of_infinities_are_pytorchs():
    x = np.array([[-np.inf, -np.inf], [np.inf, 0], [0, -np.inf]], np.float32)
    assert np.isnan(tmajit.softmax(x)[:2]).all() and (tmajit.softmax(x)[2] == [1, 0]).all()
    assert (tmajit.logsumexp(x) == [-np.inf, np.inf, 0]).all()


def test_types_of_results():
    x = np.ones((2, 4), ml_dtypes.bfloat16)
    assert tmajit.softmax(x).dtype == x.dtype
    assert tmajit.softmax(x, dtype="float32").dtype == np.float32
    assert tmajit.logsumexp(x).dtype == np.float32
    assert [y.dtype for y in tmajit.max_with_index(x)] == [x.dtype, np.int64]
    loss, gradient = tmajit.cross_entropy_with_gradient(x, np.zeros(2, np.int64))
    assert (loss.dtype, gradient.dtype) == (np.float32, x.dtype)


def test_errors():
    x = np.ones((2, 4), np.float32)
    with pytest.raises(tmajit.Error, match="labels has the shape 4; legal is 2 or 2x1, as logits has 2x4"):
        tmajit.cross_entropy(x, np.zeros(4, np.int64))
    with pytest.raises(tmajit.Error, match="softmax: axis 2: there is no dimension 2"):
        tmajit.softmax(x, axis=2)
    with pytest.raises(TypeError, match="an optional source is None, but one after it is given"):
        tmajit.layer_norm(x, None, np.ones(4, np.float32))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'labels'"):
        tmajit.cross_entropy(x)
    with pytest.raises(
        tmajit.Error, match="quantize_rows: to fp8: there is no such choice; legal are e4m3, e5m2, i8"
    ):
        tmajit.quantize_rows(x, to="fp8")
