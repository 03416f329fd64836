/// Loads by tensor maps whose fields the kernel has replaced.
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"
#include "conformance/random_tile.hpp"
#include "conformance/values.hpp"
#include "reference/copy_engine.hpp"
#include "reference/map_text.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::one_of;
using reference::Random;

namespace {

constexpr auto map_change_text = R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map_edit.cuh"
using namespace tmajit;

#define EACH(number, mode) case number: mode; break;
#define ELEMENT(number) EACH(number, ptx::replace_elemtype<static_cast<MapElement>(number)>(map))

template <u32 d> __device__ void replace_dimension(u32 map, const u64* to) {
  if (to[0] >> 6 & 1) ptx::replace_global_dim<d>(map, static_cast<u32>(to[7 + d]));
  if (to[0] >> 7 & 1) ptx::replace_box_dim<d>(map, static_cast<u32>(to[12 + d]));
  if (to[0] >> 8 & 1) ptx::replace_element_stride<d>(map, static_cast<u32>(to[17 + d]));
  if constexpr (d < 4) if ((to[0] >> 9 & 1) && d + 1 < to[5]) ptx::replace_global_stride<d>(map, to[22 + d]);
}

// Replaces fields of the map at shared address `map`. Bit i of to[0] says whether field i is replaced: 0: address,
// 1: element type, 2: interleave, 3: swizzle, 4: fill, 5: rank, 6: extents, 7: box, 8: element strides, 9: strides.
// The new values: to[1] to to[5] those of fields 1 to 5, and innermost dimension first, to[7] … the extents, to[12] …
// the box, to[17] … the element strides, to[22] … the strides in bytes.
template <u32 rank> __device__ void replace(u32 map, const u8* tensor, const u64* to) {
  if (to[0] & 1) ptx::replace_address(map, tensor);
  if (to[0] >> 1 & 1) switch (to[1]) {
    ELEMENT(0) ELEMENT(1) ELEMENT(2) ELEMENT(3) ELEMENT(4) ELEMENT(5) ELEMENT(6)
    ELEMENT(7) ELEMENT(8) ELEMENT(9) ELEMENT(10) ELEMENT(11) ELEMENT(12)
  }
  if (to[0] >> 2 & 1) switch (to[2]) {
    EACH(0, ptx::replace_interleave_layout<MapInterleave::none>(map))
    EACH(1, ptx::replace_interleave_layout<MapInterleave::b16>(map))
    EACH(2, ptx::replace_interleave_layout<MapInterleave::b32>(map))
  }
  if (to[0] >> 3 & 1) switch (to[3]) {
    EACH(0, ptx::replace_swizzle_mode<MapSwizzle::none>(map))
    EACH(1, ptx::replace_swizzle_mode<MapSwizzle::b32>(map))
    EACH(2, ptx::replace_swizzle_mode<MapSwizzle::b64>(map))
    EACH(3, ptx::replace_swizzle_mode<MapSwizzle::b128>(map))
  }
  if (to[0] >> 4 & 1) {
    to[4] != 0 ? ptx::replace_fill_mode<MapFill::nan>(map) : ptx::replace_fill_mode<MapFill::zero>(map);
  }
  if (to[0] >> 5 & 1) ptx::replace_rank(map, static_cast<u32>(to[5]));
  replace_dimension<0>(map, to);
  if constexpr (rank > 1) replace_dimension<1>(map, to);
  if constexpr (rank > 2) replace_dimension<2>(map, to);
  if constexpr (rank > 3) replace_dimension<3>(map, to);
  if constexpr (rank > 4) replace_dimension<4>(map, to);
}

// Makes the edited map visible to loads. Ways 0 to 3: one instruction of the warp publishes it to the CTA, the cluster,
// the GPU or the system. Ways 4 to 7: the threads store it, then release it to the same scopes.
__device__ void publish(TensorMap* made, u32 map, u32 word, u32 way) {
  switch (way) {
    EACH(0, ptx::publish_tensor_map_to_cta(made, map))
    EACH(1, ptx::publish_tensor_map_to_cluster(made, map))
    EACH(2, ptx::publish_tensor_map_to_gpu(made, map))
    EACH(3, ptx::publish_tensor_map_to_sys(made, map))
    default: reinterpret_cast<u32*>(made)[threadIdx.x] = word;
  }
  switch (way) {
    EACH(4, ptx::release_tensor_maps_to_cta())
    EACH(5, ptx::release_tensor_maps_to_cluster())
    EACH(6, ptx::release_tensor_maps_to_gpu())
    EACH(7, ptx::release_tensor_maps_to_sys())
  }
}
__device__ void acquire(const TensorMap* made, u32 way) {
  switch (way % 4) {
    EACH(0, ptx::acquire_tensor_map_of_cta(made))
    EACH(1, ptx::acquire_tensor_map_of_cluster(made))
    EACH(2, ptx::acquire_tensor_map_of_gpu(made))
    EACH(3, ptx::acquire_tensor_map_of_sys(made))
  }
}

// Numbers: 0: bytes of the window, which holds the tile; 1: bytes that the load delivers; 2: the way of publishing;
// 3 to 7: coordinates, innermost dimension first.
template <u32 rank>
__global__ void __launch_bounds__(32) changed_map(u32* window, u32* complete, const u8* tensor, TensorMap* made, const u64* to,
                                                  const __grid_constant__ TensorMap map, const Numbers numbers) {
  __shared__ u64 word;
  __shared__ alignas(128) u32 edited[32];
  u32* const words = reinterpret_cast<u32*>(aligned_shared_memory());
  const u32 count = numbers.values[0] / 4, edit = ptx::shared_address(edited);
  Coordinates<rank> at;
  for (u32 d = 0; d < rank; ++d) at.at[d] = numbers.values[3 + d];
  for (u32 i = threadIdx.x; i < count; i += 32) words[i] = window[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  ptx::fence_proxy_async_shared();
  edited[threadIdx.x] = reinterpret_cast<const u32*>(&map)[threadIdx.x];
  __syncwarp();
  if (threadIdx.x == 0) replace<rank>(edit, tensor, to);
  __syncwarp();
  publish(made, edit, edited[threadIdx.x], numbers.values[2]);
  __syncwarp();
  if (threadIdx.x == 0) {
    acquire(made, numbers.values[2]);
    arrived.expect(numbers.values[1]);
    ptx::tensor_load(ptx::shared_address(words), *made, at, arrived.address());
  }
  const bool completed = completes(arrived.address(), 0);
  for (u32 i = threadIdx.x; i < count; i += 32) window[i] = words[i];
  if (threadIdx.x == 0) *complete = completed;
}
)";

/// The fields of a map, in the order of the bits of to[0] in the kernel.
enum Field : std::uint8_t {
  address,
  type,
  interleave,
  swizzle,
  fill,
  rank,
  extents,
  box,
  element_strides,
  strides,
  all
};
constexpr std::array<std::string_view, 11> field_names{
    "address", "type", "interleave",      "swizzle", "fill", "rank",
    "extents", "box",  "element-strides", "strides", "all"};

/// PTX's number of an element type ("tensormap.replace").
std::uint64_t number_of(ElementType type) {
  constexpr std::array order{ElementType::u8,      ElementType::u16, ElementType::u32,  ElementType::i32,
                             ElementType::u64,     ElementType::i64, ElementType::f16,  ElementType::f32,
                             ElementType::f32_ftz, ElementType::f64, ElementType::bf16, ElementType::tf32,
                             ElementType::tf32_ftz};
  const auto* const found = std::ranges::find(order, type);
  if (found != order.end()) return static_cast<std::uint64_t>(found - order.begin());
  return size_of(type) == 1 ? 0 : 1;
}

/// The array `to` of the kernel: the fields to replace, then the values of all fields.
std::vector<std::uint64_t> field_numbers(const TensorMapSpec& map, std::uint32_t fields) {
  std::vector<std::uint64_t> to(26);
  to[0] = fields;
  to[1] = number_of(map.type);
  to[2] = static_cast<std::uint64_t>(map.interleave);
  to[3] = static_cast<std::uint64_t>(map.swizzle);
  to[4] = static_cast<std::uint64_t>(map.oob_fill);
  to[5] = map.rank;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    const std::uint32_t from = map.rank - 1U - d;
    to[7 + d] = map.shape[from];
    to[12 + d] = map.box[from];
    to[17 + d] = map.element_strides[from];
    if (d + 1U < map.rank) to[22 + d] = map.strides[from - 1];
  }
  return to;
}

