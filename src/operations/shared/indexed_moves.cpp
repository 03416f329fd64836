#include "operations/shared/indexed_moves.hpp"

#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

using Shape = std::vector<std::uint64_t>;

/// A rule that tensors and arguments break; `rule` is empty if they break none.
struct IndexMistake {
  std::string_view rule = {};
  std::string subject = {};
  std::string found = {};
  std::string need = {};
  std::string legal = {};
};

std::string index_name(std::size_t k, std::size_t count) {
  return count == 1 ? std::string("the index tensor") : fmt::format("index tensor {}", k);
}

std::string_view selected_name(const Indexing& what) {
  return what.gathers() ? "the source" : "the destination";
}

/// Finds the first index tensor that cannot be broadcast to `shape`.
IndexMistake broadcast_mistake(std::span<const TensorView> index, const Shape& shape,
                               std::string_view shape_name) {
  for (std::size_t k = 0; k < index.size(); ++k) {
    const auto own = extents(index[k]);
    for (std::size_t i = 1; i <= own.size(); ++i) {
      const std::uint64_t extent = own[own.size() - i];
      if (i <= shape.size() && (extent == 1 || extent == shape[shape.size() - i])) continue;
      return {.rule = "index.shape",
              .subject = fmt::format("{}: shape", index_name(k, index.size())),
              .found = shape_text(own),
              .need = fmt::format("a shape that can be broadcast to {}, {}", shape_text(shape), shape_name),
              .legal = "extents of 1, or equal ones"};
    }
  }
  return {};
}

/// Checks number and types of index tensors.
IndexMistake count_mistake(std::span<const TensorView> index, const Indexing& what) {
  if (index.empty() || index.size() != (what.flat ? 1 : what.axes.size())) {
    return {.rule = "index.count",
            .subject = "index tensors",
            .found = fmt::format("{} for {}", counted(index.size(), "tensor"),
                                 counted(what.axes.size(), "indexed dimension")),
            .need = what.flat     ? "one for all axes together, because they are flat"
                    : what.sums() ? "one, and one axis unless the axes are flat"
                                  : "one for each indexed dimension",
            .legal = what.flat || what.sums() ? "1" : fmt::format("1 to {}", max_inputs - 1)};
  }
  for (std::size_t k = 0; k < index.size(); ++k) {
    const ElementType type = index[k].type;
    const bool is_index = type == ElementType::i32 || type == ElementType::i64 || type == ElementType::u32 ||
                          type == ElementType::u64;
    if (is_index && type == index.front().type) continue;
    return {.rule = "index.type",
            .subject = fmt::format("{}: type", index_name(k, index.size())),
            .found = std::string(name(type)),
            .need = is_index ? fmt::format("{}, the type of index tensor 0", name(index.front().type))
                             : "integers of 4 or 8 bytes",
            .legal = is_index ? "a cast of one of them" : "i32, i64, u32, u64"};
  }
  return {};
}

/// Computes the shape of the moved tensor from that of the selected tensor.
IndexMistake moved_shape(std::span<const std::uint64_t> selected, std::span<const TensorView> index,
                         const Indexing& what, Shape& moved) {
  const std::optional<IndexedAxes> axes = indexed_axes(what.axes, selected.size());
  if (!axes) {
    return {.rule = "index.axes",
            .subject = "indexed axes",
            .found = fmt::format("{}", fmt::join(what.axes, ",")),
            .need = fmt::format("different neighbours, in order, among the axes of {}, which has {}",
                                selected_name(what), counted(selected.size(), "dimension")),
            .legal = selected.empty() ? std::string("a tensor of at least 1 dimension")
                                      : legal_axes(selected.size())};
  }
  if (IndexMistake mistake = count_mistake(index, what); !mistake.rule.empty()) return mistake;
  if (what.along && what.flat) {
    return {.rule = "index.along",
            .subject = "index tensors along an axis",
            .found = "along and flat",
            .need = "one of the two: along has one axis, flat axes are numbered together",
            .legal = "no flat axes"};
  }
  if (!what.along) {
    const Shape common = common_shape(index);
    moved.assign(selected.begin(), selected.begin() + axes->first);
    moved.insert(moved.end(), common.begin(), common.end());
    moved.insert(moved.end(), selected.begin() + axes->first + axes->count, selected.end());
    return broadcast_mistake(index, common, "their common shape");
  }
  const auto own = extents(index.front());
  if (index.size() != 1 || own.size() != selected.size()) {
    return {.rule = "index.along",
            .subject = "index tensors along an axis",
            .found = fmt::format("{}, the first with {}", counted(index.size(), "tensor"),
                                 counted(own.size(), "dimension")),
            .need = fmt::format("one, of the rank of {}", selected_name(what)),
            .legal = fmt::format("a tensor of {}", counted(selected.size(), "dimension"))};
  }
  moved.assign(selected.begin(), selected.end());
  for (std::uint32_t d = 0; d < moved.size(); ++d) {
    if (moved[d] == 1 || d == axes->first) moved[d] = own[d];
  }
  return broadcast_mistake(index, moved, "the shape in which elements are moved");
}

