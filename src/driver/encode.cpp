#include "driver/encode.hpp"

#include "driver/error.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// Stands for a value that no enumerator has: the driver refuses it.
constexpr std::uint32_t no_such_value = 0x7fffffff;

/// CUtensorMapDataType. There are no signed 8- and 16-bit types and no fp8: a copy does not interpret them.
std::uint32_t data_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8:
    case ElementType::e4m3:
    case ElementType::e5m2: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case ElementType::u16:
    case ElementType::i16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case ElementType::u32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case ElementType::i32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case ElementType::u64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case ElementType::i64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case ElementType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::f32_ftz: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    case ElementType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case ElementType::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case ElementType::tf32_ftz: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  }
  return no_such_value;
}

std::uint32_t interleave_mode(Interleave interleave) noexcept {
  switch (interleave) {
    case Interleave::none: return CU_TENSOR_MAP_INTERLEAVE_NONE;
    case Interleave::b16: return CU_TENSOR_MAP_INTERLEAVE_16B;
    case Interleave::b32: return CU_TENSOR_MAP_INTERLEAVE_32B;
  }
  return no_such_value;
}

std::uint32_t swizzle_mode(Swizzle swizzle) noexcept {
  switch (swizzle) {
    case Swizzle::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return no_such_value;
}

std::uint32_t promotion_mode(L2Promotion promotion) noexcept {
  switch (promotion) {
    case L2Promotion::none: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    case L2Promotion::b64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case L2Promotion::b128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case L2Promotion::b256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  }
  return no_such_value;
}

std::uint32_t fill_mode(OobFill fill) noexcept {
  switch (fill) {
    case OobFill::zero: return CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    case OobFill::nan: return CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  }
  return no_such_value;
}

/// What cuTensorMapEncodeTiled takes: innermost dimension first, and one stride fewer than dimensions,
/// because the innermost is contiguous.
struct Arguments {
  std::uint32_t type;
  std::uint32_t rank;
  std::array<cuuint64_t, max_map_rank> dims{};
  std::array<cuuint64_t, max_map_rank> strides{};
  std::array<cuuint32_t, max_map_rank> box{};
  std::array<cuuint32_t, max_map_rank> element_strides{};
  std::uint32_t interleave;
  std::uint32_t swizzle;
  std::uint32_t l2_promotion;
  std::uint32_t oob_fill;
};

Arguments driver_arguments(const TensorMapSpec& spec) noexcept {
  Arguments a{.type = data_type(spec.type),
              .rank = spec.rank,
              .interleave = interleave_mode(spec.interleave),
              .swizzle = swizzle_mode(spec.swizzle),
              .l2_promotion = promotion_mode(spec.l2_promotion),
              .oob_fill = fill_mode(spec.oob_fill)};
  const std::size_t rank = std::min<std::size_t>(spec.rank, max_map_rank);
  for (std::size_t inner = 0; inner < rank; ++inner) {
    const std::size_t d = rank - 1 - inner;
    a.dims[inner] = spec.shape[d];
    a.box[inner] = spec.box[d];
    a.element_strides[inner] = spec.element_strides[d];
    if (inner > 0) a.strides[inner - 1] = spec.strides[d];
  }
  return a;
}

template <class T>
auto list(const std::array<T, max_map_rank>& values, std::size_t count) {
  return fmt::join(values.begin(),
                   values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())), ", ");
}

[[noreturn]] void refuse(const Api& api, CUresult result, const TensorMapSpec& spec, const Arguments& a,
                         DevicePtr address) {
  const char* error = nullptr;
  if (api.get_error_name(result, &error) != CUDA_SUCCESS || error == nullptr) error = "unknown CUDA error";
  throw Error(
      ErrorCode::illegal_spec,
      fmt::format("cuTensorMapEncodeTiled refused a tensor map with {}. Its arguments, innermost dimension "
                  "first: type {} "
                  "({}), rank {}, address {:#x}, dims [{}], strides [{}] bytes, box [{}], element strides "
                  "[{}], interleave "
                  "{} ({}), swizzle {} ({}), L2 promotion {} ({}), OOB fill {} ({}). validate() names the "
                  "rules that a "
                  "tensor map breaks.",
                  error, name(spec.type), a.type, a.rank, address, list(a.dims, a.rank),
                  list(a.strides, a.rank == 0 ? 0 : a.rank - 1), list(a.box, a.rank),
                  list(a.element_strides, a.rank), name(spec.interleave), a.interleave, name(spec.swizzle),
                  a.swizzle, name(spec.l2_promotion), a.l2_promotion, name(spec.oob_fill), a.oob_fill));
}

}  // namespace

EncodedTensorMap encode(const Api& api, const TensorMapSpec& spec, DevicePtr address) {
  static_assert(sizeof(EncodedTensorMap) == sizeof(CUtensorMap) &&
                alignof(EncodedTensorMap) >= alignof(CUtensorMap));
  const Arguments a = driver_arguments(spec);
  EncodedTensorMap map;
  const CUresult result = api.tensor_map_encode_tiled(
      reinterpret_cast<CUtensorMap*>(map.opaque.data()), a.type, a.rank,
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)),  // NOLINT(performance-no-int-to-ptr)
      a.dims.data(), a.strides.data(), a.box.data(), a.element_strides.data(), a.interleave, a.swizzle,
      a.l2_promotion, a.oob_fill);
  if (result != CUDA_SUCCESS) [[unlikely]]
    refuse(api, result, spec, a, address);
  return map;
}

}  // namespace driver
TMAJIT_END
