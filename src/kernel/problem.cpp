#include "kernel/problem.hpp"

#include "spec/limits.hpp"
#include "spec/overlap.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t narrow_bytes = 8;
constexpr std::uint64_t short_run = 64;  // bytes of a dimension that blocks or chunks serve badly

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The destination of a reduction in all dimensions of its sources: with stride 0 in those that it lacks.
TensorView expanded(const TensorView& destination, const Move& move, ReducedDimensions& reduced) {
  const Reduction& reduction = *move.reduction;
  TensorView view = move.sources.front().view;
  view.type = destination.type;
  for (const std::int64_t axis : reduction.axes) {
    reduced.reduced[static_cast<std::size_t>(axis < 0 ? axis + view.rank : axis)] = true;
  }
  std::uint32_t kept = destination.rank;
  std::int64_t place = 1;
  const bool has_places = reduction.op == ReductionOp::arg_min || reduction.op == ReductionOp::arg_max;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    view.strides[d] = reduced.reduced[d] ? 0 : destination.strides[--kept];
    if (!reduced.reduced[d] || !has_places) continue;
    reduced.place[d] = place;
    place *= static_cast<std::int64_t>(view.shape[d]);
  }
  return view;
}

/// Elements of the last dimension, if they make one wider element in both views; else 1.
std::uint32_t joinable(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 3 || nest.windowed || !problem.expression.empty() || problem.combine || problem.windows) {
    return 1;
  }
  const std::uint32_t last = nest.rank - 1;
  const std::uint64_t size = problem.element_bytes(0);
  if (nest.shape[last] > vector_bytes / size || !std::has_single_bit(nest.shape[last])) return 1;
  for (const std::uint32_t i : {0U, 1U}) {
    if (nest.operand[i].strides[last] != 1) return 1;
    if (problem.alignment(i, last) < size * nest.shape[last]) return 1;
  }
  return static_cast<std::uint32_t>(nest.shape[last]);
}

/// The nest for tensor maps: it has a dimension, also of one element, and where it can be, a last one that is
/// no longer than a box. One box of a long row would be a short tile.
void make_mapped(CanonicalNest& nest, std::uint32_t element_bytes) {
  const auto add_dimension = [&](std::uint64_t extent) {
    nest.shape[nest.rank] = extent;
    for (std::uint32_t i = 0; i < nest.operands; ++i) nest.operand[i].strides[nest.rank] = 1;
    ++nest.rank;
  };
  if (nest.rank == 0) add_dimension(1);
  const std::uint32_t last = nest.rank - 1;
  const std::uint64_t row = nest.shape[last];
  if (row <= max_box || nest.rank >= max_map_rank) return;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    if (nest.operand[i].strides[last] != 1) return;
  }
  for (std::uint64_t box = max_box; box >= max_box / 4; --box) {
    if (row % box != 0 || box * element_bytes % vector_bytes != 0) continue;
    nest.shape[last] = row / box;
    for (std::uint32_t i = 0; i < nest.operands; ++i)
      nest.operand[i].strides[last] = static_cast<std::int64_t>(box);
    return add_dimension(box);
  }
}

/// The same move in wider elements, if that makes a transpose: a last dimension of 2, 4, 8 or 16 bytes that
/// lies in one piece in both views is then one element. All else stays as it is.
Problem widened(Problem problem) {
  const std::uint32_t joined = joinable(problem);
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
    // Of an element that was walked backwards the view's address is the last part.
    operand.offset = (operand.offset + (joined - 1)) >> std::countr_zero(joined);
  }
  return layout_of(wide) == Layout::blocks ? wide : problem;
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

