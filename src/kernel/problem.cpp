#include "kernel/problem.hpp"

#include "kernel/stencil_calls.hpp"
#include "spec/limits.hpp"
#include "spec/overlap.hpp"
#include "spec/saturate.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t narrow_bytes = 8;
constexpr std::uint64_t short_run = 64;  // bytes; shorter dimensions fill little of a block or chunk

/// The number of elements of the last dimension, if they form one wider element in both views; else 1.
std::uint32_t joinable_elements(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 3) return 1;
  const std::uint32_t last = nest.rank - 1;
  const std::uint64_t size = problem.element_bytes(0);
  if (nest.shape[last] > vector_bytes / size || !std::has_single_bit(nest.shape[last])) return 1;
  for (const std::uint32_t i : {0U, 1U}) {
    if (nest.operand[i].strides[last] != 1) return 1;
    if (problem.alignment(i, last) < size * nest.shape[last]) return 1;
  }
  return static_cast<std::uint32_t>(nest.shape[last]);
}

}  // namespace

bool reads(std::string_view expression, std::string_view word) noexcept {
  for (std::size_t at = expression.find(word); at != std::string_view::npos;
       at = expression.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word(expression[at - 1]);
    const bool ends = end == expression.size() || !is_word(expression[end]);
    if (begins && ends) return true;
  }
  return false;
}

ExpressionReads reads_of(std::string_view expression) noexcept {
  return {.g = reads(expression, "g"),
          .t = reads(expression, "t"),
          .tile_index = reads(expression, "tile_index")};
}

Problem widened(Problem problem) {
  const std::uint32_t joined = joinable_elements(problem);
  if (joined == 1) return problem;
  Problem wide = problem;
  CanonicalNest& nest = wide.nest;
  wide.joined = joined;
  --nest.rank;
  nest.shape[nest.rank] = 0;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    CanonicalNest::Operand& operand = nest.operand[i];
    for (std::uint32_t d = 0; d < nest.rank; ++d) operand.strides[d] /= static_cast<std::int64_t>(joined);
    operand.strides[nest.rank] = 0;
    // If the nest reverses the last dimension, the view begins at the last part of a wide element: round up.
    operand.offset = (operand.offset + (joined - 1)) >> std::countr_zero(joined);
  }
  return layout_of(wide) == Layout::blocks ? wide : problem;
}

std::vector<Tensor> operands_of(const Move& move) {
  std::vector<Tensor> operands{move.destination};
  operands.insert(operands.end(), move.sources.begin(), move.sources.end());
  return operands;
}

void set_operands(Problem& problem, std::span<const Tensor> operands, const NestOptions& options) {
  std::vector<TensorView> views;
  for (const Tensor& operand : operands) views.push_back(operand.view);
  problem.nest = canonical(views, options);
  problem.numbers = count_numbers(views);
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    problem.type[i] = views[i].type;
    const auto offset = problem.nest.operand[i].offset * static_cast<std::int64_t>(size_of(views[i].type));
    problem.address[i] = operands[i].address + static_cast<DevicePtr>(offset);
  }
}

void set_operands(Problem& problem, const Move& move, const NestOptions& options) {
  problem.destination = move.destination.view;
  set_operands(problem, operands_of(move), options);
}

void set_reach(Problem& problem, std::span<const Tensor> operands) {
  std::vector<ByteRange> written;
  for (std::uint32_t k = 0; k < problem.destinations; ++k) {
    const Tensor& destination = operands[problem.destination_operand(k)];
    if (const auto range = byte_range({destination.view, destination.address})) written.push_back(*range);
  }
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    const std::optional<ByteRange> range = byte_range({operands[i].view, operands[i].address});
    if (!range) continue;
    problem.low[i] = range->first;
    problem.high[i] = range->last + 1;
    const bool is_source = i > 0 && i <= problem.sources();
    problem.interleaved[i] =
        is_source && std::ranges::any_of(written, [&](const ByteRange& one) { return meet(one, *range); });
  }
}

void set_reach(Problem& problem, const Move& move) {
  set_reach(problem, operands_of(move));
}

Problem elementwise_problem(const Move& move, ProblemBody body, const NestOptions& options) {
  Problem problem{.body = std::move(body)};
  set_operands(problem, move, options);
  set_reach(problem, move);
  return problem;
}

