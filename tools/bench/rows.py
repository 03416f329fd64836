#!/usr/bin/env python3
"""Random softmaxes, norms and cross-entropies by tmajit's recipes, timed on a GPU beside other libraries and a copy.

Softmax, RMSNorm, LayerNorm, RMSNorm of a sum, and the losses of cross-entropy; the sum is stored, too. Tensors of
2^24 to 2^27 elements in bf16 or f32; rows of 32 to 262,144 elements, six in ten rounded down to a multiple of 64.
Each result is compared with PyTorch's in f64. --lengths draws rows of other lengths; a tensor has at least one row.

torch.compile compiles each shape anew. FlashInfer has softmax of f32 and norms of bf16. vLLM has RMSNorm, also of a
sum. TransformerEngine has RMSNorm and LayerNorm without a sum. Weights of LayerNorm are f32 for QuACK and FlashInfer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from peer_times import NotApplicableError, compiled, difference, start, tmajit, torch

SOFTMAX, RMS_NORM, LAYER_NORM, ADD_RMS_NORM, CROSS_ENTROPY = range(5)
NAMES = ("softmax", "RMSNorm", "LayerNorm", "sum and RMSNorm", "cross-entropy")


def softmax(x: Any) -> Any:
    return torch.softmax(x, -1)


def rms_norm(x: Any, w: Any) -> Any:
    return torch.nn.functional.rms_norm(x, w.shape, w, 1e-6)


def layer_norm(x: Any, w: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, w.shape, w, bias, 1e-5)


def add_rms_norm(x: Any, residual: Any, w: Any) -> tuple:
    s = x + residual
    return rms_norm(s, w), s


def cross_entropy(x: Any, labels: Any) -> Any:
    return torch.nn.functional.cross_entropy(x, labels, reduction="none")


EAGER = (softmax, rms_norm, layer_norm, add_rms_norm, cross_entropy)


def ours(kind: int, sources: list, out: list) -> Callable:
    return (
        lambda: tmajit.softmax(*sources, out=out[0]),
        lambda: tmajit.rms_norm(*sources, eps=1e-6, out=out[0]),
        lambda: tmajit.layer_norm(*sources, eps=1e-5, out=out[0]),
        lambda: tmajit.add_rms_norm(*sources, eps=1e-6, out=out),
        lambda: tmajit.cross_entropy(*sources, out=out[0]),
    )[kind]


def by_triton(kind: int, sources: list) -> Callable:
    import triton_rows

    if kind == CROSS_ENTROPY:
        raise NotApplicableError("the programs of Triton's tutorials are softmax and norms")
    y, s = torch.empty_like(sources[0]), torch.empty_like(sources[0])
    names = ((), ("w",), ("w", "bias"), ("r", "w"))[kind]
    operands = dict(zip(names, sources[1:], strict=True))

    def run() -> Any:
        triton_rows.launch(kind, y, sources[0], s=s, **operands)
        return (y, s) if kind == ADD_RMS_NORM else y

    return run


def by_liger(kind: int, sources: list) -> Callable:
    if kind == CROSS_ENTROPY:
        raise NotApplicableError("Liger computes the gradient of cross-entropy, too")
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return (
        lambda: LigerSoftmaxFunction.apply(*sources),
        lambda: LigerRMSNormFunction.apply(*sources, 1e-6, 0.0, "gemma", False),
        lambda: LigerLayerNormFunction.apply(*sources, 1e-5),
        lambda: LigerFusedAddRMSNormFunction.apply(*sources, 1e-6, 0.0, "gemma", False),
    )[kind]


def by_quack(kind: int, sources: list) -> Callable:
    from quack.cross_entropy import cross_entropy_fwd
    from quack.rmsnorm import layernorm_fwd, rmsnorm_fwd
    from quack.softmax import softmax_fwd

    wide = [weight.float() for weight in sources[1:]] if kind == LAYER_NORM else []
    return (
        lambda: softmax_fwd(*sources),
        lambda: rmsnorm_fwd(*sources, eps=1e-6)[0],
        lambda: layernorm_fwd(sources[0], *wide, eps=1e-5),
        lambda: rmsnorm_fwd(sources[0], sources[2], residual=sources[1], eps=1e-6)[:2],
        lambda: cross_entropy_fwd(*sources),
    )[kind]


def by_flashinfer(kind: int, sources: list) -> Callable:
    from flashinfer import norm, sampling

    if kind == CROSS_ENTROPY or sources[0].dtype != (torch.float32 if kind == SOFTMAX else torch.bfloat16):
        raise NotApplicableError("FlashInfer is called only for softmax of f32 and norms of bf16")
    y = torch.empty_like(sources[0])
    wide = [weight.float() for weight in sources[1:]] if kind == LAYER_NORM else []
    if kind == ADD_RMS_NORM:
        return in_place(norm.fused_add_rmsnorm, sources)
    return (
        lambda: sampling.softmax(sources[0]),
        lambda: norm.rmsnorm(*sources, eps=1e-6, out=y),
        lambda: norm.layernorm(sources[0], *wide, eps=1e-5),
    )[kind]


def by_vllm(kind: int, sources: list) -> Callable:
    y = torch.empty_like(sources[0])
    if kind == ADD_RMS_NORM:
        return in_place(torch.ops._C.fused_add_rms_norm, sources)
    if kind != RMS_NORM:
        raise NotApplicableError("vLLM has only RMSNorm and RMSNorm of a sum")

    def run() -> Any:
        torch.ops._C.rms_norm(y, *sources, 1e-6)
        return y

    return run


def in_place(function: Callable, sources: list) -> Callable:
    """A call that overwrites x by the result and the residual by the sum. Later calls continue with these."""
    x, residual = sources[0].clone(), sources[1].clone()

    def run() -> tuple:
        function(x, residual, sources[2], 1e-6)
        return x, residual

    return run


def by_transformer_engine(kind: int, sources: list) -> Callable:
    import transformer_engine_calls

    if kind == RMS_NORM:
        return transformer_engine_calls.rms_norm(*sources, 1e-6)
    if kind == LAYER_NORM:
        return transformer_engine_calls.layer_norm(*sources, 1e-5)
    raise NotApplicableError("TransformerEngine has norms of one tensor")


def by_compile(kind: int, sources: list) -> Callable:
    function = compiled(EAGER[kind])
    return lambda: function(*sources)


PEERS = {
    "eager": lambda kind, sources: lambda: EAGER[kind](*sources),
    "compile": by_compile,
    "Triton": by_triton,
    "Liger": by_liger,
    "QuACK": by_quack,
    "FlashInfer": by_flashinfer,
    "vLLM": by_vllm,
    "TransformerEngine": by_transformer_engine,
}


def all_of(results: Any) -> tuple:
    return results if isinstance(results, (tuple, list)) else (results,)


def measure(draw: Any, lengths: tuple[float, float], contest: Any) -> None:
    """Draws a case and measures it."""
    dtype = draw.choice((torch.bfloat16, torch.float32))
    length = int(2 ** draw.uniform(*lengths))
    if draw.random() < 0.6:
        length = max(32, length // 64 * 64)
    rows = max(1, int(2 ** draw.uniform(24, 27)) // length)
    kind = draw.randrange(5)
    tensors, weights = ((1, 0), (1, 1), (1, 2), (2, 1), (1, 0))[kind]
    sources = [torch.randn(rows, length, device="cuda").to(dtype) for _ in range(tensors)]
    sources += [torch.randn(length, device="cuda").to(dtype) for _ in range(weights)]
    wide = [source.double() for source in sources]
    if kind == CROSS_ENTROPY:
        labels = torch.randint(0, length, (rows,), device="cuda")
        sources.append(labels)
        wide.append(labels)
    wanted = all_of(EAGER[kind](*wide))
    out = [torch.empty_like(one, dtype=dtype) for one in wanted]

    relative = 2e-2 if dtype == torch.bfloat16 else 2e-4
    floor = 1e-6 if kind == SOFTMAX else 1e-2

    def check(results: Any, factor: int = 1) -> str | None:
        limits = factor * relative, factor * relative * floor
        pairs = zip(all_of(results), wanted, strict=True)
        errors = (difference(one, exact, *limits) for one, exact in pairs)
        return next(filter(None, errors), None)

    calls = {peer: functools.partial(make, kind, sources) for peer, make in PEERS.items()}
    # Each large tensor is read once, and written once unless the results are losses.
    moved = (1 if kind == CROSS_ENTROPY else 2 * tensors) * sources[0].nbytes
    case = f"{dtype} {rows} x {length}"
    # Other libraries round intermediate results, or use faster and less exact functions.
    call = ours(kind, sources, out)
    contest.measure(NAMES[kind], case, moved, call, calls, check, lambda results: check(results, 10))


def main() -> None:
    def add_lengths(parser: Any) -> None:
        help_text = "log2 of the shortest and the longest row (5 18)"
        parser.add_argument("--lengths", nargs=2, type=float, default=(5, 18), help=help_text)

    options, draw, contest = start(__doc__, PEERS, 100, add_lengths)
    for _ in range(options.cases):
        measure(draw, options.lengths, contest)
    contest.finish()


if __name__ == "__main__":
    main()
