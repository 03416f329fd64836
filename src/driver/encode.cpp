#include "driver/gpu.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// Passed to the driver in place of a value that no enumerator has; the driver refuses it.
constexpr std::uint32_t no_such_value = 0x7fffffff;

// The driver's enumerators, in the order of tmajit's. The driver has no signed 8- and 16-bit types and no
// fp8; unsigned types of the same size stand for them, because a copy does not interpret elements.
constexpr std::array data_types{
    CU_TENSOR_MAP_DATA_TYPE_UINT8,    CU_TENSOR_MAP_DATA_TYPE_UINT8,    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,   CU_TENSOR_MAP_DATA_TYPE_UINT32,   CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,   CU_TENSOR_MAP_DATA_TYPE_INT64,    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_UINT8,    CU_TENSOR_MAP_DATA_TYPE_UINT8};
static_assert(data_types.size() == all_element_types.size());
constexpr std::array interleave_modes{CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_16B,
                                      CU_TENSOR_MAP_INTERLEAVE_32B};
constexpr std::array swizzle_modes{CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                   CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
constexpr std::array promotion_modes{CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B};
constexpr std::array fill_modes{CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA};

/// The driver's enumerator for one of tmajit's.
template <class Modes, class Enum>
std::uint32_t mode(const Modes& modes, Enum value) noexcept {
  const auto number = static_cast<std::size_t>(value);
  return number < modes.size() ? static_cast<std::uint32_t>(modes[number]) : no_such_value;
}

/// Arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col: innermost dimension first, and one stride
/// fewer than dimensions, because the innermost is contiguous.
struct Arguments {
  std::uint32_t type;
  std::uint32_t rank;
  std::array<cuuint64_t, max_map_rank> dims{};
  std::array<cuuint64_t, max_map_rank> strides{};
  std::array<cuuint32_t, max_map_rank> box{};
  std::array<int, max_map_rank - 2> lower{};
  std::array<int, max_map_rank - 2> upper{};
  std::array<cuuint32_t, max_map_rank> element_strides{};
  std::uint32_t interleave;
  std::uint32_t swizzle;
  std::uint32_t l2_promotion;
  std::uint32_t oob_fill;
};

Arguments driver_arguments(const TensorMapSpec& spec) noexcept {
  Arguments arguments{.type = mode(data_types, spec.type),
                      .rank = spec.rank,
                      .interleave = mode(interleave_modes, spec.interleave),
                      .swizzle = mode(swizzle_modes, spec.swizzle),
                      .l2_promotion = mode(promotion_modes, spec.l2_promotion),
                      .oob_fill = mode(fill_modes, spec.oob_fill)};
  const std::size_t rank = std::min<std::size_t>(spec.rank, max_map_rank);
  for (std::size_t inner = 0; inner < rank; ++inner) {
    const std::size_t d = rank - 1 - inner;
    arguments.dims[inner] = spec.shape[d];
    arguments.box[inner] = spec.box[d];
    arguments.element_strides[inner] = spec.element_strides[d];
    if (inner > 0) arguments.strides[inner - 1] = spec.strides[d];
  }
  for (std::size_t inner = 0; inner + 2 < rank; ++inner) {
    arguments.lower[inner] = spec.pixel_box.lower[rank - 3 - inner];
    arguments.upper[inner] = spec.pixel_box.upper[rank - 3 - inner];
  }
  return arguments;
}

template <class T, std::size_t size>
auto list(const std::array<T, size>& values, std::size_t count) {
  return fmt::join(values.begin(),
                   values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())), ", ");
}

/// The text of the arguments that only the driver function for the map's mode has.
std::string mode_arguments(const TensorMapSpec& spec, const Arguments& arguments) {
  if (spec.mode == MapMode::tiled) return fmt::format("box [{}]", list(arguments.box, arguments.rank));
  const std::size_t corners = std::max(arguments.rank, 2U) - 2;
  return fmt::format(
      "pixel box lower corner [{}], upper corner [{}], channels per pixel {}, pixels per column {}",
      list(arguments.lower, corners), list(arguments.upper, corners), spec.pixel_box.channels,
      spec.pixel_box.pixels);
}

[[noreturn]] void refuse(const Api& api, CUresult result, const TensorMapSpec& spec,
                         const Arguments& arguments, DevicePtr address) {
  const char* error = nullptr;
  if (api.get_error_name(result, &error) != CUDA_SUCCESS || error == nullptr) error = "unknown CUDA error";
  throw Error(
      ErrorCode::illegal_spec,
      fmt::format(
          "cuTensorMapEncode{} refused a tensor map with {}. Its arguments, innermost dimension "
          "first: type {} ({}), rank {}, address {:#x}, dims [{}], strides [{}] bytes, {}, element "
          "strides [{}], interleave {} ({}), swizzle {} ({}), L2 promotion {} ({}), OOB fill {} ({}). "
          "validate() names the rules that a tensor map breaks.",
          spec.mode == MapMode::tiled ? "Tiled" : "Im2col", error, name(spec.type), arguments.type,
          arguments.rank, address, list(arguments.dims, arguments.rank),
          list(arguments.strides, arguments.rank == 0 ? 0 : arguments.rank - 1),
          mode_arguments(spec, arguments), list(arguments.element_strides, arguments.rank),
          name(spec.interleave), arguments.interleave, name(spec.swizzle), arguments.swizzle,
          name(spec.l2_promotion), arguments.l2_promotion, name(spec.oob_fill), arguments.oob_fill));
}

}  // namespace

EncodedTensorMap encode(const Api& api, const TensorMapSpec& spec, DevicePtr address) {
  static_assert(sizeof(EncodedTensorMap) == sizeof(CUtensorMap) &&
                alignof(EncodedTensorMap) >= alignof(CUtensorMap));
  const Arguments arguments = driver_arguments(spec);
  EncodedTensorMap map;
  auto* const opaque = reinterpret_cast<CUtensorMap*>(map.opaque.data());
  auto* const memory =
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
  const CUresult result =
      spec.mode == MapMode::tiled
          ? api.tensor_map_encode_tiled(opaque, arguments.type, arguments.rank, memory, arguments.dims.data(),
                                        arguments.strides.data(), arguments.box.data(),
                                        arguments.element_strides.data(), arguments.interleave,
                                        arguments.swizzle, arguments.l2_promotion, arguments.oob_fill)
          : api.tensor_map_encode_im2col(
                opaque, arguments.type, arguments.rank, memory, arguments.dims.data(),
                arguments.strides.data(), arguments.lower.data(), arguments.upper.data(),
                spec.pixel_box.channels, spec.pixel_box.pixels, arguments.element_strides.data(),
                arguments.interleave, arguments.swizzle, arguments.l2_promotion, arguments.oob_fill);
  if (result != CUDA_SUCCESS) [[unlikely]]
    refuse(api, result, spec, arguments, address);
  return map;
}

}  // namespace driver
TMAJIT_END
