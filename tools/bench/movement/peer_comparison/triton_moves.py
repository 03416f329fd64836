"""A hand-written Triton kernel for permutations: tiles over the innermost dimensions of both sides."""

import torch
import triton
import triton.language as tl

from .contest import Entry, NotApplicable
from .nest import permutation_nest

VERSION = triton.__version__
OUTER = 4  # most dimensions besides the tile's two
# (rows of a tile, columns of a tile, warps).
CONFIGS = [(32, 32, 4), (64, 64, 4), (64, 64, 8), (128, 64, 8), (64, 128, 8), (128, 128, 8), (16, 256, 4)]


# Triton specialises for arguments that are 1 or divisible by 16: strides determine the width of loads, but extents of
# outer loops have no effect.
@triton.jit(do_not_specialize=["n1", "n2", "n3"])
def _tiles(source, destination, a_count, b_count, a_source, b_source, a_destination,
           n1, n2, n3, s0, s1, s2, s3, d0, d1, d2, d3, A: tl.constexpr, B: tl.constexpr):
    # A tile has A elements of dimension a and B elements of dimension b. n, s and d are the extents, the source's strides
    # and the destination's strides of the outer dimensions.
    at = tl.program_id(0)
    b_tiles = tl.cdiv(b_count, B)
    a_tiles = tl.cdiv(a_count, A)
    b = (at % b_tiles) * B + tl.arange(0, B)
    at = at // b_tiles
    a = (at % a_tiles) * A + tl.arange(0, A)
    at = at // a_tiles
    i3 = (at % n3).to(tl.int64)
    at = at // n3
    i2 = (at % n2).to(tl.int64)
    at = at // n2
    i1 = (at % n1).to(tl.int64)
    i0 = (at // n1).to(tl.int64)
    a = a[:, None]
    b = b[None, :]
    inside = (a < a_count) & (b < b_count)
    a = a.to(tl.int64)
    b = b.to(tl.int64)
    first = i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3
    tile = tl.load(source + first + a * a_source + b * b_source, mask=inside)
    first = i0 * d0 + i1 * d1 + i2 * d2 + i3 * d3
    tl.store(destination + first + a * a_destination + b, tile, mask=inside)


def _milliseconds(run):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    run()
    times = []
    for _ in range(3):
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return min(times)


def triton_entry(case, sources, destinations):
    if case["operation"] != "permute":
        raise NotApplicable("the Triton kernel is for permutations")
    nest = permutation_nest(case["sources"][0]["shape"], case["arguments"]["axes"])
    if len(nest) < 2:
        raise NotApplicable("this permutation is a plain copy")
    # b is the destination's innermost dimension. a is the source's innermost, or the next one if both are the same.
    b = nest[-1]
    rows = [d for d in nest[:-1] if d.source == 1] or [nest[-2]]
    a = rows[0]
    outer = [d for d in nest[:-1] if d is not a]
    if len(outer) > OUTER:
        raise NotApplicable(f"more than {OUTER + 2} dimensions after merging")
    extents = [1] * (OUTER - len(outer)) + [d.extent for d in outer]
    source_strides = [0] * (OUTER - len(outer)) + [d.source for d in outer]
    destination_strides = [0] * (OUTER - len(outer)) + [d.destination for d in outer]
    count = 1
    for extent in extents:
        count *= extent

    def launcher(rows_of_tile, columns, warps):
        grid = (count * -(-a.extent // rows_of_tile) * -(-b.extent // columns),)
        return lambda: _tiles[grid](
            sources[0], destinations[0], a.extent, b.extent, a.source, b.source, a.destination,
            *extents[1:], *source_strides, *destination_strides, A=rows_of_tile, B=columns, num_warps=warps)

    best = min(CONFIGS, key=lambda config: _milliseconds(launcher(*config)))
    return Entry("triton", launcher(*best), lambda: destinations, notes={"config": list(best)})
