#include "conformance/tile_copy.hpp"

#include "conformance/kernel_text.hpp"
#include "conformance/values.hpp"
#include "reference/copy_engine.hpp"
#include "reference/map_text.hpp"

#include <algorithm>
#include <span>

#include <spdlog/fmt/ranges.h>

namespace conformance {

using namespace tmajit;
using reference::Random;

namespace {

constexpr std::uint32_t tile_copy_threads = 128;

/// The kernel's operation. Numbers from `first_reduction` on are reductions.
enum CopyKind : std::uint8_t { load, prefetched_load, store, first_reduction };

constexpr auto tile_copy_text = R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/bulk_tensor_reduce.cuh"
#include "tmajit/im2col.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
using namespace tmajit;

__device__ ptx::CachePolicy policy(u32 hint, const void* memory) {
  switch (hint) {
    case 1: return ptx::evict_first();
    case 2: return ptx::evict_normal();
    case 3: return ptx::evict_last();
    case 4: return ptx::evict_unchanged();
    case 5: return ptx::evict_first(0.5f);
    case 6: return ptx::evict_normal(0.5f);
    case 7: return ptx::evict_last(0.5f);
    case 8: return ptx::evict_unchanged(0.5f);
    default: return ptx::evict_last_in(memory, 4096, 8192);
  }
}

#define REDUCE(number, op) \
  case 3 + number:                                                          \
    if constexpr (pixels) {                                                 \
      hinted ? ptx::im2col_reduce_##op(map, at, tile, hint) : ptx::im2col_reduce_##op(map, at, tile); \
    } else {                                                                \
      hinted ? ptx::tensor_reduce_##op(map, at, tile, hint) : ptx::tensor_reduce_##op(map, at, tile); \
    }                                                                       \
    break;

// Numbers: 0: bytes of the window, which is the shared memory around the tile; 1: the tile's offset in the window;
// 2: bytes that a load delivers; 3: the kind of copy; 4: the hint; 5 to 9: coordinates, and 10 to 12: im2col offsets,
// innermost dimension first.
template <u32 rank, bool pixels>
__global__ void __launch_bounds__(128) copy_tile(u32* window, u32* complete, u8* tensor,
                                                 const __grid_constant__ TensorMap map, const Numbers numbers) {
  __shared__ u64 word;
  u32* const words = reinterpret_cast<u32*>(aligned_shared_memory());
  const u32 count = numbers.values[0] / 4, tile = ptx::shared_address(words) + numbers.values[1], kind = numbers.values[3];
  const bool hinted = numbers.values[4] != 0;
  const ptx::CachePolicy hint = policy(numbers.values[4], tensor);
  Coordinates<rank> at;
  for (u32 d = 0; d < rank; ++d) at.at[d] = numbers.values[5 + d];
  TapOffsets<pixels ? rank - 2 : 1> tap;
  if constexpr (pixels) for (u32 d = 0; d < rank - 2; ++d) tap.at[d] = static_cast<u16>(numbers.values[10 + d]);
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) words[i] = window[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (kind < 2) {
    if (threadIdx.x == 0) {
      if (kind == 1) {
        ptx::prefetch_tensor_map(map);
        if constexpr (pixels) {
          hinted ? ptx::im2col_prefetch(map, at, tap, hint) : ptx::im2col_prefetch(map, at, tap);
        } else {
          hinted ? ptx::tensor_prefetch(map, at, hint) : ptx::tensor_prefetch(map, at);
        }
      }
      arrived.expect(numbers.values[2]);
      if constexpr (pixels) {
        hinted ? ptx::im2col_load(tile, map, at, tap, arrived.address(), hint)
               : ptx::im2col_load(tile, map, at, tap, arrived.address());
      } else {
        hinted ? ptx::tensor_load(tile, map, at, arrived.address(), hint)
               : ptx::tensor_load(tile, map, at, arrived.address());
      }
    }
    const bool completed = completes(arrived.address(), 0);
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) window[i] = words[i];
    if (threadIdx.x == 0) *complete = completed;
    return;
  }
  if (threadIdx.x != 0) return;
  switch (kind) {
    case 2:
      if constexpr (pixels) {
        hinted ? ptx::im2col_store(map, at, tile, hint) : ptx::im2col_store(map, at, tile);
      } else {
        hinted ? ptx::tensor_store(map, at, tile, hint) : ptx::tensor_store(map, at, tile);
      }
      break;
    REDUCE(0, add)
    REDUCE(1, min)
    REDUCE(2, max)
    REDUCE(3, inc)
    REDUCE(4, dec)
    REDUCE(5, and)
    REDUCE(6, or)
    REDUCE(7, xor)
  }
  ptx::commit_group();
  ptx::wait_group<0>();
}
)";

std::string_view operation_name(const TileCopy& copy) {
  if (copy.kind == TileCopy::Kind::reduce) return reference::name(copy.operation);
  if (copy.kind == TileCopy::Kind::store) return "store";
  return copy.prefetch ? "prefetched load" : "load";
}

