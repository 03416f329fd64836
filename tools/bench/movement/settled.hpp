#pragma once

#include "machine.hpp"

#include <tmajit/move.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace movement {

/// A move whose kernel was chosen by measuring, as a program would have it.
struct Settled {
  std::string by;                         ///< "tuned", "improved"
  std::optional<tmajit::Plan> move = {};  ///< none where nothing could be measured
  std::string why_not = {};               ///< the reason, if nothing could be measured
  std::uint32_t calls = 0;                ///< calls of the move until its choice was made; 0: it made none
};

/// After tune(): every candidate was measured, and plans take what it stores.
Settled settle_by_tuning(const bench::Machine& machine, const tmajit::Operation& operation);

/// After as many calls as RuntimeOptions::improve wants, on the caller's own data. `improve` as a program
/// would give it. The runtime is one of its own, which knows no choice for the move.
Settled settle_by_calls(const bench::Machine& machine, const tmajit::Operation& operation,
                        const tmajit::Improve& improve);

}  // namespace movement
