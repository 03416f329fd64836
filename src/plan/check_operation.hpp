#pragma once

#include <tmajit/operation.hpp>

#include <span>
#include <string>

TMAJIT_BEGIN

/// Throws SpecError with every rule that the moves break: known types, shapes that agree (or a padding of the
/// destination's rank), as many sources as a move takes, elements of one size where bits are moved as they
/// are, addresses that are multiples of an element, every element written once, and nothing written where
/// something else is read or written.
void check_operation(std::span<const Move> moves);

/// What violations call a move's tensors: "the destination", or "the destination of move 2" where there are
/// several.
[[nodiscard]] std::string destination_name(std::span<const Move> moves, std::size_t move);
[[nodiscard]] std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source);

TMAJIT_END
