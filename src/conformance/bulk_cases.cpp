/// One-dimensional copies of the engine and its reductions into global memory.
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"
#include "conformance/reduction_form.hpp"
#include "conformance/tile_copy.hpp"
#include "conformance/values.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::EngineReduction;
using reference::one_in;
using reference::Random;

namespace {

/// The kernel's operation. Numbers from `first_reduction` on are reductions.
enum CopyKind : std::uint8_t { load, prefetched_load, store, first_reduction };

/// One copy by each CTA of a grid. All copies have the same address in global memory. The shared memory of a
/// CTA is a window, which the kernel fills from global memory first, and writes back there after a load.
struct BulkCopy {
  std::int32_t kind = load;
  std::uint32_t form = 0;    ///< form of a reduction, in reduction_forms()
  std::uint32_t begin = 0;   ///< offset in the window
  std::uint32_t offset = 0;  ///< offset in global memory
  std::uint32_t bytes = 0;
  std::uint32_t hint = 0;  ///< 0: none; 1 to 9: a cache policy, see policy() in the kernel
  std::uint32_t ctas = 1;
  Values values = Values::bits;
};

std::string bulk_copy_text() {
  const auto forms = reduction_forms(reference::ReductionTarget::global);
  return R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_reduce.cuh"
#include "tmajit/shared_memory.cuh"
using namespace tmajit;

__device__ ptx::CachePolicy policy(u32 hint, const void* memory) {
  switch (hint % 5) {
    case 1: return hint < 5 ? ptx::evict_first() : ptx::evict_first_in(memory, 1024, 4096);
    case 2: return hint < 5 ? ptx::evict_normal() : ptx::evict_normal_in(memory, 1024, 4096);
    case 3: return hint < 5 ? ptx::evict_last() : ptx::evict_last_in(memory, 1024, 4096);
    default: return hint < 5 ? ptx::evict_unchanged() : ptx::evict_unchanged_in(memory, 1024, 4096);
  }
}

__device__ void reduce(u32 kind, u8* to, u32 from, u32 bytes) {
  switch (kind) {
)" + switch_of(forms, first_reduction, "ptx::bulk_reduce_", "(to, from, bytes)") +
         R"(  }
}
__device__ void reduce(u32 kind, u8* to, u32 from, u32 bytes, ptx::CachePolicy hint) {
  switch (kind) {
)" + switch_of(forms, first_reduction, "ptx::bulk_reduce_", "(to, from, bytes, hint)") +
         R"(  }
}

// Numbers: 0: bytes of a CTA's window; 1, 2: the copy's offsets in the window and in global memory; 3: its bytes;
// 4: its kind; 5: its hint.
extern "C" __global__ void __launch_bounds__(128) bulk_copy(u32* windows, u32* complete, u8* global, const Numbers numbers) {
  __shared__ u64 word;
  u32* const words = reinterpret_cast<u32*>(aligned_shared_memory());
  u32* const window = windows + blockIdx.x * (numbers.values[0] / 4);
  const u32 count = numbers.values[0] / 4, tile = ptx::shared_address(words) + numbers.values[1];
  const u32 bytes = numbers.values[3], kind = numbers.values[4];
  u8* const memory = global + numbers.values[2];
  const bool hinted = numbers.values[5] != 0;
  const ptx::CachePolicy hint = policy(numbers.values[5], global);
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) words[i] = window[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (kind < 2) {
    if (threadIdx.x == 0) {
      if (kind == 1) hinted ? ptx::bulk_prefetch(memory, bytes, hint) : ptx::bulk_prefetch(memory, bytes);
      arrived.expect(bytes);
      hinted ? ptx::bulk_load(tile, memory, bytes, arrived.address(), hint)
             : ptx::bulk_load(tile, memory, bytes, arrived.address());
    }
    const bool completed = completes(arrived.address(), 0);
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) window[i] = words[i];
    if (threadIdx.x == 0) *complete = completed;
    return;
  }
  if (threadIdx.x != 0) return;
  if (kind == 2) {
    hinted ? ptx::bulk_store(memory, tile, bytes, hint) : ptx::bulk_store(memory, tile, bytes);
  } else {
    hinted ? reduce(kind, memory, tile, bytes, hint) : reduce(kind, memory, tile, bytes);
  }
  ptx::commit_group();
  ptx::wait_group<0>();
}
)";
}

