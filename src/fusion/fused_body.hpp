#pragma once

#include "fusion/rules.hpp"

#include <optional>
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

/// The expression of a map, a reduction, a scan or a gather; "x" if it has none.
[[nodiscard]] std::string_view expression_of(const Move& move);
void set_expression(Move& move, std::string_view expression);

/// Why these steps cannot contain an expression of another operation: it reads a name that steps define.
/// Empty if they can.
[[nodiscard]] std::string name_obstacle(std::string_view steps, std::string_view expression);

inline constexpr std::string_view other_type = "as it reads the bits as elements of another type";
inline constexpr std::string_view other_order =
    "as it does not read each result once, in dimensions that are permuted or reversed";

/// The number as a source of a move whose sources have the shape of `like`.
[[nodiscard]] Tensor number_like(Tensor number, const TensorView& like);

/// The moves of one kernel that computes a reduction or rows, and a map, a reduction or rows of their results
/// as further steps. keeps[j]: it stores the destination of the producer's move j, too.
[[nodiscard]] FusedMoves fuse_rows(std::span<const Move> producer, std::span<const Move> consumer,
                                   const std::vector<bool>& keeps);

/// The moves of a consumer, which compute a map's expression instead of loading the map's results. The limits
/// of sources and expressions are not checked.
[[nodiscard]] FusedMoves inline_map(const Move& producer, std::span<const Move> consumer);
/// The gather of the map's sources, which stores the map's expression.
[[nodiscard]] FusedMoves fuse_into_gather(const Move& map, const Move& gather);
/// The gather to this destination, which stores the map's expression. `read` is the map's source that holds
/// the gather's results.
[[nodiscard]] FusedMoves fuse_after_gather(const Move& gather, const Move& map, const Tensor& read,
                                           const Tensor& destination);

/// The part of a pad's destination that receives its source; nothing if the pad crops its source.
[[nodiscard]] std::optional<Tensor> interior_of(const Move& pad);
/// Moves that write the pad's value to the elements around the interior, each once.
[[nodiscard]] std::vector<Move> border_of(const Move& pad);

/// The moves with the sentence `how`, or the reason why they are illegal: the number of sources, the length
/// of an expression, or a rule of their operation.
[[nodiscard]] FusedMoves checked(std::vector<Move> moves, std::string how);

TMAJIT_END