Problem window_problem(const Move& move, ProblemBody body) {
  Problem problem{.body = std::move(body)};
  problem.destination = move.destination.view;
  problem.nest = window_nest(*problem.windows());
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    const Tensor& tensor = i == 0 ? move.destination : move.sources[i - 1];
    problem.type[i] = tensor.view.type;
    problem.address[i] = tensor.address;
  }
  set_reach(problem, move);
  return problem;
}

std::string_view Problem::expression() const noexcept {
  const auto text = [](const auto& one) -> std::string_view {
    if constexpr (requires { one.expression; }) return one.expression;
    if constexpr (requires { one.tiles; }) return one.tiles.expression;
    return {};
  };
  return std::visit(text, body);
}

std::string_view Problem::epilogue() const noexcept {
  return is<ReduceProblem>() ? std::string_view(as<ReduceProblem>().epilogue) : std::string_view();
}

ExpressionReads Problem::reads() const noexcept {
  const auto read = [](const auto& one) -> ExpressionReads {
    if constexpr (requires { one.reads; }) return one.reads;
    return {};
  };
  return std::visit(read, body);
}

double Problem::padding() const noexcept {
  return is<PadProblem>() ? as<PadProblem>().value : 0;
}

const WindowProblem* Problem::windows() const noexcept {
  const auto found = [](const auto& one) -> const WindowProblem* {
    if constexpr (requires { one.windows; }) return &one.windows;
    return nullptr;
  };
  return std::visit(found, body);
}

std::uint32_t Problem::alignment(std::uint32_t operand, std::uint32_t row) const noexcept {
  std::uint64_t bits = 16 | (is_number(operand) ? 0 : address[operand]);
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (d != row && nest.shape[d] > 1) bits |= static_cast<std::uint64_t>(step(operand, d));
  }
  return 1U << std::countr_zero(bits);
}

TensorView Problem::view(std::uint32_t operand) const {
  if (is<TileProblem>()) return as<TileProblem>().views[operand];
  TensorView view{.type = type[operand], .rank = nest.rank, .shape = nest.shape};
  view.strides = nest.operand[operand].strides;
  return view;
}

std::uint64_t Problem::bytes_written() const noexcept {
  if (is<TileProblem>()) return sat_mul(view(0).elements(), element_bytes(0));
  if (is<MoePermuteProblem>()) {
    const auto& moe = as<MoePermuteProblem>();
    const std::uint64_t rows = sat_mul(std::min(moe.pairs(), moe.capacity), moe.row_elements);
    return sat_add(sat_mul(rows, element_bytes(0)),
                   sizeof(std::int32_t) * (moe.pairs() + 2 * moe.experts + 1));
  }
  if (is<TopKProblem>()) {
    const std::uint64_t results = sat_mul(nest.empty() ? 0 : nest.elements(), as<TopKProblem>().count);
    std::uint64_t all = 0;
    for (std::uint32_t k = 0; k < destinations; ++k)
      all = sat_add(all, sat_mul(results, element_bytes(destination_operand(k))));
    return all;
  }
  const bool has_results = is<ReduceProblem>() || is<RowwiseProblem>() || is<CastTransposeProblem>();
  std::uint64_t bytes = 0;
  for (std::uint32_t k = 0; k < destinations; ++k) {
    const std::uint32_t operand = destination_operand(k);
    std::uint64_t elements = nest.empty() ? 0 : 1;
    for (std::uint32_t d = 0; d < nest.rank; ++d) {
      // A reduced dimension has one result.
      if (nest.operand[operand].strides[d] != 0 || !has_results) elements = sat_mul(elements, nest.shape[d]);
    }
    bytes = sat_add(bytes, sat_mul(elements, element_bytes(operand)));
  }
  return bytes;
}

