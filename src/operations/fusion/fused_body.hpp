#pragma once

#include "operations/fusion/rules.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

// Parts of the rules of fusion.

template <class... Values>
[[nodiscard]] FusedMoves refused(fmt::format_string<Values...> reason, Values&&... values) {
  return {.moves = {}, .sentence = fmt::format(reason, std::forward<Values>(values)...)};
}

/// The expression of a map, a reduction or a scan; "x" if it has none.
[[nodiscard]] std::string_view expression_of(const Move& move);
void set_expression(Move& move, std::string expression);

/// Why the steps cannot contain an expression of another operation: it reads a name that the steps define.
/// Empty if they can.
[[nodiscard]] std::string name_obstacle(const Rowwise& rows, std::span<const Tensor> sources,
                                        std::string_view expression);

/// The moves with the sentence `how`, or the reason why they are illegal: the number of sources, the length
/// of an expression, or a rule of their operation.
[[nodiscard]] FusedMoves checked(std::vector<Move> moves, std::string how);

TMAJIT_END