bool is_tf32(ElementType type) {
  return type == ElementType::tf32 || type == ElementType::tf32_ftz;
}

/// A map that differs from `map` in `field`, and may be illegal.
TensorMapSpec with_other_field(Random& random, TensorMapSpec map, Field field) {
  const std::uint32_t inner = map.rank - 1U;
  const auto some = [&](std::uint64_t most) { return static_cast<std::uint32_t>(between(random, 1, most)); };
  const std::uint32_t granule = 16 / size_of(map.type);
  switch (field) {
    case type:
      map.type = one_of(random, all_element_types);
      map.strides[inner] = map.interleave == Interleave::none ? size_of(map.type) : map.strides[inner];
      break;
    case interleave:
      map.interleave = one_of(random, std::array{Interleave::none, Interleave::b16, Interleave::b32});
      map.strides[inner] = map.interleave == Interleave::none  ? size_of(map.type)
                           : map.interleave == Interleave::b16 ? 16
                                                               : 32;
      break;
    case swizzle: map.swizzle = static_cast<Swizzle>(between(random, 0, 3)); break;
    case fill: map.oob_fill = map.oob_fill == OobFill::nan ? OobFill::zero : OobFill::nan; break;
    case extents:
      for (std::uint32_t d = 0; d < map.rank; ++d) map.shape[d] += some(9);
      break;
    case box:
      for (std::uint32_t d = 0; d < map.rank; ++d) map.box[d] = d == inner ? granule * some(8) : some(9);
      break;
    case element_strides:
      for (std::uint32_t d = 0; d < inner; ++d) map.element_strides[d] = some(8);
      break;
    case strides:
      for (std::uint32_t d = 0; d < inner; ++d) map.strides[d] += std::uint64_t{32} * some(9);
      break;
    default: break;
  }
  return map;
}