/// An index tensor without its last dimension, which a gather_sum sums.
TensorView without_terms(TensorView view) {
  --view.rank;
  view.shape.at(view.rank) = 0;
  view.strides.at(view.rank) = 0;
  return view;
}

/// Offsets as a tensor with an element for each bag: without the end of the last bag.
TensorView without_end(TensorView offsets) {
  --offsets.shape[0];
  return offsets;
}

/// Checks the tensors of a gather_sum with offsets.
IndexMistake bags_mistake(const TensorView& index, const TensorView& offsets) {
  if (index.rank != 1) {
    return {.rule = "index.bags",
            .subject = "the index tensor: dimensions",
            .found = std::to_string(index.rank),
            .need = "1: offsets divide one list of indices into bags",
            .legal = "an index tensor of one dimension, or no offsets"};
  }
  if (offsets.type != ElementType::i32 && offsets.type != ElementType::i64) {
    return {.rule = "index.offsets-type",
            .subject = "the offsets: type",
            .found = std::string(name(offsets.type)),
            .need = "a signed integer of 4 or 8 bytes",
            .legal = "i32, i64"};
  }
  if (offsets.rank == 1 && offsets.shape[0] > 0) return {};
  return {.rule = "index.offsets-shape",
          .subject = "the offsets: shape",
          .found = shape_text(extents(offsets)),
          .need = "one dimension: the first index of each bag, then the end of the last bag",
          .legal = "a tensor with one element more than there are bags"};
}

/// The index tensors of a gather_sum, as a gather would have them: without the dimension that is summed, and
/// without the weights. With offsets: a tensor with an element for each bag.
IndexMistake terms_mistake(std::span<const TensorView> index, const Indexing& what,
                           std::vector<TensorView>& terms) {
  const std::size_t least = what.ragged ? 2 : 1;
  if (index.size() < least || index.size() > least + 1) {
    return {.rule = "index.count",
            .subject = "index tensors",
            .found = counted(index.size(), "tensor"),
            .need = what.ragged ? "an index tensor, weights or none, and offsets, because the bags are ragged"
                                : "an index tensor, and weights or none",
            .legal = fmt::format("{} or {} tensors after the source", least, least + 1)};
  }
  if (index.front().rank == 0) {
    return {.rule = "index.terms",
            .subject = "the index tensor: dimensions",
            .found = "0",
            .need = "at least 1: the last one is summed",
            .legal = fmt::format("1 to {}", max_view_rank)};
  }
  terms = {without_terms(index.front())};
  if (what.ragged) {
    if (IndexMistake mistake = bags_mistake(index.front(), index.back()); !mistake.rule.empty())
      return mistake;
    terms = {without_end(index.back())};
    terms.front().type = index.front().type;
  }
  if (index.size() == least) return {};
  if (!is_float(index[1].type)) {
    return {.rule = "index.weights-type",
            .subject = "the weights: type",
            .found = std::string(name(index[1].type)),
            .need = "a floating-point type",
            .legal = "f16, bf16, f32, f64 or another one"};
  }
  if (std::ranges::equal(extents(index[0]), extents(index[1]))) return {};
  return {.rule = "index.weights-shape",
          .subject = "the weights: shape",
          .found = shape_text(extents(index[1])),
          .need = fmt::format("{}, that of the index tensor", shape_text(extents(index[0]))),
          .legal = "weights of that shape, with any strides"};
}

