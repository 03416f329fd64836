#include "operations/recipes/recipe.hpp"
#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using enum OperandShape;

bool is_quantised(ElementType type) noexcept {
  return type == ElementType::e4m3 || type == ElementType::e5m2 || type == ElementType::i8;
}

bool accepts(OperandElements elements, ElementType type) noexcept {
  switch (elements) {
    case OperandElements::floating:
    case OperandElements::statistic: return is_float(type);
    case OperandElements::integer: return !is_float(type);
    case OperandElements::quantised: return is_quantised(type);
    case OperandElements::any: break;
  }
  return true;
}

std::string_view legal_types(OperandElements elements) noexcept {
  if (elements == OperandElements::integer) return "integers";
  return elements == OperandElements::quantised ? "e4m3, e5m2 and i8" : "floating-point types";
}

std::vector<std::uint64_t> with_extent(std::span<const std::uint64_t> shape, std::uint32_t axis,
                                       std::uint64_t extent) {
  std::vector<std::uint64_t> changed(shape.begin(), shape.end());
  changed[axis] = extent;
  return changed;
}

std::vector<std::uint64_t> without(std::span<const std::uint64_t> shape, std::uint32_t axis) {
  std::vector<std::uint64_t> changed(shape.begin(), shape.end());
  changed.erase(changed.begin() + axis);
  return changed;
}

/// The tensor with a further dimension `axis`, of extent 1.
Tensor with_new_axis(Tensor tensor, std::uint32_t axis) {
  TensorView& view = tensor.view;
  std::shift_right(view.shape.begin() + axis, view.shape.begin() + view.rank + 1, 1);
  std::shift_right(view.strides.begin() + axis, view.strides.begin() + view.rank + 1, 1);
  view.shape[axis] = 1;
  view.strides[axis] = 0;
  ++view.rank;
  return tensor;
}

/// Checks the operands of one call, and makes the tensors of its rowwise operation.
class RecipeCall {
 public:
  /// `rows` are the shape and the type of the source `row_source()`.
  RecipeCall(const RecipeRow& row, const TensorView& rows, std::size_t source_count, const Arguments& given)
      : row_(row),
        type_(rows.type),
        source_count_(source_count),
        has_tiles_(has_operand(row.info, OperandShape::tile)),
        is_one_row_(has_operand(row.info, OperandShape::tensor)),
        block_(given.count("block")),
        pairs_(given.text("layout") == "pairs") {
    if (has_tiles_ && block_ == 0) block_ = default_tile;
    const auto shape = extents(rows, operand(row_source()).name);
    const auto rank = static_cast<std::uint32_t>(shape.size());
    if (has_tiles_ && rank < 2) {
      refuse("{}: {} has {}; legal are 2 or more, of which the last two are cut into blocks", name(),
             operand(row_source()).name, counted(rank, "dimension"));
    }
    axis_ = resolve_axes({given.axis("axis", -1)}, rank, fmt::format("{}: axis", name())).front();
    own_.assign(shape.begin(), shape.end());
    rows_ = own_;
    if (is_split(operand(row_source()))) {
      if (own_[axis_] % 2 != 0) {
        refuse("{}: {} has {} along axis {}; legal is an even number, as each row has two halves", name(),
               operand(row_source()).name, counted(own_[axis_], "element"), axis_);
      }
      rows_[axis_] /= 2;
    }
    if (block_ > 0) check_blocks();
  }

  /// The number of the first source that has the shape of the rows.
  static std::size_t row_source(const RecipeRow& row) {
    const auto is_row = [](const OperandInfo& one) {
      return one.shape == rows || one.shape == halves || one.shape == rows_or_halves;
    };
    return static_cast<std::size_t>(std::ranges::find_if(row.info.sources, is_row) -
                                    row.info.sources.begin());
  }