/// A map of the given rank. The innermost dimensions are those of `map`; any further ones have extent 2.
TensorMapSpec with_rank(const TensorMapSpec& map, std::uint8_t rank) {
  TensorMapSpec other = map;
  other.rank = rank;
  for (std::uint32_t i = 0; i < max_map_rank; ++i) {  // from the innermost
    const bool in_source = i < map.rank;
    const bool in_result = i < rank;
    const std::uint32_t to = in_result ? rank - 1U - i : i;
    const std::uint32_t from = in_source ? map.rank - 1U - i : 0;
    other.shape[to] = in_result ? (in_source ? map.shape[from] : 2) : 0;
    other.strides[to] = in_result ? (in_source ? map.strides[from] : 1024) : 0;
    other.box[to] = in_result ? (in_source ? map.box[from] : 1) : 0;
    other.element_strides[to] = in_result ? (in_source ? map.element_strides[from] : 1) : 0;
  }
  return other;
}

struct Change {
  TileCopy load;          ///< load by the changed map
  TensorMapSpec initial;  ///< map before the change, an argument of the kernel
  std::uint32_t fields;   ///< a bit for each field that is replaced
  std::uint32_t way;      ///< way of publishing the changed map, see publish() in the kernel
};

Trial map_change_trial(const Change& change, Random& random) {
  const TensorMapSpec& map = change.load.map;
  const auto made = [&](std::string_view name, std::uint64_t bytes) {
    const auto data = random_bytes(random, bytes);
    return Memory{name, map.type, data, data};
  };
  const Memory tensor = made("tensor", tensor_bytes(map));
  Memory window = made("shared memory", window_bytes(change.load));
  TensorMapSpec used = map;
  if (is_tf32(change.initial.type))
    used.type = change.initial.type;  // a map of tf32 keeps rounding to tf32 (docs/tma.md)
  reference::load(used, tensor.before, std::span(change.load.at).first(map.rank), window.after);
  Memory complete{"arrival of all bytes", ElementType::u32, std::vector<std::byte>(4),
                  std::vector<std::byte>(4)};
  complete.after[0] = std::byte{1};
  const std::vector<std::byte> none(128);
  const auto to = field_numbers(map, change.fields);
  std::vector<std::byte> to_bytes(to.size() * 8);
  std::memcpy(to_bytes.data(), to.data(), to_bytes.size());

  Numbers numbers;
  numbers.values[0] = static_cast<std::int32_t>(window_bytes(change.load));
  numbers.values[1] = static_cast<std::int32_t>(tile_layout(map).transaction_bytes);
  numbers.values[2] = static_cast<std::int32_t>(change.way);
  for (std::size_t d = 0; d < map.rank; ++d)
    numbers.values.at(3 + d) = static_cast<std::int32_t>(change.load.at.at(map.rank - 1U - d));
  // If the kernel replaces the address, the initial map must have another address: that of memory 3, which
  // the load must not read.
  const bool other_address = (change.fields >> address & 1U) != 0;
  return {.what = fmt::format("{} published in way {}, fields {:#b}, map before: {}", describe(change.load),
                              change.way, change.fields, reference::describe(change.initial)),
          .kernel = kernel_of(map_change_text, fmt::format("changed_map<{}>", map.rank)),
          .memories = {tensor,
                       std::move(window),
                       std::move(complete),
                       {"the changed map", ElementType::u32, none, none, false},
                       {"the fields", ElementType::u64, to_bytes, to_bytes}},
          .arguments = {AddressArgument{1}, AddressArgument{2}, AddressArgument{0}, AddressArgument{3},
                        AddressArgument{4}, MapArgument{other_address ? 3U : 0U, change.initial},
                        ValueArgument::of(numbers)},
          .shape = {.block = {32, 1, 1},
                    .shared_bytes = static_cast<std::uint32_t>(window_bytes(change.load) + 1024)}};
}

