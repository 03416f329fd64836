#pragma once

#include "machine.hpp"

#include <tmajit/move.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace movement {

/// A move whose kernel was chosen by measuring, as in a program.
struct Settled {
  std::string method;                     ///< "tuned" or "improved"
  std::optional<tmajit::Plan> move = {};  ///< empty if nothing could be measured
  std::string why_not = {};               ///< the reason, if nothing could be measured
  std::uint32_t calls = 0;                ///< calls of the move until its kernel was chosen; 0 for tune()
};

/// The move after tune(), which measures every candidate.
Settled settle_by_tuning(const bench::Machine& machine, const tmajit::Operation& operation);

/// The move after as many calls as RuntimeOptions::improve needs. The calls use a new runtime with the
/// options `improve`, which has no tuned choice for the move.
Settled settle_by_calls(const bench::Machine& machine, const tmajit::Operation& operation,
                        const tmajit::Improve& improve);

}  // namespace movement
