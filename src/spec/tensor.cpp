#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tensor.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view the_tensor = "the tensor";

[[noreturn]] void refuse_tensor(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// `tensor`'s address after `steps` indices of dimension d. Modulo 2^64, so that the opposite steps lead back
/// even if the tensor has no memory yet.
DevicePtr moved_address(const Tensor& tensor, std::uint32_t d, std::int64_t steps) {
  return tensor.address + static_cast<std::uint64_t>(steps) *
                              static_cast<std::uint64_t>(tensor.view.strides[d]) * size_of(tensor.view.type);
}

std::int64_t signed_extent(std::uint64_t extent, std::uint32_t d, std::string_view what) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (extent > static_cast<std::uint64_t>(most)) {
    refuse_tensor(
        fmt::format("{} has {} elements in dimension {}; at most 2^63 - 1 are possible", what, extent, d));
  }
  return static_cast<std::int64_t>(extent);
}

/// stride · step of a dimension of `extent` elements; an arbitrary value for an extent of at most 1.
std::int64_t scaled(std::int64_t stride, std::int64_t step, std::uint64_t extent, std::uint32_t d,
                    std::string_view what) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(stride, step, &product)) return product;
  if (extent <= 1) return stride;
  refuse_tensor(fmt::format("{}, dimension {}: a stride of {} elements times a step of {} is past 2^63", what,
                            d, stride, step));
}

/// Indices of a dimension that a slice selects: the first and their number.
struct Range {
  std::int64_t first = 0;
  std::uint64_t count = 0;
};

/// Resolves a slice as Python's slice.indices() does.
Range resolve(const Slice& slice, std::int64_t extent) {
  const bool up = slice.step > 0;
  const std::int64_t lowest = up ? 0 : -1;
  const std::int64_t highest = up ? extent : extent - 1;
  const auto position = [&](std::optional<std::int64_t> given, std::int64_t fallback) {
    if (!given) return fallback;
    const std::int64_t from_start = *given < 0 ? *given + extent : *given;
    return std::clamp(from_start, lowest, highest);
  };
  const std::int64_t first = position(slice.start, up ? lowest : highest);
  const std::int64_t stop = position(slice.stop, up ? highest : lowest);
  const std::int64_t length = up ? stop - first : first - stop;
  if (length <= 0) return {};
  const auto step = static_cast<std::uint64_t>(slice.step);
  return {first, (static_cast<std::uint64_t>(length) - 1) / (up ? step : 0 - step) + 1};
}

/// The number of elements. Throws for a shape whose count does not fit 64 bits.
std::uint64_t count_of(std::span<const std::uint64_t> shape) {
  if (std::ranges::find(shape, 0U) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      refuse_tensor(fmt::format("a shape of {} has more than 2^64 elements", shape_text(shape)));
    }
  }
  return count;
}

/// The dimensions of more than one element. Adjacent dimensions that can be walked as one are merged into a
/// run.
struct Runs {
  std::array<std::uint64_t, max_view_rank> extent{};
  std::array<std::int64_t, max_view_rank> stride{};
  std::uint32_t size = 0;
};

Runs runs_of(const TensorView& view) {
  Runs runs;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 1) continue;
    if (runs.size > 0) {
      const std::uint32_t last = runs.size - 1;
      std::int64_t whole = 0;
      const bool fits = !__builtin_mul_overflow(view.strides[d], view.shape[d], &whole);
      if (fits && runs.stride[last] == whole) {
        runs.extent[last] *= view.shape[d];  // no more than the count of elements, which fits
        runs.stride[last] = view.strides[d];
        continue;
      }
    }
    runs.extent[runs.size] = view.shape[d];
    runs.stride[runs.size] = view.strides[d];
    ++runs.size;
  }
  return runs;
}

/// Computes the strides with which `shape` has the elements of `runs` in the same order. Returns false if a
/// dimension would span two runs, or if a stride would be 2^63 or more.
bool strides_for_runs(const Runs& runs, std::span<const std::uint64_t> shape,
                      std::span<std::int64_t> strides) {
  std::uint32_t run = runs.size;
  std::uint64_t remaining = 1;  // elements of the run that no dimension covers yet
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (remaining == 1 && shape[d] != 1) {
      --run;
      remaining = runs.extent[run];
      stride = runs.stride[run];
    }
    if (remaining % shape[d] != 0) return false;
    strides[d] = stride;
    remaining /= shape[d];
    // If no elements remain, the stride is not used.
    if (remaining > 1 && __builtin_mul_overflow(stride, shape[d], &stride)) return false;
  }
  return true;
}

}  // namespace

