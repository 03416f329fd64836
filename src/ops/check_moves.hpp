#pragma once

#include <tmajit/move.hpp>

#include <span>

TMAJIT_BEGIN

/// Throws Error{invalid_argument} unless every move is one that can be planned: known types, shapes that
/// agree (or a padding of the destination's rank), as many sources as its kind takes, elements of one size
/// where bits are moved as they are, and addresses that are multiples of an element. Does not look for
/// overlaps.
void check_moves(std::span<const Move> moves);

/// The same of other addresses of their tensors, one a destination, and one a source of each move in order.
void check_addresses(std::span<const Move> moves, std::span<const DevicePtr> destinations,
                     std::span<const DevicePtr> sources);

TMAJIT_END
