"""The recipes of docs/rowwise.md against NumPy."""

import re
from pathlib import Path

import numpy as np
import pytest

import tmajit

PAGE = Path(__file__).parents[2] / "docs" / "rowwise.md"
RANDOM = np.random.default_rng(1)
X, RESIDUAL = (RANDOM.standard_normal((5, 48)).astype(np.float32) for _ in range(2))
WEIGHTS, BIAS = (RANDOM.standard_normal(48).astype(np.float32) for _ in range(2))
LABELS = RANDOM.integers(0, 48, (5, 1))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def rms_norm(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


ONE_HOT = np.eye(48)[LABELS[:, 0]]
SCALE = np.abs(X).max(-1) / 448
RECIPES = {
    "softmax": ([X], [softmax(X)]),
    "log-softmax": ([X], [np.log(softmax(X))]),
    "RMSNorm with weights": ([X, WEIGHTS], [rms_norm(X) * WEIGHTS]),
    "LayerNorm with weights": ([X, WEIGHTS, BIAS], [layer_norm(X) * WEIGHTS + BIAS]),
    "RMSNorm of a sum": ([X, RESIDUAL, WEIGHTS], [X + RESIDUAL, rms_norm(X + RESIDUAL) * WEIGHTS]),
    "cross-entropy": (
        [X, LABELS],
        [-np.log((softmax(X) * ONE_HOT).sum(-1)), softmax(X) - ONE_HOT],
    ),
    "fp8 with a scale for each row": ([X], [X / SCALE[:, None], SCALE]),
    "maximum and its index": ([X], [X.max(-1), X.argmax(-1)]),
}


def steps_of(recipe):
    """The steps in the first row of the page's table that begins with these words."""
    return re.search(rf"^\| {re.escape(recipe)}.*\| `(.+)` \|$", PAGE.read_text(), re.MULTILINE)[1]


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes(recipe):
    sources, wanted = RECIPES[recipe]
    results = tmajit.rowwise(sources, steps_of(recipe))
    for result, expected in zip(results, wanted, strict=True):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_rows_of_the_caller_s_axes_into_the_caller_s_arrays():
    totals, shares = np.empty(48, np.float32), np.empty((5, 48), np.float32)
    tmajit.rowwise(X, "y0 = sum(x); y1 = x / y0", axes=0, out=[totals, shares])
    np.testing.assert_allclose(totals, X.sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(shares, X / X.sum(0), rtol=1e-3)


def test_wrong_steps_say_what_is_legal():
    with pytest.raises(tmajit.Error, match=r'step "x = 3": x is a source; choose another name'):
        tmajit.rowwise(X, "x = 3; y = x")
    with pytest.raises(tmajit.Error, match="each y needs one"):
        tmajit.rowwise(X, "y0 = x; y1 = x", out=[np.empty_like(X)])
