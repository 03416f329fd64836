/// Traffic between the CTAs of a cluster: copies, reductions, stores, arrivals.
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"
#include "conformance/reduction_form.hpp"
#include "conformance/values.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::one_of;
using reference::Random;

namespace {

/// The kernel's operation. Numbers from `first_async_reduction` on are reductions.
enum ExchangeKind : std::uint8_t {
  send,
  store4,
  store8,
  store_two4,
  store_four4,
  store_two8,
  first_async_reduction
};
constexpr const char* kind_names[] = {"bulk copy",           "st.async of 4 bytes",
                                      "st.async of 8 bytes", "st.async of 2 words",
                                      "st.async of 4 words", "st.async of 2 words of 8 bytes"};
constexpr std::array<std::uint32_t, 6> store_bytes{0, 4, 8, 8, 16, 16};
constexpr std::uint32_t exchange_threads = 128;

/// Each CTA sends to the CTA whose rank is `distance` higher, modulo the cluster's size. A window holds the
/// bytes that a CTA sends, then those that it receives.
struct Exchange {
  std::uint32_t kind = send;
  std::uint32_t form = 0;  ///< form of a reduction, in reduction_forms()
  std::uint32_t ctas = 2;
  std::uint32_t distance = 1;
  std::uint32_t bytes = 0;  ///< bytes of a copy or reduction: a multiple of 16
};

std::string exchange_text() {
  return R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_reduce.cuh"
#include "tmajit/cluster.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/store_async.cuh"
using namespace tmajit;

__device__ void reduce(u32 kind, u32 to, u32 from, u32 bytes, u32 barrier) {
  switch (kind) {
)" +
         switch_of(reduction_forms(reference::ReductionTarget::peer), first_async_reduction,
                   "ptx::bulk_reduce_shared_", "(to, from, bytes, barrier)") +
         R"(  }
}

template <class T, u32 count> __device__ void store(u32 to, const u8* from, u32 barrier) {
  T words[count];
  for (u32 i = 0; i < count; ++i) words[i] = reinterpret_cast<const T*>(from)[i];
  if constexpr (count == 1) ptx::store_async(to, words[0], barrier);
  else ptx::store_async(to, words, barrier);
}

// Numbers: 0: bytes sent; 1: the kind of exchange; 2: the distance of ranks; 3: bytes of a thread's store.
extern "C" __global__ void __launch_bounds__(128) exchange(u32* windows, u32* complete, const Numbers numbers) {
  __shared__ u64 word;
  u8* const memory = aligned_shared_memory();
  u32* const words = reinterpret_cast<u32*>(memory);
  const u32 mine = ptx::cluster_ctarank(), all = ptx::cluster_nctarank();
  const u32 bytes = numbers.values[0], count = bytes / 2, kind = numbers.values[1];
  u32* const window = windows + mine * count;
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) words[i] = window[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  if (threadIdx.x == 0) arrived.expect(bytes);
  ptx::fence_proxy_async();
  ptx::sync_cluster();
  const u32 peer = (mine + numbers.values[2]) % all;
  const u32 to = ptx::map_to_cta(ptx::shared_address(memory) + bytes, peer);
  const u32 barrier = arrived.in(peer).address();
  const u32 at = threadIdx.x * numbers.values[3];
  switch (kind) {
    case 0:
      if (threadIdx.x == 0) ptx::bulk_send(to, ptx::shared_address(memory), bytes, barrier);
      break;
    case 1: store<u32, 1>(to + at, memory + at, barrier); break;
    case 2: store<u64, 1>(to + at, memory + at, barrier); break;
    case 3: store<u32, 2>(to + at, memory + at, barrier); break;
    case 4: store<u32, 4>(to + at, memory + at, barrier); break;
    case 5: store<u64, 2>(to + at, memory + at, barrier); break;
    default:
      if (threadIdx.x == 0) reduce(kind, to, ptx::shared_address(memory), bytes, barrier);
  }
  const bool completed = completes(arrived.address(), 0);
  ptx::sync_cluster();
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) window[i] = words[i];
  if (threadIdx.x == 0) complete[mine] = completed && ptx::cta_of(to) == peer && ptx::is_explicit_cluster();
}
)";
}

