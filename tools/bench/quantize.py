#!/usr/bin/env python3
"""Quantisation beside torch.compile, vLLM, TransformerEngine and PyTorch's copy, on a GPU.

cast_transpose with its greatest magnitude, quantize_rows by rows and by 128 elements, quantize_blocks and
quantize_tensor: bf16 to e4m3, 1,024 to 65,536 rows of 128 to 16,384 elements, both multiples of 128, 16 MiB
to 1 GiB. Each result is compared with PyTorch's. torch.compile (max-autotune) compiles the same computation
for each shape. vLLM quantises rows, 128 elements of them, and whole tensors; TransformerEngine has all but
whole rows.

The copy moves as many bytes as the operation, half of them read and half written.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from peer_times import NotApplicableError, compiled, difference, start, tmajit, torch

LEAST_BYTES = 16 << 20
GREATEST = 448.0  # of e4m3
SMALLEST = 2.0**-9  # of e4m3, greater than 0


def cast_transpose(x: Any, scale: Any) -> tuple:
    scaled = (x.float() * scale).clamp(-GREATEST, GREATEST).to(torch.float8_e4m3fn)
    return scaled, scaled.t().contiguous(), x.abs().amax().float()


def quantize(blocks: Any, dims: tuple) -> tuple:
    most = blocks.abs().amax(dims, keepdim=True).float()
    scale = torch.where(most < 1e-30, 1.0, most / GREATEST)
    q = (blocks.float() / scale).clamp(-GREATEST, GREATEST).to(torch.float8_e4m3fn)
    return q, scale


def quantize_rows(x: Any, block: int) -> tuple:
    rows, columns = x.shape
    q, scale = quantize(x.view(rows, columns // block, block), (-1,))
    return q.view(rows, columns), scale.view(rows, columns // block)


def quantize_blocks(x: Any, block: int) -> tuple:
    rows, columns = x.shape
    q, scale = quantize(x.view(rows // block, block, columns // block, block), (1, 3))
    return q.view(rows, columns), scale.view(rows // block, columns // block)


def quantize_tensor(x: Any) -> tuple:
    q, scale = quantize(x, (0, 1))
    return q, scale.view(())


def check(results: tuple, wanted: tuple) -> str | None:
    """Says what differs by more than one number of e4m3, as quotients may round differently, or by more than
    1e-6 of another value."""
    for k, (one, exact) in enumerate(zip(results, wanted, strict=True)):
        limits = (1 / 8, SMALLEST) if exact.dtype == torch.float8_e4m3fn else (1e-6, 0.0)
        if wrong := difference(one, exact, *limits):
            return f"result {k}: {wrong}"
    return None


def shape_of(draw: random.Random) -> tuple[int, int]:
    while True:
        rows = int(2 ** draw.uniform(10, 16)) // 128 * 128
        columns = draw.randint(1, 128) * 128
        if LEAST_BYTES <= 2 * rows * columns <= 1 << 30:
            return rows, columns


def by_vllm(name: str, x: Any) -> Callable:
    rows, columns = x.shape
    q = torch.empty(rows, columns, dtype=torch.float8_e4m3fn, device=x.device)
    if name == "quantize_rows":
        scale = torch.empty(rows, 1, device=x.device)

        def run() -> tuple:
            torch.ops._C.dynamic_per_token_scaled_fp8_quant(q, x, scale, None)
            return q, scale

    elif name == "quantize_rows, 1 x 128":
        scale = torch.empty(rows, columns // 128, device=x.device)

        def run() -> tuple:
            limits = 1e-10, -GREATEST, GREATEST
            torch.ops._C.per_token_group_fp8_quant(x, q, scale, 128, *limits, False, False, False)
            return q, scale

    elif name == "quantize_tensor":
        scale = torch.empty(1, device=x.device)

        def run() -> tuple:
            torch.ops._C.dynamic_scaled_fp8_quant(q, x, scale)
            return q, scale.view(())

    else:
        raise NotApplicableError(f"vLLM has no {name}")
    return run


def by_transformer_engine(name: str, x: Any, scale: Any) -> Callable:
    import transformer_engine_calls

    if name == "quantize_rows":
        raise NotApplicableError("TransformerEngine has no scales of whole rows")
    return {
        "cast_transpose": lambda: transformer_engine_calls.cast_transpose(x, scale),
        "quantize_rows, 1 x 128": lambda: transformer_engine_calls.quantize_blocks(x, square=False),
        "quantize_blocks, 128 x 128": lambda: transformer_engine_calls.quantize_blocks(x, square=True),
        "quantize_tensor": lambda: transformer_engine_calls.quantize_tensor(x),
    }[name]()


def measure(draw: random.Random, contest: Any) -> None:
    """Draws a case and measures it."""
    rows, columns = shape_of(draw)
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    scale = torch.full((1,), 64.0, device="cuda")
    # For each name: tmajit's call, its definition, and the bytes that are written for each element.
    operations = {
        "cast_transpose": (
            lambda out: tmajit.cast_transpose(x, scale, out=out),
            lambda x: cast_transpose(x, scale),
            2,
        ),
        "quantize_rows": (
            lambda out: tmajit.quantize_rows(x, block=columns, out=out),
            lambda x: quantize_rows(x, columns),
            1,
        ),
        "quantize_rows, 1 x 128": (
            lambda out: tmajit.quantize_rows(x, block=128, out=out),
            lambda x: quantize_rows(x, 128),
            1,
        ),
        "quantize_blocks, 128 x 128": (
            lambda out: tmajit.quantize_blocks(x, out=out),
            lambda x: quantize_blocks(x, 128),
            1,
        ),
        "quantize_tensor": (
            lambda out: tmajit.quantize_tensor(x, out=out),
            quantize_tensor,
            1,
        ),
    }
    name = draw.choice(list(operations))
    ours, define, written = operations[name]
    wanted = define(x)
    out = [torch.empty_like(one) for one in wanted]

    def run() -> list:
        ours(out)
        return out

    def by_compile() -> Callable:
        function = compiled(define)
        return lambda: function(x)

    calls = {
        "compile": by_compile,
        "vLLM": lambda: by_vllm(name, x),
        "TransformerEngine": lambda: by_transformer_engine(name, x, scale),
    }
    moved = (2 + written) * rows * columns
    contest.measure(name, f"{rows} x {columns}", moved, run, calls, lambda results: check(results, wanted))


def main() -> None:
    options, draw, contest = start(__doc__, ("compile", "vLLM", "TransformerEngine"), 40)
    for _ in range(options.cases):
        measure(draw, contest)
    contest.finish()


if __name__ == "__main__":
    main()
