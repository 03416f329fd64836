#include "plan/check_operation.hpp"

#include "kernel/stencil_calls.hpp"
#include "plan/check_reduction.hpp"
#include "plan/check_windows.hpp"
#include "spec/combine_rules.hpp"
#include "spec/memory_rules.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr auto source_of_rules = "tmajit, Move";
constexpr auto most_padding = std::int64_t{1} << 62;

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(std::min(view.rank, max_view_rank));
}

/// Checks one move; names of its tensors are only made for a violation.
class MoveRules {
 public:
  MoveRules(std::span<const Move> moves, std::size_t index, Violations& violations)
      : moves_(moves), move_(moves[index]), index_(index), violations_(violations) {}

  void check() {
    if (!check_views()) return;
    if (move_.reduction) {
      check_reduction();
    } else if (move_.windows) {
      check_windows();
    } else {
      check_sources();
    }
    check_expression(move_.expression);
    if (move_.stencil) check_stencil();
    if (move_.combine) check_combine();
    if (move_.padding) check_padding();
    if (!move_.padding && !move_.reduction && !move_.windows) {
      for (std::size_t k = 0; k < move_.sources.size(); ++k) check_shape(k);
    }
    check_written_once(
        move_.destination.view, move_.destination.address, [this] { return destination(); }, violations_);
    check_element_address(move_.destination, [this] { return destination(); });
    for (std::size_t k = 0; k < move_.sources.size(); ++k) {
      check_element_address(move_.sources[k], [this, k] { return source(k); });
    }
  }

 private:
  [[nodiscard]] std::string destination() const { return destination_name(moves_, index_); }
  [[nodiscard]] std::string source(std::size_t k) const { return source_name(moves_, index_, k); }

  void add(std::string_view rule, std::string subject, std::string found, std::string need,
           std::string legal) {
    violations_.add({.rule = std::string(rule),
                     .subject = std::move(subject),
                     .found = std::move(found),
                     .need = std::move(need),
                     .legal = std::move(legal),
                     .source = source_of_rules});
  }

  template <class Name>
  void check_element_address(const Tensor& tensor, const Name& name) {
    check_placed_address(tensor.view, tensor.address, size_of(tensor.view.type), name, violations_);
  }

  /// Whether the views can be looked at.
  bool check_views() {
    const std::size_t before = violations_.count();
    check_view_limits(
        move_.destination.view, [this] { return destination(); }, violations_);
    for (std::size_t k = 0; k < move_.sources.size(); ++k) {
      check_view_limits(
          move_.sources[k].view, [this, k] { return source(k); }, violations_);
    }
    return violations_.count() == before;
  }

  void check_sources() {
    const std::size_t count = move_.sources.size();
    const std::size_t least = move_.expression.empty() || move_.padding ? 1 : 0;
    if (count < least || count > max_inputs) {
      add("sources.range", fmt::format("sources of {}", destination()), fmt::format("{}", count),
          fmt::format("{} to {}", least, max_inputs), "several moves, or an expression of fewer tensors");
    }
    if (!move_.expression.empty() || count == 0) return;
    if (count != 1) {
      add("sources.expression", fmt::format("sources of {}", destination()),
          fmt::format("{} without an expression", count), "one where bits are moved as they are",
          "an expression of all of them, such as \"x0 + x1\"");
    }
    const ElementType to = move_.destination.view.type;
    const ElementType from = move_.sources.front().view.type;
    if (size_of(to) != size_of(from)) {
      add("view.type", fmt::format("{}: type", source(0)),
          fmt::format("{}, whose elements have {} bytes", name(from), size_of(from)),
          fmt::format("a type of {} bytes, as {} of {} has, since bits are moved as they are", size_of(to),
                      name(to), destination()),
          "a cast or a map, which converts values");
    }
  }

  void check_expression(const std::string& text) {
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
  }

  void check_stencil() {
    const std::string subject = fmt::format("expression of {}", destination());
    if (move_.padding || move_.sources.empty() || move_.sources.size() > max_inputs) {
      add("stencil.sources", fmt::format("stencil of {}", destination()),
          move_.padding ? "a padding" : fmt::format("{} sources", move_.sources.size()),
          fmt::format("1 to {} sources, none of them padded", max_inputs),
          "Stencil::boundary, which says what lies beyond an edge");
      return;
    }
    StencilCalls calls;
    const auto sources = static_cast<std::uint32_t>(move_.sources.size());
    if (const auto mistake = read_calls(move_.expression, sources, calls)) {
      add("stencil.offsets", subject, fmt::format("\"{}\", at {}", move_.expression, mistake->offset),
          mistake->message, "x0(-1, 0), of two dimensions");
      return;
    }
    if (calls.offsets == 0) {
      add("stencil.calls", subject, fmt::format("\"{}\"", move_.expression),
          "a call of a source with offsets, such as x0(-1, 0)", "a map, where no neighbours are read");
      return;
    }
    const std::uint32_t rank = move_.destination.view.rank;
    if (stencil_dims(*move_.stencil, rank, calls.offsets)) return;
    const Dims& dims = move_.stencil->dims;
    add("stencil.dims", fmt::format("dimensions of the stencil of {}", destination()),
        dims.empty() ? fmt::format("{} offsets of {} dimensions", calls.offsets, rank)
                     : fmt::format("{}", fmt::join(dims, ", ")),
        fmt::format("as many different ones of {} dimensions as calls have offsets, {}", rank, calls.offsets),
        dims.empty() ? "fewer offsets" : "no list, for the last dimensions");
  }

