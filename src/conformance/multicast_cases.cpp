/// Loads into several CTAs of a cluster at once.
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"
#include "conformance/random_tile.hpp"
#include "conformance/values.hpp"
#include "reference/copy_engine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::one_of;
using reference::Random;

namespace {

constexpr auto multicast_text = R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/cluster.cuh"
#include "tmajit/shared_memory.cuh"
using namespace tmajit;

// Numbers: 0: bytes of a CTA's window, which holds one tile per load; 1: bytes from one tile to the next; 2: bytes that
// a load delivers; 3: mask of the CTAs that load; 4: mask of the CTAs that receive; 5: whether the loads have a hint;
// 6: bytes of a copy without a map, 0 for a copy by the map; 7 to 11: coordinates, innermost dimension first.
template <u32 rank>
__global__ void __launch_bounds__(128) multicast(u32* windows, u32* complete, const u8* global,
                                                 const __grid_constant__ TensorMap map, const Numbers numbers) {
  __shared__ u64 word;
  u32* const words = reinterpret_cast<u32*>(aligned_shared_memory());
  const u32 mine = ptx::cluster_ctarank(), count = numbers.values[0] / 4, bytes = numbers.values[6];
  u32* const window = windows + mine * count;
  const CtaMask into{static_cast<u16>(numbers.values[4])};
  const bool hinted = numbers.values[5] != 0;
  Coordinates<rank> at;
  for (u32 d = 0; d < rank; ++d) at.at[d] = numbers.values[7 + d];
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) words[i] = window[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  ptx::fence_proxy_async();
  const bool receives = into.bits >> mine & 1;
  if (threadIdx.x == 0 && receives) arrived.expect(numbers.values[2] * __popc(numbers.values[3]));
  ptx::sync_cluster();
  if (threadIdx.x == 0 && (numbers.values[3] >> mine & 1)) {
    const u32 tile = ptx::shared_address(words) + __popc(numbers.values[3] & ((1 << mine) - 1)) * numbers.values[1];
    if (bytes != 0) {
      hinted ? ptx::bulk_load(tile, global, bytes, arrived.address(), into, ptx::evict_last())
             : ptx::bulk_load(tile, global, bytes, arrived.address(), into);
    } else {
      hinted ? ptx::tensor_load(tile, map, at, arrived.address(), into, ptx::evict_last())
             : ptx::tensor_load(tile, map, at, arrived.address(), into);
    }
  }
  const bool completed = !receives || completes(arrived.address(), 0);
  ptx::sync_cluster();
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) window[i] = words[i];
  if (threadIdx.x == 0) complete[mine] = completed;
}
)";

struct Multicast {
  TileCopy tile;
  std::uint32_t bytes = 0;  ///< bytes of a copy without a map; 0: by the map
  std::uint32_t ctas = 2;
  std::uint32_t loading = 1;  ///< CTAs that load, one bit each
  std::uint32_t into = 1;     ///< CTAs that receive, one bit each
  bool hinted = false;
};

