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
  if (count > TMAJIT_MAX_RANK) refuse("{}: count is {}; the most is {}", subject, count, TMAJIT_MAX_RANK);
}

}  // namespace

ElementType to_element_type(tmajit_dtype dtype, std::string_view subject) {
  if (dtype < TMAJIT_U8 || dtype > TMAJIT_E5M2) {
    refuse("{}: {} is no element type; legal are TMAJIT_U8, {}, to TMAJIT_E5M2, {}", subject, dtype,
           static_cast<int>(TMAJIT_U8), static_cast<int>(TMAJIT_E5M2));
  }
  return static_cast<ElementType>(dtype - 1);
}

Tensor to_tensor(const tmajit_tensor* given, std::string_view subject) {
  const tmajit_tensor tensor = read(given, subject);
  require_zero(subject, tensor.reserved);
  if (tensor.rank > max_view_rank)
    refuse("{}: rank is {}; a tensor has 0 to {} dimensions", subject, tensor.rank, max_view_rank);
  const ElementType type = to_element_type(tensor.dtype, subject);
  const Dims extents(std::span(tensor.extents, tensor.rank));
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

void fill(tmajit_tensor* to, std::string_view subject, const Tensor& tensor) {
  tmajit_tensor value{};
  value.address = tensor.address;
  value.dtype = dtype_of(tensor.view.type);
  value.rank = tensor.view.rank;
  value.strided = 1;
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    value.extents[d] = static_cast<std::int64_t>(tensor.view.shape[d]);
    value.strides[d] = tensor.view.strides[d];
  }
  fill<tmajit_tensor>(to, subject, value);
}

Dims to_dims(const tmajit_dims& given, std::string_view subject) {
  require_zero(subject, given.reserved);
  require_count(given.count, subject);
  return Dims(std::span(given.values, given.count));
}

std::optional<double> to_number(const tmajit_number& given, std::string_view subject) {
  require_zero(subject, given.reserved);
  if (!flag(given.given, std::string(subject) + ": given")) return std::nullopt;
  return given.value;
}

std::optional<std::int64_t> to_integer(const tmajit_integer& given, std::string_view subject) {
  require_zero(subject, given.reserved);
  if (!flag(given.given, std::string(subject) + ": given")) return std::nullopt;
  return given.value;
}

std::vector<Slice> to_slices(const tmajit_ranges& given, std::string_view subject) {
  require_zero(subject, given.reserved);
  require_count(given.count, subject);
  std::vector<Slice> slices;
  for (const tmajit_range& range : std::span(given.values, given.count)) {
    slices.push_back({.start = to_integer(range.start, subject),
                      .stop = to_integer(range.stop, subject),
                      .step = to_integer(range.step, subject).value_or(1)});
  }
  return slices;
}

PadWidths to_widths(const tmajit_widths& given, std::string_view subject) {
  require_zero(subject, given.reserved);
  require_count(given.count, subject);
  return {.before = Dims(std::span(given.before, given.count)),
          .after = Dims(std::span(given.after, given.count))};
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
  (void)c::guarded(nullptr, [&] { dtype = c::dtype_of(parse<ElementType>(&c::existing(name, "name"))); });
  return dtype;
}

tmajit_status tmajit_tensor_memory(const tmajit_tensor* tensor, uint64_t* before, uint64_t* bytes,
                                   tmajit_error** error) {
  return c::guarded(error, [&] {
    const MemorySpan span = MemorySpan::of(c::to_tensor(tensor, "tensor").view, 0);
    c::existing(before, "before") = span.first;
    c::existing(bytes, "bytes") = span.bytes;
  });
}

tmajit_status tmajit_tensor_permuted(const tmajit_tensor* tensor, const tmajit_dims* axes,
                                     tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& of) {
    return permuted(of, c::to_dims(c::existing(axes, "axes"), "axes"));
  });
}

tmajit_status tmajit_tensor_sliced(const tmajit_tensor* tensor, const tmajit_ranges* ranges,
                                   tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& of) {
    const std::vector<Slice> slices = c::to_slices(c::existing(ranges, "ranges"), "ranges");
    return sliced(of, List<Slice>(std::span(slices)));
  });
}

tmajit_status tmajit_tensor_flipped(const tmajit_tensor* tensor, int64_t axis, tmajit_tensor* view,
                                    tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& of) { return flipped(of, axis); });
}

tmajit_status tmajit_tensor_broadcast(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                      tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& of) {
    return broadcast(of, c::to_dims(c::existing(shape, "shape"), "shape"));
  });
}

tmajit_status tmajit_tensor_reshaped(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                     tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error, [&](const Tensor& of) {
    return reshaped(of, c::to_dims(c::existing(shape, "shape"), "shape"));
  });
}

tmajit_status tmajit_tensor_reinterpreted(const tmajit_tensor* tensor, tmajit_dtype dtype,
                                          tmajit_tensor* view, tmajit_error** error) {
  return view_of(tensor, view, error,
                 [&](const Tensor& of) { return reinterpreted(of, c::to_element_type(dtype, "dtype")); });
}
