#pragma once

#include "machine.hpp"

#include <tmajit/move.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace movement {

/// A move whose kernel was chosen by measuring, as in a program.
struct Settled {
  std::string by;                         ///< "tuned", "improved"
  std::optional<tmajit::Plan> move = {};  ///< empty if nothing could be measured
  std::string why_not = {};               ///< the reason, if nothing could be measured
  std::uint32_t calls = 0;                ///< calls of the move until its choice was made; 0: without calls
};

/// The move after tune(), which measures every candidate.
Settled settle_by_tuning(const bench::Machine& machine, const tmajit::Operation& operation);

/// The move after as many calls on the caller's data as RuntimeOptions::improve needs. It uses a new runtime
/// with the options `improve`, which knows no choice for the move.
Settled settle_by_calls(const bench::Machine& machine, const tmajit::Operation& operation,
                        const tmajit::Improve& improve);

}  // namespace movement