Trial multicast_trial(const Multicast& multicast, Random& random) {
  const TensorMapSpec& map = multicast.tile.map;
  const auto loads = static_cast<std::uint32_t>(std::popcount(multicast.loading));
  const std::uint64_t tile_bytes = multicast.bytes != 0 ? multicast.bytes : reference::image_bytes(map);
  const std::uint64_t pitch = (tile_bytes + 1023) / 1024 * 1024;
  const std::uint64_t window = pitch * loads;
  const std::uint64_t delivered = multicast.bytes != 0 ? multicast.bytes : tile_layout(map).transaction_bytes;
  const auto made = [&](std::string_view name, std::uint64_t bytes) {
    const auto before = random_bytes(random, bytes);
    return Memory{name, ElementType::u32, before, before};
  };
  const Memory tensor = made("global memory", std::max<std::uint64_t>(tensor_bytes(map), multicast.bytes));
  Memory windows = made("shared memory of all CTAs", window * multicast.ctas);
  Memory complete{
      "arrival of all bytes", ElementType::u32, std::vector<std::byte>(std::size_t{4} * multicast.ctas), {}};
  complete.after = complete.before;
  for (std::uint32_t cta = 0; cta < multicast.ctas; ++cta) {
    complete.after[std::size_t{4} * cta] = std::byte{1};
    if ((multicast.into >> cta & 1) == 0) continue;
    for (std::uint32_t load = 0; load < loads; ++load) {
      const auto to = std::span(windows.after).subspan(window * cta + pitch * load, pitch);
      if (multicast.bytes != 0) {
        std::ranges::copy(std::span(tensor.before).first(multicast.bytes), to.begin());
      } else {
        reference::load(map, tensor.before, std::span(multicast.tile.at).first(map.rank), to);
      }
    }
  }
  Numbers numbers;
  const std::uint64_t values[] = {
      window,         pitch, delivered, multicast.loading, multicast.into, multicast.hinted ? 1U : 0U,
      multicast.bytes};
  for (std::size_t i = 0; i < std::size(values); ++i)
    numbers.values.at(i) = static_cast<std::int32_t>(values[i]);
  for (std::size_t d = 0; d < map.rank; ++d)
    numbers.values.at(7 + d) = static_cast<std::int32_t>(multicast.tile.at.at(map.rank - 1U - d));
  return {.what = fmt::format(
              "{} CTAs, of which {:#b} load into {:#b}{}: {}", multicast.ctas, multicast.loading,
              multicast.into, multicast.hinted ? " with a hint" : "",
              multicast.bytes != 0 ? fmt::format("{} bytes", multicast.bytes) : describe(multicast.tile)),
          .kernel = kernel_of(multicast_text, fmt::format("multicast<{}>", map.rank)),
          .memories = {tensor, std::move(windows), std::move(complete)},
          .arguments = {AddressArgument{1}, AddressArgument{2}, AddressArgument{0}, MapArgument{0, map},
                        ValueArgument::of(numbers)},
          .shape = {.grid = {multicast.ctas, 1, 1},
                    .block = {128, 1, 1},
                    .shared_bytes = static_cast<std::uint32_t>(window + 1024),
                    .cluster = {multicast.ctas, 1, 1}}};
}

std::vector<Trial> multicasts(Random& random, bool by_map) {
  std::vector<Trial> trials;
  while (trials.size() < 24) {
    Multicast multicast{
        .tile = random_tile(random, TileCopy::Kind::load,
                            {.types = by_map, .swizzles = by_map, .nan = true, .outside = by_map})};
    multicast.ctas = one_of(random, std::array{1U, 2U, 3U, 4U, 8U});
    const std::uint32_t all = (1U << multicast.ctas) - 1;
    multicast.loading = static_cast<std::uint32_t>(between(random, 1, all));
    multicast.into = static_cast<std::uint32_t>(between(random, 1, all));
    multicast.hinted = reference::one_in(random, 2);
    if (!by_map) multicast.bytes = static_cast<std::uint32_t>(16 * between(random, 1, 300));
    // The windows of eight loads must fit the shared memory of a CTA.
    if (reference::image_bytes(multicast.tile.map) > 8192) continue;
    trials.push_back(multicast_trial(multicast, random));
  }
  return trials;
}

}  // namespace

void add_multicasts(std::vector<Case>& cases) {
  cases.push_back({.name = "cluster.multicast.tensor",
                   .instructions = {"cp.async.bulk.tensor", "barrier.cluster"},
                   .what = "tiles into any CTAs of a cluster of 1 to 8, loaded by any of its CTAs",
                   .trials = [](Random& random) { return multicasts(random, true); }});
  cases.push_back({.name = "cluster.multicast.bulk",
                   .instructions = {"cp.async.bulk", "barrier.cluster"},
                   .what = "bytes into any CTAs of a cluster of 1 to 8, loaded by any of its CTAs",
                   .trials = [](Random& random) { return multicasts(random, false); }});
}

}  // namespace conformance
