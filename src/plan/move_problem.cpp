#include "plan/move_problem.hpp"

#include "plan/widen.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_spec.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// Whether the expression names g: as a word of its own, not as part of another.
bool reads_coordinates(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find('g'); at != std::string_view::npos; at = text.find('g', at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + 1 == text.size() || !is_word(text[at + 1]);
    if (begins && ends) return true;
  }
  return false;
}

void check(const Move& move) {
  if (move.sources.empty() || move.sources.size() > max_inputs) {
    refuse(fmt::format("{} sources; 1 to {} are possible", move.sources.size(), max_inputs));
  }
  if (move.expression.size() > max_expression) {
    refuse(fmt::format("an expression of {} characters; at most {} are possible", move.expression.size(),
                       max_expression));
  }
  if (move.expression.empty()) {
    if (move.sources.size() != 1) {
      refuse(
          fmt::format("{} sources and no expression that says what to make of them; a move of bits has one",
                      move.sources.size()));
    }
    const ElementType to = move.destination.view.type;
    const ElementType from = move.sources.front().view.type;
    if (size_of(to) != size_of(from)) {
      refuse(fmt::format("bits of {} ({} bytes) cannot be moved to {} ({} bytes); cast() converts values",
                         name(from), size_of(from), name(to), size_of(to)));
    }
  } else if (move.padding) {
    refuse("a padded move with an expression; pad first, or map the padded tensor");
  }
  if (move.padding && move.padding->before.size() != move.destination.view.rank) {
    refuse(fmt::format("a padding of {} dimensions for a destination of {}", move.padding->before.size(),
                       move.destination.view.rank));
  }
  if (move.padding && move.sources.front().view.rank != move.destination.view.rank) {
    refuse(fmt::format("a source of {} dimensions padded to a destination of {}",
                       move.sources.front().view.rank, move.destination.view.rank));
  }
}

void check_addresses(const MoveProblem& problem) {
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    if (problem.nest.empty() || problem.address[i] % problem.element_bytes(i) == 0) continue;
    refuse(fmt::format("{} begins at {:#x}, which is no multiple of the {} bytes of {}",
                       i == 0 ? "the destination" : fmt::format("source {}", i - 1), problem.address[i],
                       problem.element_bytes(i), name(problem.type[i])));
  }
}

/// The bytes that a view's elements lie in.
void find_span(const Tensor& tensor, DevicePtr& low, DevicePtr& high) {
  low = tensor.address;
  high = tensor.address + size_of(tensor.view.type);
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    const std::int64_t stride = tensor.view.strides[d];
    (stride < 0 ? low : high) +=
        static_cast<DevicePtr>(stride) * (tensor.view.shape[d] - 1) * size_of(tensor.view.type);
  }
}

}  // namespace

MoveProblem move_problem(const Move& move) {
  check(move);
  MoveProblem problem;
  problem.expression = move.expression;
  problem.coordinates = reads_coordinates(move.expression);

  std::vector<TensorView> views{move.destination.view};
  for (const Tensor& source : move.sources) views.push_back(source.view);
  std::vector<DevicePtr> addresses{move.destination.address};
  for (const Tensor& source : move.sources) addresses.push_back(source.address);

  SourceWindow window;
  NestOptions options{.keep_dimensions = problem.coordinates};
  if (move.padding) {
    // The source as the destination's indices see it: its first element lies where they are `before`.
    TensorView& source = views[1];
    for (std::uint32_t d = 0; d < source.rank; ++d) {
      window.first[d] = move.padding->before[d];
      window.extent[d] = source.shape[d];
      // Where nothing of the source is reached the address may be anything: it may wrap.
      addresses[1] -= static_cast<DevicePtr>(move.padding->before[d]) *
                      static_cast<DevicePtr>(source.strides[d]) * size_of(source.type);
    }
    source.shape = views[0].shape;
    options.window = &window;
    problem.padding = move.padding->value;
  }

  problem.nest = canonical(views, options);
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    problem.type[i] = views[i].type;
    const auto offset = problem.nest.operand[i].offset * static_cast<std::int64_t>(size_of(views[i].type));
    problem.address[i] = addresses[i] + static_cast<DevicePtr>(offset);
    find_span(i == 0 ? move.destination : move.sources[i - 1], problem.low[i], problem.high[i]);
  }
  check_addresses(problem);
  return widened(std::move(problem));
}

std::uint32_t MoveProblem::alignment(std::uint32_t operand, std::uint32_t along) const noexcept {
  std::uint64_t bits = 16 | address[operand];
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (d != along && nest.shape[d] > 1) bits |= static_cast<std::uint64_t>(step(operand, d));
  }
  return 1U << std::countr_zero(bits);
}

std::uint64_t MoveProblem::bytes_written() const noexcept {
  return sat_mul(nest.elements(), element_bytes(0));
}

std::uint64_t MoveProblem::bytes_read() const noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 1; i < nest.operands; ++i) {
    std::uint64_t elements = nest.empty() ? 0 : 1;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      std::uint64_t extent = nest.operand[i].strides[d] == 0 ? 1 : nest.shape[d];
      if (nest.windowed) {
        const std::int64_t first = std::max<std::int64_t>(nest.window_first[d], 0);
        const std::int64_t end = std::min(nest.window_end[d], static_cast<std::int64_t>(nest.shape[d]));
        extent = first < end ? std::min(extent, static_cast<std::uint64_t>(end - first)) : 0;
      }
      elements = sat_mul(elements, extent);
    }
    bytes = sat_add(bytes, sat_mul(elements, element_bytes(i)));
  }
  return bytes;
}

TMAJIT_END