/// The views after the source's, without the numbers of an expression.
std::vector<TensorView> index_views(std::span<const TensorView> sources) {
  std::vector<TensorView> index;
  std::ranges::copy_if(sources.subspan(1), std::back_inserter(index),
                       [](const TensorView& view) { return !view.is_number; });
  return index;
}

/// The index tensors whose dimensions the moved tensor has.
IndexMistake moved_index(std::span<const TensorView> index, const Indexing& what,
                         std::vector<TensorView>& moved) {
  if (what.sums()) return terms_mistake(index, what, moved);
  moved.assign(index.begin(), index.end());
  return {};
}

std::vector<TensorView> source_views(const Move& move) {
  std::vector<TensorView> views;
  for (const Tensor& source : move.sources) views.push_back(source.view);
  return views;
}

void refuse_mistake(const IndexMistake& mistake) {
  if (mistake.rule.empty()) return;
  refuse("{}: {}; needed: {}; legal: {}", mistake.subject, mistake.found, mistake.need, mistake.legal);
}

void add_mistake(MoveRules& rules, const IndexMistake& mistake) {
  if (mistake.rule.empty()) return;
  rules.add(mistake.rule, mistake.subject, mistake.found, mistake.need, mistake.legal);
}

/// The types that red.global.add adds; signed integers have the same bits as unsigned ones.
bool is_added(ElementType type) noexcept {
  using enum ElementType;
  constexpr std::array types{i32, u32, i64, u64, f16, bf16, f32, f32_ftz, f64};
  return std::ranges::find(types, type) != types.end();
}

void check_types(MoveRules& rules, const Indexing& what) {
  const ElementType to = rules.move().destination.view.type;
  const ElementType from = rules.move().sources.front().view.type;
  const std::string subject = fmt::format("{}: type", rules.source(0));
  if (what.sums() || what.computes) return;
  if (what.use != IndexedUse::scatter_add) {
    if (size_of(to) == size_of(from)) return;
    return rules.add(
        "view.type", subject, std::string(name(from)),
        fmt::format("a type of {}, like {} of {}: bits are moved as they are", counted(size_of(to), "byte"),
                    name(to), rules.destination()),
        what.gathers() ? "a cast first, or an expression, which converts values" : "a cast first");
  }
  if (to != from) {
    rules.add("index.same-type", subject, std::string(name(from)),
              fmt::format("{}, the type of {}", name(to), rules.destination()), "a cast first");
  }
  if (!is_added(to)) {
    rules.add("index.added-type", fmt::format("{}: type", rules.destination()), std::string(name(to)),
              "a type that the GPU adds in memory", "i32, u32, i64, u64, f16, bf16, f32, f32_ftz, f64");
  }
}

/// The selected tensor's view with the moved tensor's dimensions: stride 0 in those that come from an index,
/// and in those that are broadcast.
TensorView with_index_dimensions(const TensorView& selected, const TensorView& moved, const Indexing& what,
                                 const IndexedAxes& axes) {
  TensorView view = moved;
  view.type = selected.type;
  view.strides = {};
  const std::uint32_t inserted = what.along ? 1 : moved.rank + axes.count - selected.rank;
  for (std::uint32_t d = 0; d < selected.rank; ++d) {
    if (d >= axes.first && d < axes.first + axes.count) continue;
    const std::uint32_t to = d < axes.first ? d : d - axes.count + inserted;
    view.strides[to] = selected.shape[d] == 1 && moved.shape[to] != 1 ? 0 : selected.strides[d];
  }
  return view;
}

/// An index tensor's view, broadcast to the moved tensor's shape; its dimensions end before dimension `end`.
/// A number has one element, whatever its dimensions.
TensorView spread_index(const TensorView& index, const TensorView& moved, std::uint32_t end) {
  TensorView view = moved;
  view.type = index.type;
  view.is_number = index.is_number;
  view.strides = {};
  if (index.is_number) return view;
  for (std::uint32_t d = 0; d < index.rank; ++d) {
    const std::uint32_t to = end - index.rank + d;
    view.strides[to] = index.shape[d] == 1 ? 0 : index.strides[d];
  }
  return view;
}

