#include "c/tensor.hpp"

#include "c/errors.hpp"

#include <tmajit/launch/memory_image.hpp>

#include <array>
#include <string>

TMAJIT_BEGIN
namespace c {
namespace {

static_assert(TMAJIT_MAX_RANK == max_view_rank);
constexpr tmajit_dtype dtype_of(ElementType type) noexcept {
  return static_cast<tmajit_dtype>(type) + 1;
}
// The types of the C and the C++ interface have the same order.
static_assert(dtype_of(ElementType::u8) == TMAJIT_U8 && dtype_of(ElementType::i64) == TMAJIT_I64 &&
              dtype_of(ElementType::f16) == TMAJIT_F16 && dtype_of(ElementType::f32_ftz) == TMAJIT_F32_FTZ &&
              dtype_of(ElementType::tf32) == TMAJIT_TF32 && dtype_of(ElementType::e5m2) == TMAJIT_E5M2 &&
              all_element_types.size() == TMAJIT_E5M2);

void require_count(std::uint32_t count, std::string_view subject) {
  if (count > TMAJIT_MAX_RANK) refuse("{}: count is {}; the maximum is {}", subject, count, TMAJIT_MAX_RANK);
}

}  // namespace

ElementType to_element_type(tmajit_dtype dtype, std::string_view subject) {
  if (dtype < TMAJIT_U8 || dtype > TMAJIT_E5M2) {
    refuse("{}: {} is no element type; legal are TMAJIT_U8, {}, to TMAJIT_E5M2, {}", subject, dtype,
           static_cast<int>(TMAJIT_U8), static_cast<int>(TMAJIT_E5M2));
  }
  return static_cast<ElementType>(dtype - 1);
}

Tensor to_tensor(const tmajit_tensor* c_tensor, std::string_view subject) {
  const tmajit_tensor tensor = read(c_tensor, subject);
  const bool is_number = flag(tensor.is_number, std::string(subject) + ": is_number");
  if (is_number && tensor.rank != 0) refuse("{}: a number of rank {}; its rank is 0", subject, tensor.rank);
  if (tensor.rank > max_view_rank)
    refuse("{}: rank is {}; a tensor has 0 to {} dimensions", subject, tensor.rank, max_view_rank);
  const ElementType type = to_element_type(tensor.dtype, subject);
  const Dims extents(std::span(tensor.extents, tensor.rank));
  if (is_number) return {TensorView{.type = type, .is_number = true}, tensor.address};
  for (std::uint32_t d = 0; d < tensor.rank; ++d) {
    if (tensor.extents[d] < 0)
      refuse("{}: the extent of dimension {} is {}; 0 or more is legal", subject, d, tensor.extents[d]);
  }
  if (!flag(tensor.strided, std::string(subject) + ": strided"))
    return Tensor::contiguous(type, extents, tensor.address);
  return Tensor::strided(type, extents, Dims(std::span(tensor.strides, tensor.rank)), tensor.address);
}

std::vector<Tensor> to_tensors(const tmajit_tensor* first, std::size_t count, std::string_view subject) {
  (void)array(first, count, subject);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = count == 1 ? std::string(subject) : fmt::format("{} {}", subject, i);
    tensors.push_back(to_tensor(element(first, i, subject), name));
  }
  return tensors;
}

void fill(tmajit_tensor* c_tensor, std::string_view subject, const Tensor& tensor) {
  tmajit_tensor value{};
  value.address = tensor.address;
  value.dtype = dtype_of(tensor.view.type);
  value.rank = tensor.view.rank;
  value.strided = 1;
  value.is_number = tensor.view.is_number ? 1 : 0;
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    value.extents[d] = static_cast<std::int64_t>(tensor.view.shape[d]);
    value.strides[d] = tensor.view.strides[d];
  }
  fill<tmajit_tensor>(c_tensor, subject, value);
}

Dims to_dims(const tmajit_dims& c_dims, std::string_view subject) {
  require_zero(subject, c_dims.reserved);
  require_count(c_dims.count, subject);
  return Dims(std::span(c_dims.values, c_dims.count));
}

std::optional<double> to_number(const tmajit_number& c_number, std::string_view subject) {
  require_zero(subject, c_number.reserved);
  if (!flag(c_number.given, std::string(subject) + ": given")) return std::nullopt;
  return c_number.value;
}