Problem make_problem(const Move& move) {
  Problem problem;
  problem.expression = move.expression;
  if (move.reduction) {
    problem.reduction = move.reduction->op;
    problem.expression = move.reduction->expression.empty() ? "x" : move.reduction->expression;
    problem.then = move.reduction->then;
  }
  problem.combine = move.combine;
  problem.reads = reads_of(problem.expression);

  std::vector<TensorView> views{move.destination.view};
  for (const Tensor& source : move.sources) views.push_back(source.view);
  std::vector<DevicePtr> addresses{move.destination.address};
  for (const Tensor& source : move.sources) addresses.push_back(source.address);

  SourceWindow window;
  NestOptions options{.keep_dimensions = problem.reads.g || move.stencil.has_value()};
  ReducedDimensions reduced;
  if (move.reduction) {
    views[0] = expanded(views[0], move, reduced);
    options.reduced = &reduced;
  }
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

  if (move.stencil) {
    const auto sources = static_cast<std::uint32_t>(move.sources.size());
    StencilProblem& stencil = problem.stencil.emplace();
    static_cast<void>(read_calls(move.expression, sources, stencil.calls));
    stencil.dim = stencil_dims(*move.stencil, views[0].rank, stencil.calls.offsets).value();
    stencil.boundary = move.stencil->boundary;
    stencil.value = move.stencil->value;
  }
  if (move.windows) {
    problem.windows = window_problem(move);
    problem.nest = window_nest(*problem.windows);
  } else {
    problem.nest = canonical(views, options);
  }
  if (move.combine && !problem.nest.empty()) make_mapped(problem.nest, size_of(views[0].type));
  std::array<std::optional<ByteRange>, max_operands> ranges;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    problem.type[i] = views[i].type;
    const auto offset = problem.nest.operand[i].offset * static_cast<std::int64_t>(size_of(views[i].type));
    problem.address[i] = addresses[i] + static_cast<DevicePtr>(offset);
    const Tensor& tensor = i == 0 ? move.destination : move.sources[i - 1];
    ranges[i] = byte_range({tensor.view, tensor.address});
    if (!ranges[i]) continue;
    problem.low[i] = ranges[i]->first;
    problem.high[i] = ranges[i]->last + 1;
    problem.interleaved[i] = i > 0 && ranges[0] && meet(*ranges[0], *ranges[i]);
  }
  return widened(std::move(problem));
}

std::uint32_t Problem::alignment(std::uint32_t operand, std::uint32_t along) const noexcept {
  std::uint64_t bits = 16 | address[operand];
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (d != along && nest.shape[d] > 1) bits |= static_cast<std::uint64_t>(step(operand, d));
  }
  return 1U << std::countr_zero(bits);
}

TensorView Problem::view(std::uint32_t operand) const {
  if (!views.empty()) return views[operand];
  TensorView view{.type = type[operand], .rank = nest.rank, .shape = nest.shape};
  view.strides = nest.operand[operand].strides;
  return view;
}

std::uint64_t Problem::bytes_written() const noexcept {
  if (!views.empty()) return sat_mul(views[0].elements(), element_bytes(0));
  std::uint64_t elements = nest.empty() ? 0 : 1;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    // What is reduced is written once.
    if (nest.operand[0].strides[d] != 0 || !reduction) elements = sat_mul(elements, nest.shape[d]);
  }
  return sat_mul(elements, element_bytes(0));
}

std::uint64_t Problem::bytes_read(std::uint32_t operand) const noexcept {
  std::uint64_t elements = nest.empty() ? 0 : 1;
  if (windows) {
    const TensorView& source = operand == 1 ? windows->images : windows->filter;
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
  return sat_mul(elements, element_bytes(operand));
}

std::uint64_t Problem::bytes_read() const noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 1; i < nest.operands; ++i) bytes = sat_add(bytes, bytes_read(i));
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

Layout layout_of(const Problem& problem) noexcept {
  const std::uint32_t rank = problem.nest.rank;
  if (rank == 0 || problem.sources() != 1 || !problem.reads_bits()) return Layout::any;
  if (problem.nest.operand[0].strides[rank - 1] != 1) return Layout::any;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  if (column == rank) return Layout::any;
  if (column == rank - 1) {
    const bool aligned =
        problem.alignment(0, column) == vector_bytes && problem.alignment(1, column) == vector_bytes;
    return aligned ? Layout::rows : Layout::any;
  }
  // Elements of 8 bytes and more need no blocks of 8 bytes: they are worth those of 16 or none.
  const bool narrow = problem.element_bytes(0) < narrow_bytes && fills_blocks(problem, column, narrow_bytes);
  return narrow || fills_blocks(problem, column, vector_bytes) ? Layout::blocks : Layout::any;
}

TMAJIT_END