/// The flat axes of the selected tensor as few axes as their strides allow, the outermost first: axes that
/// are contiguous to each other are one.
std::vector<IndexedProblem::Axis> merged_axes(const TensorView& selected, const IndexedAxes& axes) {
  std::vector<IndexedProblem::Axis> merged;
  for (std::uint32_t d = axes.first; d < axes.first + axes.count; ++d) {
    const IndexedProblem::Axis axis{selected.shape[d], selected.strides[d]};
    if (axis.extent == 0) return {{0, 0}};
    if (axis.extent == 1) continue;
    const bool joins =
        !merged.empty() && merged.back().stride == axis.stride * static_cast<std::int64_t>(axis.extent);
    if (joins) {
      merged.back() = {merged.back().extent * axis.extent, axis.stride};
    } else {
      merged.push_back(axis);
    }
  }
  if (merged.empty()) merged.push_back({1, 0});
  return merged;
}

}  // namespace

std::optional<IndexedAxes> indexed_axes(const Dims& axes, std::size_t rank) noexcept {
  if (axes.empty()) return std::nullopt;
  IndexedAxes result{.first = 0, .count = static_cast<std::uint32_t>(axes.size())};
  for (std::uint32_t k = 0; k < result.count; ++k) {
    const std::optional<std::uint32_t> axis = dimension_of(axes[k], rank);
    if (!axis) return std::nullopt;
    if (k == 0) result.first = *axis;
    if (*axis != result.first + k) return std::nullopt;
  }
  return result;
}

Shape gathered_shape(std::span<const TensorView> sources, const Indexing& what) {
  Shape moved;
  std::vector<TensorView> index;
  refuse_mistake(moved_index(index_views(sources), what, index));
  refuse_mistake(moved_shape(extents(sources.front(), the_source), index, what, moved));
  return moved;
}

Shape scattered_shape(std::span<const TensorView> sources, const Indexing& what) {
  const auto source = extents(sources.front(), the_source);
  const std::span<const TensorView> index = sources.subspan(1);
  refuse_mistake(count_mistake(index, what));
  Shape shape(source.begin(), source.end());
  if (!what.along) {
    const Shape common = common_shape(index);
    const std::size_t rank = source.size() + what.axes.size() - std::min(common.size(), source.size());
    const std::optional<IndexedAxes> axes = indexed_axes(what.axes, rank);
    if (!axes || axes->first + common.size() > source.size()) {
      refuse(
          "{} of shape {} and indices of shape {} for the axes {}; the source needs the dimensions of the "
          "indices in place of the destination's indexed axes",
          the_source, shape_text(source), shape_text(common), fmt::join(what.axes, ","));
    }
    const auto first = shape.begin() + axes->first;
    shape.insert(shape.erase(first, first + static_cast<std::ptrdiff_t>(common.size())), axes->count, 1);
    shape[axes->first] = sat_product(common);
  }
  Shape moved;
  refuse_mistake(moved_shape(shape, index, what, moved));
  return shape;
}

