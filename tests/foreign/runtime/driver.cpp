// What programs call of the driver itself, through addresses that the runtime hands out: the encoding of
// tensor maps.
#include "device.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include <cuda.h>

namespace {

using tmajit::ElementType;

/// cuTensorMapEncodeTiled's types in the order of their numbers, from CU_TENSOR_MAP_DATA_TYPE_UINT8 on.
constexpr std::array element_types{
    ElementType::u8,      ElementType::u16,  ElementType::u32,     ElementType::i32, ElementType::u64,
    ElementType::i64,     ElementType::f16,  ElementType::f32,     ElementType::f64, ElementType::bf16,
    ElementType::f32_ftz, ElementType::tf32, ElementType::tf32_ftz};
static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 && CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 &&
              CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9 && CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12);
static_assert(CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3);

/// Ours of the driver's number: the order is the same.
template <class Ours>
Ours same_number(std::uint32_t theirs, Ours last) {
  if (theirs > static_cast<std::uint32_t>(last))
    throw stand_in::Failure(cudaErrorInvalidValue, "a mode of a tensor map is " + std::to_string(theirs));
  return static_cast<Ours>(theirs);
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                      CUtensorMapFloatOOBfill fill) {
  const auto encode = [&] {
    if (static_cast<std::size_t>(type) >= element_types.size() || rank < 1 || rank > tmajit::max_map_rank)
      throw stand_in::Failure(cudaErrorInvalidValue, "a tensor map of a type or rank that there is not");
    tmajit::TensorMapSpec spec;
    spec.type = element_types.at(type);
    spec.rank = static_cast<std::uint8_t>(rank);
    spec.interleave = same_number(interleave, tmajit::Interleave::b32);
    spec.swizzle = same_number(swizzle, tmajit::Swizzle::b128);
    spec.l2_promotion = same_number(promotion, tmajit::L2Promotion::b256);
    spec.oob_fill = same_number(fill, tmajit::OobFill::nan);
    for (std::size_t inner = 0; inner < rank; ++inner) {
      const std::size_t d = rank - 1 - inner;
      spec.shape.at(d) = extents[inner];
      spec.strides.at(d) = inner == 0 ? tmajit::size_of(spec.type) : strides[inner - 1];
      spec.box.at(d) = box[inner];
      spec.element_strides.at(d) = element_strides[inner];
    }
    const auto at = static_cast<tmajit::DevicePtr>(reinterpret_cast<std::uintptr_t>(address));
    if (auto violations = tmajit::validate(spec, at); !violations.empty())
      throw tmajit::SpecError(std::move(violations));
    const auto encoded = stand_in::device().maps().encode(spec, at);
    static_assert(sizeof *map == sizeof encoded.opaque);
    std::memcpy(map, encoded.opaque.data(), sizeof *map);
  };
  return stand_in::guarded("cuTensorMapEncodeTiled", encode) == cudaSuccess ? CUDA_SUCCESS
                                                                            : CUDA_ERROR_INVALID_VALUE;
}

/// A function of the driver by its name; null for one that is not here.
void* function_of_driver(std::string_view name) {
  if (name == "cuTensorMapEncodeTiled") return reinterpret_cast<void*>(encode_tiled);
  return nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return stand_in::guarded("cudaGetDriverEntryPoint", [&] {
    *function = function_of_driver(name);
    if (status != nullptr)
      *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
    if (*function == nullptr)
      throw stand_in::Failure(cudaErrorSymbolNotFound, std::string("there is no ") + name);
  });
}

}  // extern "C"