  /// The dimensions of a row of the steps.
  [[nodiscard]] Dims row_axes() const {
    if (has_tiles_) return {-3, -1};
    if (is_one_row_) {
      std::vector<std::int64_t> all(rows_.size());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    return {static_cast<std::int64_t>(row_axis())};
  }
  [[nodiscard]] std::size_t destination_count() const {
    return row_.info.destinations.size() - (is_joined() && row_.info.destinations.size() > 1 ? 1 : 0);
  }

  /// The shape of an operand; one number for each row has no dimension for the axis.
  [[nodiscard]] std::vector<std::uint64_t> shape_of_operand(const OperandInfo& one) const {
    switch (one.shape) {
      case row: return without(rows_, axis_);
      case OperandShape::block:
        return block_ == 0 ? without(rows_, axis_) : with_extent(rows_, axis_, rows_[axis_] / block_);
      case OperandShape::tile:
        return with_extent(with_extent(rows_, axis_, rows_[axis_] / block_), axis_ - 1,
                           rows_[axis_ - 1] / block_);
      case OperandShape::axis: return {rows_[axis_]};
      case OperandShape::tensor: return {};
      case rows:
      case half:
      case halves:
      case rows_or_halves: break;
    }
    return is_split(one) ? with_extent(rows_, axis_, 2 * rows_[axis_]) : rows_;
  }

  [[nodiscard]] ElementType type_of(const OperandInfo& one, const Arguments& given) const {
    switch (one.elements) {
      case OperandElements::integer: return ElementType::i64;
      case OperandElements::statistic: return type_ == ElementType::f64 ? ElementType::f64 : ElementType::f32;
      case OperandElements::quantised: return parse<ElementType>(given.text("to", "e4m3"));
      case OperandElements::floating:
      case OperandElements::any: break;
    }
    return type_;
  }

  /// Adds a source's tensors as the steps read them.
  void add_source(const OperandInfo& one, const Tensor& tensor, std::vector<Tensor>& to) const {
    if (!accepts(one.elements, tensor.view.type)) {
      refuse("{}: {} has elements of {}; legal are {}{}", name(), one.name, tmajit::name(tensor.view.type),
             legal_types(one.elements),
             one.elements == OperandElements::quantised ? "" : "; cast converts elements");
    }
    if (one.shape == half) {
      to.push_back(
          broadcast(tensor, std::span<const std::uint64_t>(rows_), fmt::format("{}: {}", name(), one.name)));
      return;
    }
    require_shape(one, tensor);
    add(one, tensor, to);
    if (one.shape == OperandShape::axis) {
      // Weights extend along the axis, and are broadcast along all other dimensions.
      TensorView& view = to.back().view;
      const std::int64_t stride = view.strides[0];
      view = TensorView::contiguous(
          view.type, with_extent(std::vector<std::uint64_t>(rows_.size(), 1), axis_, rows_[axis_]));
      view.strides[axis_] = stride;
    }
    if (one.shape == OperandShape::tile)
      to.back() = with_new_axis(with_new_axis(to.back(), axis_), axis_ + 2);
    while (one.shape == OperandShape::tensor && to.back().view.rank < row_rank())
      to.back() = with_new_axis(to.back(), 0);
    const bool by_row = one.shape == row || one.shape == OperandShape::block;
    if (by_row && to.back().view.rank < row_rank()) to.back() = with_new_axis(to.back(), row_axis());
  }

  /// Adds a destination's tensors as the steps write them.
  void add_destination(const OperandInfo& one, const Tensor& tensor, std::vector<Tensor>& to) const {
    if (one.elements == OperandElements::quantised && !is_quantised(tensor.view.type)) {
      refuse("{}: {} has elements of {}; legal are {}", name(), one.name, tmajit::name(tensor.view.type),
             legal_types(one.elements));
    }
    // rowwise checks the shapes of other destinations.
    if (is_split(one) || block_ > 0) require_shape(one, tensor);
    add(one, tensor, to);
  }

 private:
  static constexpr std::uint32_t default_tile = 128;
  static bool has_operand(const OperationInfo& info, OperandShape shape) {
    const auto has_shape = [shape](const OperandInfo& one) { return one.shape == shape; };
    return std::ranges::any_of(info.sources, has_shape) || std::ranges::any_of(info.destinations, has_shape);
  }

  [[nodiscard]] std::string_view name() const { return row_.info.name; }
  [[nodiscard]] std::uint32_t row_axis() const { return axis_ + (block_ > 0 ? 1 : 0); }
  [[nodiscard]] const OperandInfo& operand(std::size_t source) const { return row_.info.sources[source]; }
  [[nodiscard]] std::size_t row_source() const { return row_source(row_); }
  [[nodiscard]] std::uint32_t row_rank() const {
    return static_cast<std::uint32_t>(rows_.size()) + (block_ > 0 ? 1 : 0);
  }
  /// Whether an operand of the shape rows_or_halves holds two halves.
  [[nodiscard]] bool is_joined() const {
    return source_count_ < row_.info.max_sources &&
           std::ranges::any_of(row_.info.sources,
                               [](const OperandInfo& one) { return one.shape == rows_or_halves; });
  }
  [[nodiscard]] bool is_split(const OperandInfo& one) const {
    return one.shape == halves || (one.shape == rows_or_halves && is_joined());
  }

  void check_blocks() const {
    if (has_tiles_ && (rows_[axis_] % block_ != 0 || rows_[axis_ - 1] % block_ != 0)) {
      refuse("{}: blocks of {}x{} in a matrix of {}x{}; legal are divisors of both extents", name(), block_,
             block_, rows_[axis_ - 1], rows_[axis_]);
    }
    if (rows_[axis_] % block_ != 0) {
      refuse("{}: blocks of {} in rows of {}; legal are divisors of that number", name(),
             counted(block_, "element"), rows_[axis_]);
    }
    const std::size_t most = max_view_rank - (has_tiles_ ? 2 : 1);
    if (rows_.size() > most) {
      refuse("{}: blocks of rows in tensors of {}; legal are at most {}", name(),
             counted(rows_.size(), "dimension"), most);
    }
  }

  void require_shape(const OperandInfo& one, const Tensor& tensor) const {
    const auto found = extents(tensor.view, fmt::format("{}: {}", name(), one.name));
    const std::vector<std::uint64_t> wanted = shape_of_operand(one);
    if (std::ranges::equal(found, wanted)) return;
    std::string legal = shape_text(wanted);
    if (wanted.size() < rows_.size() && one.shape != OperandShape::axis &&
        one.shape != OperandShape::tensor) {
      const std::vector<std::uint64_t> kept = with_extent(rows_, axis_, 1);
      if (std::ranges::equal(found, kept)) return;
      legal += " or " + shape_text(kept);
    }
    const std::string how = has_tiles_    ? fmt::format("in blocks of {0}x{0}", block_)
                            : is_one_row_ ? "and one scale"
                                          : fmt::format("and the axis is {}", axis_);
    refuse("{}: {} has the shape {}; legal is {}, as {} has {} {}", name(), one.name, shape_text(found),
           legal, operand(row_source()).name, shape_text(own_), how);
  }

  void add(const OperandInfo& one, const Tensor& tensor, std::vector<Tensor>& to) const {
    if (is_split(one)) {
      to.push_back(part(tensor, 0));
      to.push_back(part(tensor, 1));
    } else if (block_ > 0 && one.shape == rows) {
      to.push_back(cut(tensor, axis_));
      if (has_tiles_) to.back() = cut(to.back(), axis_ - 1);
    } else {
      to.push_back(tensor);
    }
  }

  /// The dimension `axis` as two dimensions: blocks, and the elements of a block.
  [[nodiscard]] Tensor cut(const Tensor& tensor, std::uint32_t axis) const {
    Tensor made = with_new_axis(tensor, axis);
    TensorView& view = made.view;
    view.shape[axis] = view.shape[axis + 1] / block_;
    view.strides[axis] = view.strides[axis + 1] * static_cast<std::int64_t>(block_);
    view.shape[axis + 1] = block_;
    return made;
  }

  /// Half `number`, 0 or 1, of each row; in the layout "pairs", every second element from that number on.
  [[nodiscard]] Tensor part(const Tensor& tensor, std::uint32_t number) const {
    if (!pairs_) return part_of(tensor, axis_, number * rows_[axis_], rows_[axis_]);
    std::array<Slice, max_view_rank> slices{};
    slices[axis_] = {.start = number, .stop = {}, .step = 2};
    return sliced(tensor, std::span(slices).first(axis_ + 1));
  }

  const RecipeRow& row_;
  ElementType type_;
  std::size_t source_count_;
  bool has_tiles_;   ///< the last two dimensions are cut into square blocks
  bool is_one_row_;  ///< the whole tensor is one row
  std::uint32_t block_;
  bool pairs_;
  std::uint32_t axis_ = 0;
  std::vector<std::uint64_t> own_;   ///< shape of the source row_source()
  std::vector<std::uint64_t> rows_;  ///< shape of the steps' rows, before they are cut into blocks
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

double eps_of(const RecipeRow& row, const Arguments& given) {
  const double eps = given.number("eps", row.eps);
  if (!(eps >= 0) || std::isinf(eps))
    refuse("{}: eps is {}; legal are finite numbers, 0 or more", row.info.name, eps);
  return eps;
}

/// The type of the quantised destination, which the argument `to` must name if it is given.
ElementType quantised_type(const RecipeRow& row, std::span<const Tensor> destinations,
                           const Arguments& given) {
  for (std::size_t k = 0; k < row.info.destinations.size(); ++k) {
    if (row.info.destinations[k].elements != OperandElements::quantised) continue;
    const ElementType type = destinations[k].view.type;
    const std::string_view to = given.text("to");
    if (!to.empty() && to != name(type)) {
      refuse("{}: to is {}, but {} has elements of {}; both must be the same", row.info.name, to,
             row.info.destinations[k].name, name(type));
    }
    return type;
  }
  return ElementType::e4m3;
}

Arguments arguments_of(const RecipeOptions& options) {
  Arguments given;
  if (options.axis != -1) given.set("axis", options.axis);
  if (options.eps) given.set("eps", *options.eps);
  if (options.block != 0) given.set("block", std::int64_t{options.block});
  if (options.to) given.set("to", std::string(tmajit::name(*options.to)));
  if (!options.layout.empty()) given.set("layout", std::string(options.layout));
  return given;
}

}  // namespace

std::vector<TensorView> recipe_sources(const RecipeRow& row, const TensorView& rows, std::size_t count,
                                       const Arguments& given) {
  const RecipeCall call(row, rows, count, given);
  std::vector<TensorView> views;
  for (const OperandInfo& one : row.info.sources.first(count))
    views.push_back(TensorView::contiguous(call.type_of(one, given), call.shape_of_operand(one)));
  return views;
}

std::vector<TensorView> recipe_destinations(const RecipeRow& row, std::span<const TensorView> sources,
                                            const Arguments& given) {
  const RecipeCall call(row, sources[RecipeCall::row_source(row)], sources.size(), given);
  std::vector<Tensor> checked;
  for (std::size_t i = 0; i < sources.size(); ++i) call.add_source(row.info.sources[i], sources[i], checked);
  std::vector<TensorView> views;
  for (const OperandInfo& one : row.info.destinations.first(call.destination_count()))
    views.push_back(TensorView::contiguous(call.type_of(one, given), call.shape_of_operand(one)));
  return views;
}

Operation make_recipe(const RecipeRow& row, std::span<const Tensor> destinations,
                      std::span<const Tensor> sources, const Arguments& given) {
  const RecipeCall call(row, sources[RecipeCall::row_source(row)].view, sources.size(), given);
  if (destinations.size() != call.destination_count()) {
    std::vector<std::string_view> names;
    for (const OperandInfo& one : row.info.destinations.first(call.destination_count()))
      names.push_back(one.name);
    refuse_destinations(row.info.name, destinations.size(), names);
  }
  std::vector<Tensor> to;
  std::vector<Tensor> from;
  std::vector<std::uint32_t> parts;
  bool is_f64 = false;
  bool is_narrow = true;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    call.add_source(row.info.sources[i], sources[i], from);
    parts.resize(from.size(), i);
    const ElementType type = sources[i].view.type;
    is_f64 = is_f64 || type == ElementType::f64;
    is_narrow = is_narrow && (!is_float(type) || size_of(type) <= 2);
  }
  for (std::size_t k = 0; k < destinations.size(); ++k)
    call.add_destination(row.info.destinations[k], destinations[k], to);

  const RecipeFacts facts{.source_count = sources.size(), .to = quantised_type(row, destinations, given)};
  const std::string with_exp = replaced(row.steps(facts), "EXP", is_narrow ? "fast_exp" : "exp@");
  const std::string steps = replaced(with_exp, "@", is_f64 ? "" : "f");
  if (std::ranges::find(row.info.arguments, "eps", &Argument::name) != row.info.arguments.end()) {
    from.push_back(number(eps_of(row, given), is_f64 ? ElementType::f64 : ElementType::f32));
    parts.push_back(Operation::own_number);
  }
  Operation made = operation::rowwise(to, {.steps = steps, .axes = call.row_axes()}, from);
  made.destinations.assign(destinations.begin(), destinations.end());
  made.sources.assign(sources.begin(), sources.end());
  made.source_parts = std::move(parts);
  return made;
}

Operation Recipe::operator()(List<Tensor> destinations, List<Tensor> sources,
                             const RecipeOptions& options) const {
  return make_operation(name, destinations, sources, arguments_of(options));
}

TMAJIT_END
