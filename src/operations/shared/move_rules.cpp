#include "operations/shared/move_rules.hpp"

#include "kernel/problem.hpp"
#include "spec/coordinates.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
std::span<const std::uint64_t> extents(const TensorView& view) noexcept {
  return std::span(view.shape).first(std::min(view.rank, max_view_rank));
}

std::string destination_name(std::span<const Move> moves, std::size_t move) {
  return moves.size() == 1 ? std::string("the destination") : fmt::format("the destination of move {}", move);
}

std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source) {
  const std::string of = moves.size() == 1 ? std::string() : fmt::format(" of move {}", move);
  return moves[move].sources.size() == 1 ? "the source" + of : fmt::format("source {}{}", source, of);
}

void MoveRules::add(std::string_view rule, std::string subject, std::string found, std::string need,
                    std::string legal) {
  violations_.add({.rule = std::string(rule),
                   .subject = std::move(subject),
                   .found = std::move(found),
                   .need = std::move(need),
                   .legal = std::move(legal),
                   .source = source_of_rules});
}

bool MoveRules::check_views() {
  const std::size_t before = violations_.count();
  check_view_limits(
      move_.destination.view, [this] { return destination(); }, violations_);
  for (std::size_t k = 0; k < move_.sources.size(); ++k) {
    check_view_limits(
        move_.sources[k].view, [this, k] { return source(k); }, violations_);
  }
  return violations_.count() == before;
}

bool MoveRules::check_min_sources(std::size_t least) {
  const std::size_t count = move_.sources.size();
  if (count >= least && count <= max_inputs) return true;
  add("sources.range", fmt::format("sources of {}", destination()), fmt::format("{}", count),
      fmt::format("{} to {}", least, max_inputs), "several moves, or an expression of fewer tensors");
  return false;
}

void MoveRules::check_bits() {
  const std::size_t count = move_.sources.size();
  check_min_sources(1);
  if (count == 0) return;
  if (count != 1) {
    add("sources.expression", fmt::format("sources of {}", destination()),
        fmt::format("{} without an expression", count), "1, since bits are moved as they are",
        "an expression of all of them, such as \"x0 + x1\"");
  }
  const ElementType to = move_.destination.view.type;
  const ElementType from = move_.sources.front().view.type;
  if (size_of(to) == size_of(from)) return;
  add("view.type", fmt::format("{}: type", source(0)),
      fmt::format("{}, whose elements have {}", name(from), counted(size_of(from), "byte")),
      fmt::format("a type of {}, like {} of {}: bits are moved as they are", counted(size_of(to), "byte"),
                  name(to), destination()),
      "a cast or a map, which converts values");
}

void MoveRules::check_shapes() {
  for (std::size_t k = 0; k < move_.sources.size(); ++k) check_shape(k);
}

void MoveRules::check_shape(std::size_t k) {
  const auto to = extents(move_.destination.view);
  const auto from = extents(move_.sources[k].view);
  if (std::ranges::equal(to, from)) return;
  std::string where = fmt::format("{} instead of {}", counted(from.size(), "dimension"), to.size());
  if (to.size() == from.size()) {
    const auto d = static_cast<std::size_t>(std::ranges::mismatch(to, from).in1 - to.begin());
    where = fmt::format("dimension {} has {} instead of {}", d, counted(from[d], "element"), to[d]);
  }
  add("view.shape", fmt::format("{}: shape", source(k)), fmt::format("{} ({})", shape_text(from), where),
      fmt::format("{}, the shape of {}", shape_text(to), destination()),
      "a source that is broadcast or sliced to that shape");
}

void MoveRules::check_expression(std::string_view text) {
  if (text.size() > max_expression) {
    add("expression.length", fmt::format("expression of {}", destination()),
        fmt::format("{} characters", text.size()), fmt::format("at most {} characters", max_expression),
        "a shorter expression");
  }
  const auto control =
      std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control != text.end()) {
    add("expression.characters", fmt::format("expression of {}", destination()),
        fmt::format("character {:#04x} at {}", static_cast<unsigned>(static_cast<unsigned char>(*control)),
                    control - text.begin()),
        "one line of printable characters", "spaces in place of tabs and line ends");
  }
  check_numbers_read(text);
}

void MoveRules::check_numbers_read(std::string_view text) {
  const std::uint32_t numbers = count_numbers(move_.sources);
  for (std::uint32_t k = numbers; k < max_inputs; ++k) {
    const std::string name = fmt::format("p{}", k);
    if (!reads(text, name)) continue;
    add("expression.number", fmt::format("expression of {}", destination()), name,
        fmt::format("numbers that exist: {} given", counted_are(numbers, "number")),
        "a further number after the sources");
  }
}

void MoveRules::check_coordinates(std::string_view expression) {
  tmajit::check_coordinates(expression, move_.destination.view.rank,
                            fmt::format("expression of {}", destination()), source_of_rules, violations_);
}

void MoveRules::check_numbers() {
  if (move_.destination.view.is_number) {
    add("number.destination", destination(), "a number", "a tensor", "a tensor of rank 0 for one element");
  }
  bool follows_number = false;
  for (std::size_t k = 0; k < move_.sources.size(); ++k) {
    if (follows_number && !move_.sources[k].view.is_number) {
      add("number.order", source(k), "a tensor after a number", "numbers after all tensors",
          "the same sources in that order");
    }
    const TensorView& view = move_.sources[k].view;
    const auto repeats = [&](std::uint32_t d) { return view.strides[d] == 0 || view.shape[d] < 2; };
    if (view.is_number && !std::ranges::all_of(std::views::iota(0U, view.rank), repeats)) {
      add("number.strides", source(k), view_text(view), "strides of 0, since a number is one element",
          "number(value), which any shape can be broadcast from");
    }
    follows_number = follows_number || move_.sources[k].view.is_number;
  }
}

void MoveRules::check(void (*rules)(MoveRules&)) {
  if (!check_views()) return;
  check_numbers();
  rules(*this);
  check_written_once(
      move_.destination.view, move_.destination.address, [this] { return destination(); }, violations_);
  const auto check_address = [this](const Tensor& tensor, const auto& name) {
    check_placed_address(tensor.view, tensor.address, size_of(tensor.view.type), name, violations_);
  };
  check_address(move_.destination, [this] { return destination(); });
  for (std::size_t k = 0; k < move_.sources.size(); ++k) {
    if (!move_.sources[k].view.is_number) check_address(move_.sources[k], [this, k] { return source(k); });
  }
}

TMAJIT_END