Trial bulk_copy_trial(const BulkCopy& copy, Random& random) {
  const auto forms = reduction_forms(reference::ReductionTarget::global);
  const bool reduces = copy.kind >= first_reduction;
  const ElementType type = reduces ? forms.at(copy.form).type : ElementType::u32;
  const std::size_t size = size_of(type);
  const std::uint32_t window = (copy.begin + copy.bytes + 127) / 128 * 128;
  const auto made = [&](std::string_view name, std::size_t bytes) {
    const auto values = random_values(random, type, copy.values, bytes / size);
    return Memory{name, type, values, values};
  };
  Memory global = made("global memory", copy.offset + copy.bytes + 64);
  Memory windows = made("shared memory", std::size_t{window} * copy.ctas);
  // With different operands in the CTAs, the results of inc and dec would depend on the CTAs' order.
  if (copy.ctas > 1 && reduces) {
    for (std::uint32_t cta = 1; cta < copy.ctas; ++cta)
      std::copy_n(windows.before.begin(), window, windows.before.begin() + std::ptrdiff_t{window} * cta);
    windows.after = windows.before;
  }
  Memory complete{"arrival of all bytes", ElementType::u32, std::vector<std::byte>(4),
                  std::vector<std::byte>(4)};
  auto* const in_global = global.after.data() + copy.offset;
  for (std::uint32_t cta = 0; cta < copy.ctas; ++cta) {
    auto* const in_window = windows.after.data() + std::size_t{window} * cta + copy.begin;
    if (copy.kind < store) {
      std::memcpy(in_window, in_global, copy.bytes);
      complete.after[0] = std::byte{1};
    } else if (!reduces) {
      std::memcpy(in_global, in_window, copy.bytes);
    } else {
      for (std::size_t at = 0; at < copy.bytes; at += size)
        reference::combine(forms.at(copy.form).operation, type, in_global + at, in_window + at);
    }
  }
  constexpr const char* words[] = {"load", "prefetched load", "store"};
  Numbers numbers;
  const std::uint32_t values[] = {window,   copy.begin, copy.offset, copy.bytes, copy.kind + copy.form,
                                  copy.hint};
  std::ranges::copy(values, numbers.values.begin());
  return {
      .what = fmt::format("{} of {} bytes, shared memory from {}, global memory from {}, hint {}, {} CTAs",
                          reduces ? name_of(forms.at(copy.form)) : words[copy.kind], copy.bytes, copy.begin,
                          copy.offset, copy.hint, copy.ctas),
      .kernel = kernel_of(bulk_copy_text(), "bulk_copy"),
      .memories = {std::move(global), std::move(windows), std::move(complete)},
      .arguments = {AddressArgument{1}, AddressArgument{2}, AddressArgument{0}, ValueArgument::of(numbers)},
      .shape = {.grid = {copy.ctas, 1, 1}, .block = {128, 1, 1}, .shared_bytes = window + 1024}};
}

BulkCopy random_copy(Random& random, std::int32_t kind, bool hints) {
  const auto chunks = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(16 * between(random, least, most));
  };
  return {.kind = kind,
          .begin = chunks(0, 9),
          .offset = chunks(0, 9),
          .bytes = one_in(random, 3) ? chunks(1, 4) : chunks(1, 1000),
          .hint = hints ? static_cast<std::uint32_t>(between(random, 1, 9)) : 0};
}

Case copies(std::string name, std::string what, std::vector<std::string> instructions, std::int32_t kind,
            bool hints) {
  return {.name = std::move(name),
          .instructions = std::move(instructions),
          .what = std::move(what),
          .trials = [=](Random& random) {
            std::vector<Trial> trials(12);
            for (Trial& trial : trials) trial = bulk_copy_trial(random_copy(random, kind, hints), random);
            return trials;
          }};
}