std::int32_t kind_of(const TileCopy& copy) {
  if (copy.kind == TileCopy::Kind::reduce) return first_reduction + static_cast<std::int32_t>(copy.operation);
  if (copy.kind == TileCopy::Kind::store) return store;
  return copy.prefetch ? prefetched_load : load;
}

/// Performs the copy on the CPU.
void apply_reference(const TileCopy& copy, std::span<std::byte> tensor, std::span<std::byte> window) {
  const TensorMapSpec& map = copy.map;
  const auto at = std::span(copy.at).first(map.rank);
  switch (copy.kind) {
    case TileCopy::Kind::load: {
      const std::size_t taps = map.mode == MapMode::im2col ? map.rank - 2U : 0;
      return reference::load(map, tensor, at, window, std::span(copy.offsets).first(taps), copy.begin);
    }
    case TileCopy::Kind::store: return reference::store(map, tensor, at, window, copy.begin);
    default:
      const auto combine = [&](std::byte* element, const std::byte* operand) {
        reference::combine(copy.operation, map.type, element, operand);
      };
      return reference::reduce(map, tensor, at, window, combine, copy.begin);
  }
}

Numbers numbers_of(const TileCopy& copy) {
  const TensorMapSpec& map = copy.map;
  Numbers numbers;
  auto& values = numbers.values;
  values[0] = static_cast<std::int32_t>(window_bytes(copy));
  values[1] = static_cast<std::int32_t>(copy.begin);
  values[2] = static_cast<std::int32_t>(tile_layout(map).transaction_bytes);
  values[3] = kind_of(copy);
  values[4] = static_cast<std::int32_t>(copy.hint);
  for (std::size_t d = 0; d < map.rank; ++d)
    values.at(5 + d) = static_cast<std::int32_t>(copy.at.at(map.rank - 1U - d));
  if (map.mode != MapMode::im2col) return numbers;
  for (std::size_t d = 0; d + 2U < map.rank; ++d)
    values.at(10 + d) = static_cast<std::int32_t>(copy.offsets.at(map.rank - 3U - d));
  return numbers;
}

}  // namespace

std::string describe(const TileCopy& copy) {
  const TensorMapSpec& map = copy.map;
  const std::size_t taps = map.mode == MapMode::im2col ? map.rank - 2U : 0;
  return fmt::format("{} at [{}] offsets [{}] tile at {} hint {}{}, {}", operation_name(copy),
                     fmt::join(std::span(copy.at).first(map.rank), ", "),
                     fmt::join(std::span(copy.offsets).first(taps), ", "), copy.begin, copy.hint,
                     copy.moved ? " of a moved map" : "", reference::describe(map));
}

std::uint32_t inner_bytes(const TensorMapSpec& map) {
  return map.interleave == Interleave::none ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
}

std::uint64_t tensor_bytes(const TensorMapSpec& map) {
  constexpr std::uint64_t bytes_after_end = 64;
  std::uint64_t bytes = map.strides[map.rank - 1U];
  for (std::uint32_t d = 0; d < map.rank; ++d) bytes += (map.shape[d] - 1) * map.strides[d];
  return (bytes + bytes_after_end + 15) / 16 * 16;
}

std::uint64_t window_bytes(const TileCopy& copy) {
  return (copy.begin + reference::image_bytes(copy.map) + 1023) / 1024 * 1024;
}

Trial trial_of(const TileCopy& copy, Random& random) {
  const TensorMapSpec& map = copy.map;
  const auto memory = [&](std::string_view name, const std::vector<std::byte>& given, std::uint64_t bytes) {
    std::vector<std::byte> before = given.empty() ? random_bytes(random, bytes) : given;
    before.resize(bytes, std::byte{0x5a});
    return Memory{name, map.type, before, before};
  };
  Memory tensor = memory("tensor", copy.elements, tensor_bytes(map));
  Memory window = memory("shared memory", copy.operands, window_bytes(copy));
  apply_reference(copy, tensor.after, window.after);
  Memory complete{"arrival of all bytes", ElementType::u32, std::vector<std::byte>(4, std::byte{0xff}), {}};
  complete.after = complete.before;
  if (copy.kind == TileCopy::Kind::load)
    complete.after = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}};

  const bool pixels = map.mode == MapMode::im2col;
  Trial trial{.what = describe(copy),
              .kernel = kernel_of(tile_copy_text, fmt::format("copy_tile<{}, {}>", map.rank, pixels)),
              .memories = {std::move(tensor), std::move(window), std::move(complete)},
              .arguments = {AddressArgument{1}, AddressArgument{2}, AddressArgument{0}, MapArgument{0, map},
                            ValueArgument::of(numbers_of(copy))},
              .shape = {.block = {tile_copy_threads, 1, 1}},
              .moved = copy.moved};
  trial.shape.shared_bytes = static_cast<std::uint32_t>(window_bytes(copy) + 1024);
  return trial;
}

}  // namespace conformance
