#pragma once

#include <tmajit/operation.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// The first rule of reductions that one breaks, and what would be legal; no rule where it breaks none.
struct ReductionMistake {
  std::string_view rule = {};
  std::string found = {};
  std::string need = {};
  std::string legal = {};
};

/// Of a move that is a reduction, whose views are within the limits of views.
[[nodiscard]] ReductionMistake mistake_of(const Move& move);

TMAJIT_END
