"""Softmax and norms by one Triton program for each row, as in Triton's tutorials."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

LONGEST = 1 << 16  # elements of a row


@triton.jit
def row_program(y, s, x, r, w, bias, length, kind: tl.constexpr, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < length
    first = tl.program_id(0).to(tl.int64) * length
    value = tl.load(x + first + at, mask=inside, other=-float("inf") if kind == 0 else 0.0).to(tl.float32)
    if kind == 0:
        e = tl.exp(value - tl.max(value, axis=0))
        result = e / tl.sum(e, axis=0)
    else:
        if kind == 3:
            value += tl.load(r + first + at, mask=inside, other=0.0).to(tl.float32)
            tl.store(s + first + at, value, mask=inside)
        weight = tl.load(w + at, mask=inside).to(tl.float32)
        if kind == 2:
            centred = tl.where(inside, value - tl.sum(value, axis=0) / length, 0.0)
            scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / length + 1e-5)
            result = centred * scale * weight + tl.load(bias + at, mask=inside).to(tl.float32)
        else:
            result = value * tl.rsqrt(tl.sum(value * value, axis=0) / length + 1e-6) * weight
    tl.store(y + first + at, result, mask=inside)


def launch(kind: int, y: Any, x: Any, s: Any = None, r: Any = None, w: Any = None, bias: Any = None) -> None:
    """kind: 0 softmax, 1 RMSNorm, 2 LayerNorm, 3 RMSNorm of x + r, which it also stores to s."""
    block = triton.next_power_of_2(x.shape[1])
    if block > LONGEST:
        raise ValueError("a row is too long for one program")
    warps = 4 if block < 2048 else 8 if block < 8192 else 16
    operands = [x if tensor is None else tensor for tensor in (s, x, r, w, bias)]
    row_program[(x.shape[0],)](y, *operands, x.shape[1], kind, block, num_warps=warps)