  void check_combine() {
    const std::string_view beside = move_.padding                ? "a padding"
                                    : move_.reduction            ? "a reduction"
                                    : !move_.expression.empty()  ? "an expression"
                                    : move_.sources.size() != 1U ? "not one source"
                                                                 : "";
    if (!beside.empty()) {
      add("combine.alone", fmt::format("combination with {}", destination()), std::string(beside),
          "one source as it is: the copy engine computes nothing else",
          "a map into another tensor first, which is then combined");
      return;
    }
    const ElementType to = move_.destination.view.type;
    const ElementType from = move_.sources.front().view.type;
    if (to != from) {
      add("combine.same-type", fmt::format("{}: type", source(0)), std::string(name(from)),
          fmt::format("{}, as {} has: the engine converts nothing", name(to), destination()), "a cast first");
    }
    check_combined(*move_.combine, to, fmt::format("{}: type", destination()), violations_);
  }

  void check_reduction() {
    const Reduction& reduction = *move_.reduction;
    check_expression(reduction.expression);
    check_expression(reduction.then);
    const ReductionMistake found = mistake_of(move_);
    if (found.rule.empty()) return;
    add(found.rule, fmt::format("reduction to {}", destination()), found.found, found.need, found.legal);
  }

  void check_windows() {
    WindowMistake mistake = mistake_of_windows(move_);
    if (mistake.rule.empty()) return;
    add(mistake.rule, fmt::format("{}, to {}", mistake.subject, destination()), std::move(mistake.found),
        std::move(mistake.need), std::move(mistake.legal));
  }

  void check_shape(std::size_t k) {
    const auto to = extents(move_.destination.view);
    const auto from = extents(move_.sources[k].view);
    if (std::ranges::equal(to, from)) return;
    std::string where = fmt::format("{} dimensions instead of {}", from.size(), to.size());
    if (to.size() == from.size()) {
      const auto d = static_cast<std::size_t>(std::ranges::mismatch(to, from).in1 - to.begin());
      where = fmt::format("dimension {} has {} elements instead of {}", d, from[d], to[d]);
    }
    add("view.shape", fmt::format("{}: shape", source(k)), fmt::format("{} ({})", shape_text(from), where),
        fmt::format("{}, as that of {}", shape_text(to), destination()),
        "a source that is broadcast or sliced to that shape");
  }

  void check_padding() {
    const std::uint32_t rank = move_.destination.view.rank;
    if (!move_.expression.empty()) {
      add("padding.expression", fmt::format("padding of {}", destination()),
          fmt::format("the expression \"{}\"", move_.expression),
          "no expression: a padded move keeps the bits of its source", "pad first, or map the padded tensor");
    }
    if (!move_.sources.empty() && move_.sources.front().view.rank != rank) {
      add("view.rank", fmt::format("{}: rank", source(0)),
          fmt::format("{} dimensions", move_.sources.front().view.rank),
          fmt::format("{}, as {} has", rank, destination()), "a reshaped source");
    }
    const auto& before = move_.padding->before;
    if (before.size() != rank) {
      add("padding.count", fmt::format("padding of {}", destination()), fmt::format("{} long", before.size()),
          fmt::format("as long as {} has dimensions", destination()),
          fmt::format("a list of length {}", rank));
      return;
    }
    for (std::uint32_t d = 0; d < rank; ++d) {
      if (before[d] <= most_padding && before[d] >= -most_padding) continue;
      add("padding.range", fmt::format("padding before dimension {}", d), fmt::format("{}", before[d]),
          "within 2^62 of 0", "a smaller number");
    }
  }

  std::span<const Move> moves_;
  const Move& move_;
  std::size_t index_;
  Violations& violations_;
};

void check_all_apart(std::span<const Move> moves, Violations& violations) {
  struct Place {
    std::size_t move;
    std::ptrdiff_t source;  // −1: the destination
  };
  std::vector<PlacedOperand> operands;
  std::vector<Place> places;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    const auto group = static_cast<std::uint32_t>(i);
    // Of an expression each element is read before it is written, unless it is another's neighbour, too.
    const bool in_place = !move.expression.empty() && !move.stencil;
    operands.push_back({&move.destination.view, move.destination.address, true, group, in_place});
    places.push_back({i, -1});
    for (std::size_t k = 0; k < move.sources.size(); ++k) {
      operands.push_back({&move.sources[k].view, move.sources[k].address, false, group, in_place});
      places.push_back({i, static_cast<std::ptrdiff_t>(k)});
    }
  }
  const auto name = [&](std::size_t n) {
    const auto [move, source] = places[n];
    return source < 0 ? destination_name(moves, move)
                      : source_name(moves, move, static_cast<std::size_t>(source));
  };
  check_apart(operands, name, violations);
}

void throw_if_any(Violations& violations) {
  if (violations.count() > 0) throw SpecError(violations.take());
}

}  // namespace

std::string destination_name(std::span<const Move> moves, std::size_t move) {
  return moves.size() == 1 ? std::string("the destination") : fmt::format("the destination of move {}", move);
}

std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source) {
  const std::string of = moves.size() == 1 ? std::string() : fmt::format(" of move {}", move);
  return moves[move].sources.size() == 1 ? "the source" + of : fmt::format("source {}{}", source, of);
}

void check_operation(std::span<const Move> moves) {
  Violations violations;
  for (std::size_t i = 0; i < moves.size(); ++i) MoveRules(moves, i, violations).check();
  throw_if_any(violations);
  check_all_apart(moves, violations);
  throw_if_any(violations);
}

TMAJIT_END