std::uint64_t Problem::bytes_read(std::uint32_t operand) const noexcept {
  std::uint64_t elements = nest.empty() ? 0 : 1;
  std::uint64_t terms = 1;
  if (is<IndexedProblem>()) {
    const IndexedProblem& indexed = as<IndexedProblem>();
    terms = indexed.terms.ragged && operand == sources() ? 1 : indexed.terms.count;
    // Each selected element is read, although the operand has stride 0 in the indices' dimensions.
    if (operand == indexed.selected()) {
      const std::uint64_t bags = indexed.terms.ragged ? std::max<std::uint64_t>(indexed.terms.bags, 1) : 1;
      return sat_mul(nest.empty() ? 0 : sat_mul(nest.elements() / bags, terms), element_bytes(operand));
    }
  }
  if (is<TopKProblem>()) terms = as<TopKProblem>().stride[1] == 0 ? 1 : as<TopKProblem>().length;
  if (is<MoePermuteProblem>()) {
    const auto& moe = as<MoePermuteProblem>();
    const std::uint64_t read = operand == 1 ? sat_mul(moe.tokens, moe.row_elements) : moe.pairs();
    return sat_mul(read, element_bytes(operand));
  }
  if (const WindowProblem* const window = windows()) {
    const TensorView& source = operand == 1 ? window->images : window->filter;
    return elements == 0 ? 0 : sat_mul(source.elements(), element_bytes(operand));
  }
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    std::uint64_t extent = nest.operand[operand].strides[d] == 0 ? 1 : nest.shape[d];
    if (nest.windowed) {
      const std::int64_t first = std::max<std::int64_t>(nest.window_first[d], 0);
      const std::int64_t end = std::min(nest.window_end[d], static_cast<std::int64_t>(nest.shape[d]));
      extent = first < end ? std::min(extent, static_cast<std::uint64_t>(end - first)) : 0;
    }
    elements = sat_mul(elements, extent);
  }
  return sat_mul(sat_mul(elements, terms), element_bytes(operand));
}

std::uint64_t Problem::bytes_read() const noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 1; i <= sources(); ++i) bytes = sat_add(bytes, bytes_read(i));
  return bytes;
}

std::uint32_t contiguous_dimension(const Problem& problem, std::uint32_t operand) noexcept {
  const auto& strides = problem.nest.operand[operand].strides;
  const auto end = strides.begin() + problem.nest.rank;
  return static_cast<std::uint32_t>(std::find(strides.begin(), end, 1) - strides.begin());
}

bool fills_blocks(const Problem& problem, std::uint32_t column, std::uint32_t bytes) noexcept {
  const std::uint64_t side = bytes / problem.element_bytes(0);
  const auto fills = [&](std::uint64_t extent) { return 2 * extent > side; };
  return fills(problem.nest.shape[column]) && fills(problem.nest.shape[problem.nest.rank - 1]);
}

bool is_short(const Problem& problem, std::uint32_t d) noexcept {
  const std::uint64_t bytes = problem.nest.shape[d] * problem.element_bytes(0);
  return bytes < short_run || (bytes < 2 * short_run && bytes % vector_bytes != 0);
}

bool has_short_unaligned_rows(const Problem& problem) noexcept {
  const std::uint32_t last = problem.nest.rank - 1;
  return is_short(problem, last) && problem.alignment(0, last) < vector_bytes;
}

bool repeats_row(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  return std::any_of(nest.operand.begin() + 1, nest.operand.begin() + nest.operands - problem.numbers,
                     [&](const auto& operand) { return operand.strides[nest.rank - 1] == 0; });
}

Layout layout_of(const Problem& problem) noexcept {
  const std::uint32_t rank = problem.nest.rank;
  if (rank == 0 || problem.sources() != 1 || !problem.reads_bits()) return Layout::any;
  if (problem.nest.operand[0].strides[rank - 1] != 1) return Layout::any;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  // A row that repeats one element needs no transpose: kernels that transpose blocks took three times as
  // long.
  if (column == rank || repeats_row(problem)) return Layout::any;
  if (column == rank - 1) {
    const bool aligned =
        problem.alignment(0, column) == vector_bytes && problem.alignment(1, column) == vector_bytes;
    return aligned ? Layout::rows : Layout::any;
  }
  // Elements of 8 bytes or more use blocks of 16 bytes or none: blocks of 8 bytes would not pay.
  const bool narrow = problem.element_bytes(0) < narrow_bytes && fills_blocks(problem, column, narrow_bytes);
  return narrow || fills_blocks(problem, column, vector_bytes) ? Layout::blocks : Layout::any;
}

TMAJIT_END