std::optional<std::int64_t> to_integer(const tmajit_integer& c_integer, std::string_view subject) {
  require_zero(subject, c_integer.reserved);
  if (!flag(c_integer.given, std::string(subject) + ": given")) return std::nullopt;
  return c_integer.value;
}

std::vector<Slice> to_slices(const tmajit_ranges& c_ranges, std::string_view subject) {
  require_zero(subject, c_ranges.reserved);
  require_count(c_ranges.count, subject);
  std::vector<Slice> slices;
  for (const tmajit_range& range : std::span(c_ranges.values, c_ranges.count)) {
    slices.push_back({.start = to_integer(range.start, subject),
                      .stop = to_integer(range.stop, subject),
                      .step = to_integer(range.step, subject).value_or(1)});
  }
  return slices;
}

PadWidths to_widths(const tmajit_widths& c_widths, std::string_view subject) {
  require_zero(subject, c_widths.reserved);
  require_count(c_widths.count, subject);
  return {.before = Dims(std::span(c_widths.before, c_widths.count)),
          .after = Dims(std::span(c_widths.after, c_widths.count))};
}

}  // namespace c
TMAJIT_END

using namespace tmajit;

namespace {

/// The body of a function that makes another view of a tensor.
template <class View>
tmajit_status view_of(const tmajit_tensor* tensor, tmajit_tensor* view, tmajit_error** error, View&& make) {
  return c::guarded(error, [&] { c::fill(view, "view", make(c::to_tensor(tensor, "tensor"))); });
}

}  // namespace

uint32_t tmajit_dtype_bytes(tmajit_dtype dtype) {
  if (dtype < TMAJIT_U8 || dtype > TMAJIT_E5M2) return 0;
  return size_of(static_cast<ElementType>(dtype - 1));
}

const char* tmajit_dtype_name(tmajit_dtype dtype) {
  if (dtype < TMAJIT_U8 || dtype > TMAJIT_E5M2) return nullptr;
  return name(static_cast<ElementType>(dtype - 1)).data();
}

tmajit_dtype tmajit_dtype_of(const char* name) {
  tmajit_dtype dtype = 0;
  (void)c::guarded(nullptr,
                   [&] { dtype = c::dtype_of(parse<ElementType>(&c::require_non_null(name, "name"))); });
  return dtype;
}

tmajit_status tmajit_tensor_memory(const tmajit_tensor* tensor, uint64_t* before, uint64_t* bytes,
                                   tmajit_error** error) {
  return c::guarded(error, [&] {
    const MemorySpan span = MemorySpan::of(c::to_tensor(tensor, "tensor").view, 0);
    c::require_non_null(before, "before") = span.first;
    c::require_non_null(bytes, "bytes") = span.bytes;
  });
}

tmajit_status tmajit_tensor_permuted(const tmajit_tensor* tensor, const tmajit_dims* axes,
                                     tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) {
    return permuted(whole, c::to_dims(c::require_non_null(axes, "axes"), "axes"));
  });
}

tmajit_status tmajit_tensor_sliced(const tmajit_tensor* tensor, const tmajit_ranges* ranges,
                                   tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) {
    const std::vector<Slice> slices = c::to_slices(c::require_non_null(ranges, "ranges"), "ranges");
    return sliced(whole, List<Slice>(std::span(slices)));
  });
}

tmajit_status tmajit_tensor_flipped(const tmajit_tensor* tensor, int64_t axis, tmajit_tensor* view,
                                    tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) { return flipped(whole, axis); });
}

tmajit_status tmajit_tensor_broadcast(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                      tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) {
    return broadcast(whole, c::to_dims(c::require_non_null(shape, "shape"), "shape"));
  });
}

tmajit_status tmajit_tensor_reshaped(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                     tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) {
    return reshaped(whole, c::to_dims(c::require_non_null(shape, "shape"), "shape"));
  });
}

tmajit_status tmajit_tensor_reinterpreted(const tmajit_tensor* tensor, tmajit_dtype dtype,
                                          tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& whole) {
    return reinterpreted(whole, c::to_element_type(dtype, "dtype"));
  });
}
