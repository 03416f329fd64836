"""Permutations as loop nests, in which dimensions that stay adjacent are merged."""

from dataclasses import dataclass


@dataclass
class Dimension:
    """One loop, in the destination's order; strides count elements."""

    extent: int
    source: int
    destination: int


def permutation_nest(shape, axes):
    """The loops of destination[...] = source.permute(axes), both dense, without loops of one iteration."""
    strides = [1] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        strides[d] = strides[d + 1] * shape[d + 1]
    nest = []
    for axis in axes:
        extent, stride = shape[axis], strides[axis]
        if extent == 1:
            continue
        if nest and nest[-1].source == stride * extent:
            nest[-1].extent *= extent
            nest[-1].source = stride
        else:
            nest.append(Dimension(extent, stride, 0))
    stride = 1
    for dimension in reversed(nest):
        dimension.destination = stride
        stride *= dimension.extent
    return nest
