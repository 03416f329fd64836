#pragma once

#include <tmajit/operation.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// The moves of one kernel that do the work of two, or the reason why there are none.
struct FusedMoves {
  std::vector<Move> moves;
  std::string sentence;           ///< after "…, ": how they were fused, or why not
  std::vector<Move> border = {};  ///< moves of further kernels, which fill the border of a pad
  [[nodiscard]] bool is_fused() const noexcept { return !moves.empty(); }
};

/// The name of a move's operation.
[[nodiscard]] std::string_view operation_name(const Move& move);
/// Whether a move's descriptor is one of these.
template <class... Bodies>
[[nodiscard]] bool is_any_of(const Move& move) noexcept {
  return (std::holds_alternative<Bodies>(move.body) || ...);
}
/// Whether two tensors may share a byte.
[[nodiscard]] bool may_overlap(const Tensor& a, const Tensor& b);

/// The moves of the kernel `consumer`, which compute the elements of the producer's destination instead of
/// loading them. The producer is a map or a copy.
[[nodiscard]] FusedMoves fuse_into_loads(const Move& producer, std::span<const Move> consumer);

/// The moves of the kernel `producer`, which compute the results of the kernel `consumer` instead of storing
/// the destinations that it reads, of move k among them. keeps[j]: they store the destination of move j, too.
[[nodiscard]] FusedMoves fuse_into_stores(std::span<const Move> producer, std::size_t k,
                                          std::span<const Move> consumer, const std::vector<bool>& keeps);

TMAJIT_END
