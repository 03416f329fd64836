#include "ops/views.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

std::string shape_text(std::span<const std::uint64_t> shape) {
  return shape.empty() ? std::string("one element") : fmt::format("{}", fmt::join(shape, "x"));
}

std::string shape_text(const TensorView& view) {
  return shape_text(extents(view, "the tensor"));
}

std::string view_text(const TensorView& view) {
  const auto type = is_known(view.type) ? name(view.type) : std::string_view("unknown type");
  std::string text = fmt::format("{} {}", type, shape_text(view));
  if (view.rank == 0) return text;
  return text + fmt::format(" with strides {}", fmt::join(std::span(view.strides).first(view.rank), ","));
}

std::string destination_name(std::span<const Move> moves, std::size_t move) {
  return moves.size() == 1 ? std::string("the destination") : fmt::format("the destination of move {}", move);
}

std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source) {
  const std::string of = moves.size() == 1 ? std::string() : fmt::format(" of move {}", move);
  return moves[move].sources.size() == 1 ? "the source" + of : fmt::format("source {}{}", source, of);
}

std::span<const std::uint64_t> extents(const TensorView& view, std::string_view what) {
  if (view.rank > max_view_rank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} dimensions; at most {} are possible", what, view.rank, max_view_rank));
  }
  return std::span(view.shape).first(view.rank);
}

TMAJIT_END