std::vector<Trial> changes(Random& random, Field field) {
  constexpr std::size_t trials_per_case = 16;
  std::vector<Trial> trials;
  while (trials.size() < trials_per_case) {
    TileFeatures features{.types = true,
                          .swizzles = true,
                          .nan = reference::one_in(random, 2),
                          .outside = true,
                          .padded = true};
    features.strides = field == element_strides || field == all;
    features.interleaved = field == interleave && reference::one_in(random, 2);
    Change change{.load = random_tile(random, TileCopy::Kind::load, features),
                  .initial = {},
                  .fields = field == all ? (1U << all) - 1 : 1U << field,
                  .way = static_cast<std::uint32_t>(trials.size() % 8)};
    const TensorMapSpec& map = change.load.map;
    if (field == all) {
      change.initial = random_tile(random, TileCopy::Kind::load, features).map;
    } else if (field == rank) {
      // If the map gets new outer dimensions, the kernel also sets their extents, box and strides.
      change.initial = with_rank(map, static_cast<std::uint8_t>(between(random, 1, max_map_rank)));
      if (change.initial.rank < map.rank)
        change.fields |= 1U << extents | 1U << box | 1U << element_strides | 1U << strides;
    } else {
      change.initial = with_other_field(random, map, field);
    }
    if (field != address && change.initial == map) continue;
    // Loads by such maps are tested by changes_of_tf32().
    if (is_tf32(change.initial.type) && !is_tf32(map.type)) continue;
    if (validate(change.initial).empty()) trials.push_back(map_change_trial(change, random));
  }
  return trials;
}

/// Changes maps of tf32 to maps of f32. With any other type, copies by them are illegal.
std::vector<Trial> changes_of_tf32(Random& random) {
  std::vector<Trial> trials;
  for (const ElementType from : {ElementType::tf32, ElementType::tf32_ftz}) {
    for (const ElementType to : {ElementType::f32, ElementType::f32_ftz}) {
      for (std::uint32_t way = 0; way < 4; ++way) {
        Change change{.load = {}, .initial = {}, .fields = 1U << type, .way = way};
        do {
          change.load = random_tile(random, TileCopy::Kind::load,
                                    {.types = true, .swizzles = true, .outside = true, .padded = true});
        } while (change.load.map.type != to);
        change.initial = change.load.map;
        change.initial.type = from;
        trials.push_back(map_change_trial(change, random));
      }
    }
  }
  return trials;
}

}  // namespace

void add_map_changes(std::vector<Case>& cases) {
  for (std::uint8_t field = address; field <= all; ++field) {
    cases.push_back(
        {.name = fmt::format("tensormap.replace.{}", field_names.at(field)),
         .instructions = {"tensormap.replace", "tensormap.cp_fenceproxy", "fence.proxy.tensormap"},
         .what = "loads by a map after a kernel has replaced a field and published the map to each scope",
         .trials = [field](Random& random) { return changes(random, static_cast<Field>(field)); }});
  }
  cases.push_back({.name = "tensormap.replace.tf32",
                   .instructions = {"tensormap.replace", "tensormap.cp_fenceproxy", "fence.proxy.tensormap"},
                   .what = "loads by maps that a kernel has changed from tf32 to f32: they still round",
                   .trials = changes_of_tf32,
                   .reports = {"tensormap.field"}});
}

}  // namespace conformance
