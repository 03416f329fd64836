#pragma once

#include <tmajit/move.hpp>

#include <span>

TMAJIT_BEGIN

/// Throws Error{invalid_argument} that names both tensors and their bytes if a destination shares a byte with
/// a source or another destination of any of the moves, or if two indices of a destination are one element.
/// Views that interleave without sharing anything pass: this is exact, but for strides so odd that no short
/// search tells, which are refused. A source that is its own move's destination, the same elements at the
/// same indices, passes where there is an expression: each element is then read before it is written.
void require_disjoint(std::span<const Move> moves);

/// The same for other addresses: one a destination, and one a source of each move in order.
void require_disjoint(std::span<const Move> moves, std::span<const DevicePtr> destinations,
                      std::span<const DevicePtr> sources);

TMAJIT_END