std::span<const std::uint64_t> extents(const TensorView& view, std::string_view what) {
  if (view.rank > max_view_rank) {
    refuse_tensor(fmt::format("{} has {} dimensions; the most is {}", what, view.rank, max_view_rank));
  }
  return std::span(view.shape).first(view.rank);
}

std::optional<std::uint32_t> dimension_of(std::int64_t axis, std::size_t rank) noexcept {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis >= count || axis < -count) return std::nullopt;
  return static_cast<std::uint32_t>(axis < 0 ? axis + count : axis);
}

std::string legal_axes(std::size_t rank) {
  if (rank == 0) return "none";
  if (rank == 1) return "0, or -1 from the end";
  return fmt::format("0 to {}, or -1 to -{} from the end", rank - 1, rank);
}

Tensor permuted(const Tensor& tensor, const Dims& axes, std::string_view what) {
  const std::size_t rank = extents(tensor.view, what).size();
  if (axes.size() != rank) {
    refuse_tensor(fmt::format("{} {} for {}, which has {}; one axis for each is needed", axes.size(),
                              axes.size() == 1 ? "axis" : "axes", what, counted(rank, "dimension")));
  }
  std::array<bool, max_view_rank> seen{};
  Tensor result = tensor;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::optional<std::uint32_t> axis = dimension_of(axes[d], rank);
    if (!axis || seen[*axis]) {
      refuse_tensor(fmt::format("axes {} of {}: axis {} {}; each of 0 to {} is needed once",
                                fmt::join(axes, ","), what, axes[d],
                                axis ? "is there twice" : "does not exist", rank - 1));
    }
    seen[*axis] = true;
    result.view.shape[d] = tensor.view.shape[*axis];
    result.view.strides[d] = tensor.view.strides[*axis];
  }
  return result;
}

Tensor permuted(const Tensor& tensor, const Dims& axes) {
  return permuted(tensor, axes, the_tensor);
}

Tensor sliced(const Tensor& tensor, std::span<const Slice> slices, std::string_view what) {
  const std::size_t rank = extents(tensor.view, what).size();
  if (slices.size() > rank) {
    refuse_tensor(fmt::format("{} for {}, which has {}; at most one slice for each is possible",
                              counted(slices.size(), "slice"), what, counted(rank, "dimension")));
  }
  Tensor result = tensor;
  for (std::uint32_t d = 0; d < slices.size(); ++d) {
    if (slices[d].step == 0) {
      refuse_tensor(fmt::format("slice {} of {} has a step of 0; any other is possible", d, what));
    }
    const Range range = resolve(slices[d], signed_extent(tensor.view.shape[d], d, what));
    result.view.shape[d] = range.count;
    result.view.strides[d] = scaled(tensor.view.strides[d], slices[d].step, range.count, d, what);
    result.address += moved_address(tensor, d, range.first) - tensor.address;
  }
  // An empty tensor keeps its address, inside the memory it came from.
  if (result.view.elements() == 0) result.address = tensor.address;
  return result;
}

Tensor sliced(const Tensor& tensor, List<Slice> slices) {
  return sliced(tensor, slices, the_tensor);
}

Tensor flipped(const Tensor& tensor, std::int64_t axis) {
  const std::size_t rank = extents(tensor.view, the_tensor).size();
  const std::optional<std::uint32_t> dimension = dimension_of(axis, rank);
  if (!dimension) {
    refuse_tensor(fmt::format("axis {} of a tensor that has {}; legal: {}", axis, counted(rank, "dimension"),
                              legal_axes(rank)));
  }
  std::array<Slice, max_view_rank> slices{};
  slices[*dimension].step = -1;
  return sliced(tensor, std::span(slices).first(*dimension + 1));
}

namespace {

template <class Bits>
Tensor number_of(ElementType type, Bits bits) noexcept {
  return {TensorView{.type = type, .is_number = true}, DevicePtr{bits}};
}

}  // namespace

Tensor number(float value) noexcept {
  return number_of(ElementType::f32, std::bit_cast<std::uint32_t>(value));
}
Tensor number(double value) noexcept {
  return number_of(ElementType::f64, std::bit_cast<std::uint64_t>(value));
}
Tensor number(std::int32_t value) noexcept {
  return number_of(ElementType::i32, std::bit_cast<std::uint32_t>(value));
}
Tensor number(std::int64_t value) noexcept {
  return number_of(ElementType::i64, std::bit_cast<std::uint64_t>(value));
}