Trial exchange_trial(const Exchange& exchange, Random& random) {
  const auto forms = reduction_forms(reference::ReductionTarget::peer);
  const bool reduces = exchange.kind == first_async_reduction;
  const ElementType type = reduces ? forms.at(exchange.form).type : ElementType::u32;
  const std::size_t size = size_of(type);
  const std::size_t window = std::size_t{exchange.bytes} * 2;
  const auto before = random_values(random, type, Values::numbers, window * exchange.ctas / size);
  Memory windows{"shared memory of all CTAs", type, before, before};
  Memory complete{
      "arrival of all bytes", ElementType::u32, std::vector<std::byte>(std::size_t{4} * exchange.ctas), {}};
  complete.after = complete.before;
  for (std::uint32_t cta = 0; cta < exchange.ctas; ++cta) {
    complete.after[std::size_t{4} * cta] = std::byte{1};
    const auto* const from = before.data() + window * cta;
    auto* const to =
        windows.after.data() + window * ((cta + exchange.distance) % exchange.ctas) + exchange.bytes;
    if (!reduces) {
      std::memcpy(to, from, exchange.bytes);
      continue;
    }
    for (std::size_t at = 0; at < exchange.bytes; at += size)
      reference::combine(forms.at(exchange.form).operation, type, to + at, from + at);
  }
  Numbers numbers;
  const std::uint32_t values[] = {exchange.bytes, exchange.kind + exchange.form, exchange.distance,
                                  reduces ? 0 : store_bytes.at(exchange.kind)};
  std::ranges::copy(values, numbers.values.begin());
  return {.what = fmt::format("{} of {} bytes by each of {} CTAs to the CTA whose rank is {} higher",
                              reduces ? name_of(forms.at(exchange.form)) : kind_names[exchange.kind],
                              exchange.bytes, exchange.ctas, exchange.distance),
          .kernel = kernel_of(exchange_text(), "exchange"),
          .memories = {std::move(windows), std::move(complete)},
          .arguments = {AddressArgument{0}, AddressArgument{1}, ValueArgument::of(numbers)},
          .shape = {.grid = {exchange.ctas, 1, 1},
                    .block = {exchange_threads, 1, 1},
                    .shared_bytes = static_cast<std::uint32_t>(window + 1024),
                    .cluster = {exchange.ctas, 1, 1}}};
}

Exchange random_exchange(Random& random, std::uint32_t kind) {
  Exchange exchange{.kind = kind, .ctas = one_of(random, std::array{2U, 3U, 4U, 8U})};
  exchange.distance = static_cast<std::uint32_t>(between(random, 1, exchange.ctas - 1));
  const bool stores = kind > send && kind < first_async_reduction;
  exchange.bytes = stores ? exchange_threads * store_bytes.at(kind)
                          : static_cast<std::uint32_t>(16 * between(random, 1, 300));
  return exchange;
}

std::vector<Trial> exchanges(Random& random, std::uint32_t first, std::uint32_t last, std::size_t each) {
  std::vector<Trial> trials;
  for (std::uint32_t kind = first; kind <= last; ++kind) {
    for (std::size_t i = 0; i < each; ++i)
      trials.push_back(exchange_trial(random_exchange(random, kind), random));
  }
  return trials;
}

Case async_reductions(reference::EngineReduction operation) {
  return {.name = fmt::format("cluster.reduce.{}", reference::name(operation)),
          .instructions = {"cp.reduce.async.bulk", "mapa"},
          .what = "into the shared memory of a peer, every type of the operation there",
          .trials = [operation](Random& random) {
            const auto forms = reduction_forms(reference::ReductionTarget::peer);
            std::vector<Trial> trials;
            for (std::uint32_t form = 0; form < forms.size(); ++form) {
              if (forms[form].operation != operation) continue;
              for (int i = 0; i < 4; ++i) {
                Exchange exchange = random_exchange(random, first_async_reduction);
                exchange.form = form;
                trials.push_back(exchange_trial(exchange, random));
              }
            }
            return trials;
          }};
}

}  // namespace

void add_exchanges(std::vector<Case>& cases) {
  cases.push_back({.name = "cluster.copy",
                   .instructions = {"cp.async.bulk", "mapa", "getctarank", "barrier.cluster"},
                   .what = "bytes from each CTA's shared memory to another CTA's",
                   .trials = [](Random& random) { return exchanges(random, send, send, 12); }});
  cases.push_back({.name = "cluster.st-async",
                   .instructions = {"st.async", "mapa"},
                   .what = "words of 4 and 8 bytes, two and four of them, to another CTA",
                   .trials = [](Random& random) { return exchanges(random, store4, store_two8, 3); }});
  for (const auto operation : reference::all_engine_reductions) cases.push_back(async_reductions(operation));
}

}  // namespace conformance