void check_indexed(MoveRules& rules, const Indexing& what) {
  const Move& move = rules.move();
  if (!rules.check_min_sources(1)) return;
  check_types(rules, what);
  const bool gathers = what.gathers();
  const TensorView& selected = gathers ? move.sources.front().view : move.destination.view;
  const TensorView& moved = gathers ? move.destination.view : move.sources.front().view;
  Shape shape;
  std::vector<TensorView> index;
  if (const IndexMistake mistake = moved_index(index_views(source_views(move)), what, index);
      !mistake.rule.empty())
    return add_mistake(rules, mistake);
  if (const IndexMistake mistake = moved_shape(extents(selected), index, what, shape); !mistake.rule.empty())
    return add_mistake(rules, mistake);
  const std::string moved_name = gathers ? rules.destination() : "the source";
  if (!std::ranges::equal(extents(moved), shape)) {
    return rules.add(
        "index.moved-shape", fmt::format("{}: shape", moved_name), shape_text(extents(moved)),
        fmt::format("{}, which follows from {} and the indices", shape_text(shape), selected_name(what)),
        gathers ? "a destination of that shape" : "a source of that shape");
  }
  const IndexedAxes axes = indexed_axes(what.axes, selected.rank).value();
  for (std::uint32_t d = 0; d < selected.rank; ++d) {
    const bool is_indexed = d >= axes.first && d < axes.first + axes.count;
    if (is_indexed && what.out_of_range == OutOfRange::clamp && selected.shape[d] == 0 &&
        moved.elements() > 0) {
      rules.add("index.empty-axis", fmt::format("axis {} of {}", d, selected_name(what)), "0 elements",
                "at least 1 element, to which indices can be clamped", "the policy skip");
    }
    if (gathers || !what.along || is_indexed || selected.shape[d] == moved.shape[d]) continue;
    rules.add(
        "index.repeated", fmt::format("dimension {} of {}", d, rules.destination()),
        counted(selected.shape[d], "element"),
        fmt::format("{}, as the source has: each index must select elements of its own", moved.shape[d]),
        "a source and an index tensor with the destination's extent");
  }
  if (!what.flat) return;
  const std::size_t flat = merged_axes(selected, axes).size();
  if (flat > 1 && std::max(moved.rank, 2U) + flat > max_view_rank) {
    rules.add(
        "index.flat-axes", "flat axes",
        fmt::format("{} that are not contiguous to each other, and a {} of {}", counted(flat, "dimension"),
                    gathers ? "destination" : "source", counted(moved.rank, "dimension")),
        fmt::format("at most {} dimensions in all", max_view_rank),
        "axes that are contiguous to each other, or fewer dimensions");
  }
}

Problem indexed_problem(const Move& move, const Indexing& what, double value) {
  const bool gathers = what.gathers();
  const TensorView selected = gathers ? move.sources.front().view : move.destination.view;
  const TensorView moved = gathers ? move.destination.view : move.sources.front().view;
  const IndexedAxes axes = indexed_axes(what.axes, selected.rank).value();
  IndexedProblem body{.operation = std::visit([](const auto& one) { return one.operation; }, move.body),
                      .use = what.use,
                      .out_of_range = what.out_of_range,
                      .value = value};
  Move expanded = move;
  (gathers ? expanded.sources.front() : expanded.destination).view =
      with_index_dimensions(selected, moved, what, axes);
  const std::uint32_t after = what.along ? 0 : selected.rank - axes.first - axes.count;
  const std::vector<IndexedProblem::Axis> flat =
      what.flat ? merged_axes(selected, axes) : std::vector<IndexedProblem::Axis>{};
  body.indices = what.flat ? 1 : axes.count;
  body.terms.ragged = what.ragged;
  body.flat = flat.size() > 1 ? static_cast<std::uint32_t>(flat.size()) : 0;
  std::ranges::copy(flat, body.axis.begin());
  for (std::uint32_t k = 0; k < axes.count && !what.flat; ++k)
    body.axis[k] = {selected.shape[axes.first + k], selected.strides[axes.first + k]};
  for (std::size_t i = 1; i < move.sources.size(); ++i) {
    TensorView index = move.sources[i].view;
    if (what.ragged && i + 1 == move.sources.size()) {
      body.terms.offset_stride = index.strides[0];
      index = without_end(index);
      body.terms.bags = index.shape[0];
    } else if (what.sums()) {
      const std::uint32_t last = index.rank - 1;
      body.terms.count = index.shape[last];
      (i == 1 ? body.terms.index_stride : body.terms.weight_stride) = index.strides[last];
      index = without_terms(index);
    }
    expanded.sources[i].view = spread_index(index, moved, moved.rank - after);
  }
  Problem problem{.body = body};
  set_operands(problem, expanded, {.primary = gathers ? 0U : 1U});
  set_reach(problem, move);
  problem.destination = move.destination.view;
  if (move.destination.view.elements() == 0) {
    problem.nest.rank = 1;
    problem.nest.shape[0] = 0;
  }
  return problem;
}

Operation indexed_operation(const Tensor& destination, const Tensor& source, std::span<const Tensor> index,
                            const MoveBody& body) {
  std::vector<Tensor> sources{source};
  sources.insert(sources.end(), index.begin(), index.end());
  return one_move({.destination = destination, .sources = sources, .body = body}, sources);
}

TMAJIT_END
