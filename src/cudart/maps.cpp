// Tensor maps, as the driver encodes them.
#include "cudart/device.hpp"

#include <tmajit/validate.hpp>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <cuda.h>

using namespace tmajit;
using namespace tmajit::cudart;

namespace {

/// The types of cuTensorMapEncodeTiled in the order of their numbers, from CU_TENSOR_MAP_DATA_TYPE_UINT8 on.
constexpr std::array element_types{
    ElementType::u8,      ElementType::u16,  ElementType::u32,     ElementType::i32, ElementType::u64,
    ElementType::i64,     ElementType::f16,  ElementType::f32,     ElementType::f64, ElementType::bf16,
    ElementType::f32_ftz, ElementType::tf32, ElementType::tf32_ftz};
static_assert(CU_TENSOR_MAP_DATA_TYPE_UINT8 == 0 && CU_TENSOR_MAP_DATA_TYPE_FLOAT16 == 6 &&
              CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 == 9 && CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == 12);
static_assert(CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3);

/// The enumerator with the number that it has in the driver, too. `last` is the enumerator with the largest
/// number.
template <class Enum>
Enum enumerator_at(std::uint32_t number, Enum last) {
  if (number > static_cast<std::uint32_t>(last))
    throw Failure(cudaErrorInvalidValue, "a mode of a tensor map is " + std::to_string(number));
  return static_cast<Enum>(number);
}

/// The driver's modes of a map.
struct Modes {
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

TensorMapSpec spec_of(CUtensorMapDataType type, cuuint32_t rank, const cuuint64_t* extents,
                      const cuuint64_t* strides, const cuuint32_t* element_strides, const Modes& modes) {
  if (static_cast<std::size_t>(type) >= element_types.size() || rank < 1 || rank > max_map_rank)
    throw Failure(cudaErrorInvalidValue, "the type or the rank of a tensor map is out of range");
  TensorMapSpec spec;
  spec.type = element_types.at(type);
  spec.rank = static_cast<std::uint8_t>(rank);
  spec.interleave = enumerator_at(modes.interleave, Interleave::b32);
  spec.swizzle = enumerator_at(modes.swizzle, Swizzle::b128);
  spec.l2_promotion = enumerator_at(modes.promotion, L2Promotion::b256);
  spec.oob_fill = enumerator_at(modes.fill, OobFill::nan);
  for (std::size_t inner = 0; inner < rank; ++inner) {
    const std::size_t d = rank - 1 - inner;
    spec.shape.at(d) = (&require_non_null(extents, "the extents"))[inner];
    spec.strides.at(d) =
        inner == 0 ? size_of(spec.type) : (&require_non_null(strides, "the strides"))[inner - 1];
    spec.element_strides.at(d) = (&require_non_null(element_strides, "the element strides"))[inner];
  }
  return spec;
}

/// The spec of each map by its bytes, so that its address can be replaced.
struct Specs {
  std::mutex mutex;
  std::map<std::string, TensorMapSpec> all;
};
Specs& specs() {
  static auto& all = *new Specs;
  return all;
}
std::string bytes_of(const CUtensorMap& map) {
  return {reinterpret_cast<const char*>(&map), sizeof map};
}

void encode(CUtensorMap* map, const TensorMapSpec& spec, void* address) {
  const auto at = static_cast<DevicePtr>(reinterpret_cast<std::uintptr_t>(address));
  if (auto violations = validate(spec, at); !violations.empty()) throw SpecError(std::move(violations));
  const auto encoded = device().maps().encode(spec, at);
  static_assert(sizeof *map == sizeof encoded.opaque);
  std::memcpy(&require_non_null(map, "the result"), encoded.opaque.data(), sizeof *map);
  const std::lock_guard lock(specs().mutex);
  specs().all[bytes_of(*map)] = spec;
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  return static_cast<CUresult>(attempt(__func__, [&] {
    TensorMapSpec spec =
        spec_of(type, rank, extents, strides, element_strides, {interleave, swizzle, promotion, fill});
    for (std::size_t inner = 0; inner < rank; ++inner)
      spec.box.at(rank - 1 - inner) = (&require_non_null(box, "the box"))[inner];
    encode(map, spec, address);
  }));
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* extents, const cuuint64_t* strides, const int* lower,
                                 const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill fill) {
  return static_cast<CUresult>(attempt(__func__, [&] {
    TensorMapSpec spec =
        spec_of(type, rank, extents, strides, element_strides, {interleave, swizzle, promotion, fill});
    spec.mode = MapMode::im2col;
    spec.pixel_box.channels = channels;
    spec.pixel_box.pixels = pixels;
    for (std::size_t inner = 0; inner + 2 < rank; ++inner) {
      spec.pixel_box.lower.at(rank - 3 - inner) = (&require_non_null(lower, "the lower corner"))[inner];
      spec.pixel_box.upper.at(rank - 3 - inner) = (&require_non_null(upper, "the upper corner"))[inner];
    }
    encode(map, spec, address);
  }));
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return static_cast<CUresult>(attempt(__func__, [&] {
    TensorMapSpec spec;
    {
      const std::lock_guard lock(specs().mutex);
      const auto found = specs().all.find(bytes_of(require_non_null(map, "the map")));
      if (found == specs().all.end())
        throw Failure(cudaErrorInvalidValue, "the map was not encoded by this library");
      spec = found->second;
    }
    encode(map, spec, address);
  }));
}

}  // extern "C"