/// Reductions of every type that the operations have; only floats if `values` is not Values::numbers, and
/// only integers if several CTAs reduce, because the rounding of floats depends on the order.
Case bulk_reductions(std::string name, std::string what, const std::vector<EngineReduction>& operations,
                     Values values, std::uint32_t ctas) {
  return {.name = std::move(name),
          .instructions = {"cp.reduce.async.bulk"},
          .what = std::move(what),
          .trials = [=](Random& random) {
            const auto forms = reduction_forms(reference::ReductionTarget::global);
            std::vector<Trial> trials;
            for (std::uint32_t form = 0; form < forms.size(); ++form) {
              const auto [operation, type] = forms[form];
              if (std::ranges::count(operations, operation) == 0) continue;
              if (values != Values::numbers && !is_float(type)) continue;
              if (ctas > 1 && is_float(type)) continue;
              for (int i = 0; i < 3; ++i) {
                BulkCopy copy = random_copy(random, first_reduction, i == 1);
                copy.form = form;
                copy.values = values;
                copy.ctas = ctas;
                trials.push_back(bulk_copy_trial(copy, random));
              }
            }
            return trials;
          }};
}

}  // namespace

void add_bulk_copies(std::vector<Case>& cases) {
  using enum EngineReduction;
  const std::vector<std::string> stores{"cp.async.bulk", "cp.async.bulk.commit_group",
                                        "cp.async.bulk.wait_group"};
  cases.push_back(copies("bulk.load", "global to shared memory", {"cp.async.bulk"}, load, false));
  cases.push_back(copies("bulk.load.hints",
                         "with cache policies of every priority, also for an address range",
                         {"cp.async.bulk", "createpolicy"}, load, true));
  cases.push_back(copies("bulk.prefetch", "loads after prefetches of the same bytes",
                         {"cp.async.bulk.prefetch.L2", "cp.async.bulk"}, prefetched_load, true));
  cases.push_back(copies("bulk.store", "shared to global memory", stores, store, false));
  cases.push_back(copies("bulk.store.hints",
                         "with cache policies of every priority, also for an address range", stores, store,
                         true));
  for (const EngineReduction operation : reference::all_engine_reductions) {
    cases.push_back(bulk_reductions(fmt::format("bulk.reduce.{}", reference::name(operation)),
                                    "every type of the operation, with integers at the ends of their range",
                                    {operation}, Values::numbers, 1));
  }
  const std::vector<EngineReduction> all(reference::all_engine_reductions.begin(),
                                         reference::all_engine_reductions.end());
  cases.push_back(bulk_reductions("bulk.reduce.contended", "integers, by 16 CTAs into the same memory", all,
                                  Values::numbers, 16));
  for (const auto& [name, what, values] :
       {std::tuple{"are rounded", "to nearest, ties to even", Values::rounded},
        std::tuple{"of subnormals", "they are not flushed", Values::subnormals},
        std::tuple{"of zeros", "-0 + -0 is -0", Values::zeros},
        std::tuple{"of infinities", "and sums that overflow", Values::infinities},
        std::tuple{"of NaNs", "the NaN is 0x7fff or 0x7fffffff, in f64 the first NaN operand",
                   Values::nans}}) {
    cases.push_back(bulk_reductions(fmt::format("settle: bulk sums {}", name), what, {add}, values, 1));
  }
  for (const auto& [name, what, values] :
       {std::tuple{"subnormals", "they are not flushed", Values::subnormals},
        std::tuple{"zeros", "-0 is below +0", Values::zeros},
        std::tuple{"NaNs", "of a number and a NaN, the result is the number; of two NaNs, 0x7fff",
                   Values::nans}}) {
    cases.push_back(
        bulk_reductions(fmt::format("settle: bulk min and max of {}", name), what, {min, max}, values, 1));
  }
}

}  // namespace conformance