Tensor number(const std::variant<std::int64_t, double>& value, ElementType type) {
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const double real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  if (type == ElementType::f32) return number(static_cast<float>(real));
  if (type == ElementType::f64) return number(real);
  if (type != ElementType::i32 && type != ElementType::i64) {
    refuse_tensor(fmt::format("a number of type {}; legal are f32, f64, i32 and i64",
                              is_known(type) ? name(type) : std::string_view("unknown")));
  }
  if (whole == nullptr)
    refuse_tensor(fmt::format("{} as a number of type {}; legal is an integer", real, name(type)));
  if (type == ElementType::i64) return number(*whole);
  const auto narrow = static_cast<std::int32_t>(*whole);
  if (narrow != *whole) {
    refuse_tensor(fmt::format(
        "{} as a number of type i32; legal is -2^31 to 2^31 - 1, and any beside a tensor of 64-bit integers",
        *whole));
  }
  return number(narrow);
}

ElementType number_type(const std::variant<std::int64_t, double>& value, List<TensorView> tensors) noexcept {
  const auto any = [&](auto has) {
    return std::ranges::any_of(tensors,
                               [&](const TensorView& one) { return !one.is_number && has(one.type); });
  };
  if (any([](ElementType type) { return type == ElementType::f64; })) return ElementType::f64;
  if (std::holds_alternative<double>(value) || any([](ElementType type) { return is_float(type); }))
    return ElementType::f32;
  return any([](ElementType type) { return size_of(type) == 8; }) ? ElementType::i64 : ElementType::i32;
}

Tensor broadcast(const Tensor& tensor, std::span<const std::uint64_t> shape, std::string_view what) {
  const auto from = extents(tensor.view, what);
  if (shape.size() > max_view_rank || from.size() > shape.size()) {
    refuse_tensor(fmt::format("{} of shape {} cannot be broadcast to {}, which has {}; {} to {} are possible",
                              what, shape_text(from), shape_text(shape), counted(shape.size(), "dimension"),
                              from.size(), max_view_rank));
  }
  Tensor result({.type = tensor.view.type,
                 .rank = static_cast<std::uint32_t>(shape.size()),
                 .is_number = tensor.view.is_number},
                tensor.address);
  const std::size_t missing = shape.size() - from.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    result.view.shape[d] = shape[d];
    if (d < missing) continue;
    const std::uint64_t extent = from[d - missing];
    if (extent == shape[d]) {
      result.view.strides[d] = tensor.view.strides[d - missing];
    } else if (extent != 1) {
      refuse_tensor(
          fmt::format("{} of shape {} cannot be broadcast to {}: dimension {} has {}, where {}{} would fit",
                      what, shape_text(from), shape_text(shape), d - missing, counted(extent, "element"),
                      shape[d] == 1 ? "" : "1 or ", shape[d]));
    }
  }
  return result;
}

Tensor broadcast(const Tensor& tensor, const Dims& shape) {
  const TensorView wanted = TensorView::contiguous(tensor.view.type, shape);
  return broadcast(tensor, extents(wanted, the_tensor), the_tensor);
}

Tensor reshaped(const Tensor& tensor, const Dims& wanted) {
  const auto from = extents(tensor.view, the_tensor);
  Tensor result = Tensor::contiguous(tensor.view.type, wanted, tensor.address);
  const TensorView dense = result.view;
  const auto shape = extents(dense, the_tensor);
  const std::uint64_t count = count_of(from);
  if (count != count_of(shape)) {
    refuse_tensor(fmt::format("a tensor of shape {} cannot become {}: it has {}, not {}", shape_text(from),
                              shape_text(shape), counted(count, "element"), count_of(shape)));
  }
  if (count == 0) return result;
  if (!strides_for_runs(runs_of(tensor.view), shape, std::span(result.view.strides).first(shape.size()))) {
    refuse_tensor(
        fmt::format("{} cannot become {} without a copy: no strides describe that; copy it to a "
                    "contiguous tensor first",
                    view_text(tensor.view), shape_text(shape)));
  }
  return result;
}

Tensor reinterpreted(const Tensor& tensor, ElementType type) {
  if (!is_known(type) || size_of(type) != size_of(tensor.view.type)) {
    refuse_tensor(fmt::format("elements of {} cannot be read as {}; a type of the same size is possible",
                              counted(size_of(tensor.view.type), "byte"),
                              is_known(type) ? fmt::format("{}, which has {}", name(type), size_of(type))
                                             : fmt::format("type number {}", static_cast<unsigned>(type))));
  }
  Tensor result = tensor;
  result.view.type = type;
  return result;
}

TMAJIT_END
