#pragma once

#include "lint/propagation.hpp"

TMAJIT_BEGIN
namespace lint {

/// What the visited instruction writes to a register of `type`: the `element`-th that it names.
[[nodiscard]] Content evaluate(Propagation& state, const ptx::FlatInstruction& flat, ptx::ScalarType type,
                               std::uint32_t element);

/// Bits of a register that values are kept of: 16, 32 or 64, else 0.
[[nodiscard]] std::uint32_t value_width(ptx::ScalarType type);

}  // namespace lint
TMAJIT_END
