/// Launches that may begin before earlier launches have ended. Exactly the accesses before
/// griddepcontrol.wait that conflict with an earlier launch must be reported.
#include "ptx_alone.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>

#include <map>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace overlap_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* text = R"(
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/grid.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"
using namespace tmajit;
namespace mbarrier = ptx::mbarrier;

#define KERNEL extern "C" __global__ void
// Launches pass `data` to each other; `other` is used by one kernel only.
KERNEL produce(u32* data, u32* other) {
  const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
  ptx::launch_dependents();
  data[at] = other[at] + 1;
}
KERNEL produce_by_copy(u32* data, u32* other) {
  __shared__ alignas(128) u32 tile[32];
  tile[threadIdx.x] = threadIdx.x;
  ptx::fence_proxy_async_shared();
  __syncwarp();
  if (threadIdx.x != 0) return;
  ptx::bulk_store(data, ptx::shared_address(tile), sizeof tile);
  ptx::commit_group();
  ptx::wait_group<0>();
}
KERNEL release(u32* data, u32* other) {
  data[threadIdx.x] = 1;
  __syncwarp();
  __threadfence();
  if (threadIdx.x == 0) *(volatile u32*)(data + 1000) = 1;
}
KERNEL forward(u32* data, u32* other) { ptx::wait_for_prerequisites(); other[2000 + threadIdx.x] = data[threadIdx.x]; }
KERNEL forward_early(u32* data, u32* other) {
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  other[2000 + threadIdx.x] = data[threadIdx.x];
}

KERNEL waits(u32* data, u32* other) {
  const u32 own = other[threadIdx.x];
  ptx::wait_for_prerequisites();
  other[1000 + threadIdx.x] = data[threadIdx.x] + own;
}
KERNEL one_waits(u32* data, u32* other) {
  if (threadIdx.x == 0) ptx::wait_for_prerequisites();
  __syncthreads();
  other[1000 + threadIdx.x] = data[threadIdx.x];
}
KERNEL one_waits_alone(u32* data, u32* other) {
  if (threadIdx.x == 0) ptx::wait_for_prerequisites();
  other[1000 + threadIdx.x] = data[threadIdx.x];
}
KERNEL reads(u32* data, u32* other) { other[1000 + threadIdx.x] = data[threadIdx.x]; }
KERNEL reads_one(u32* data, u32* other) {
  if (threadIdx.x == 5) other[1000] = data[5];
  ptx::wait_for_prerequisites();
}
KERNEL writes_what_is_read(u32* data, u32* other) {
  other[threadIdx.x] = 1;
  ptx::wait_for_prerequisites();
}
KERNEL writes_elsewhere(u32* data, u32* other) {
  other[3000 + threadIdx.x] = 1;
  ptx::wait_for_prerequisites();
}
KERNEL adds(u32* data, u32* other) { atomicAdd(data + threadIdx.x, 1); }
__device__ void load(u32* data, u32* other, bool wait) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ u64 barrier;
  const u32 bar = ptx::shared_address(&barrier);
  if (threadIdx.x == 0) {
    mbarrier::init(bar, 1);
    ptx::fence_proxy_async_shared();
    if (wait) ptx::wait_for_prerequisites();
    mbarrier::arrive_expect_tx(bar, sizeof tile);
    ptx::bulk_load(ptx::shared_address(tile), data, sizeof tile, bar);
  }
  __syncthreads();
  while (!mbarrier::try_wait(bar, 0)) {}
  other[1000 + threadIdx.x] = tile[threadIdx.x];
}
KERNEL loads(u32* data, u32* other) { load(data, other, true); }
KERNEL loads_early(u32* data, u32* other) { load(data, other, false); }
KERNEL acquires(u32* data, u32* other) {
  while (*(volatile u32*)(data + 1000) == 0) {}
  __threadfence();
  other[1000 + threadIdx.x] = data[threadIdx.x];
}
)";

/// Entries of kernels in the order of their launches on one stream. With "+", the launch may overlap earlier
/// launches. "|" synchronises the stream, and "0" fills memory that no kernel uses.
using Chain = std::vector<std::string>;

std::vector<Report> run(const Chain& chain, SimOptions::Mode mode) {
  static std::map<std::string, Artifact> compiled;
  const auto sim = make_sim_device({.mode = mode, .threads = 2});
  const Buffer data(sim, 1 << 14);
  const Buffer other(sim, 1 << 14);
  const Buffer unrelated(sim, 64);
  for (const Buffer* const each : {&data, &other})
    sim->memory().fill(each->address(), std::byte{0}, each->bytes(), nullptr);
  const Stream stream = sim->streams().create();
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
  for (std::string entry : chain) {
    if (entry == "|") {
      sim->streams().synchronize(stream);
      continue;
    }
    if (entry == "0") {
      sim->memory().fill(unrelated.address(), std::byte{0}, 64, stream);
      continue;
    }
    const bool overlaps = entry.front() == '+';
    if (overlaps) entry.erase(0, 1);
    auto found = compiled.find(entry);
    if (found == compiled.end())
      found = compiled.emplace(entry, compile(custom_source(text, entry), tests::ptx_alone)).first;
    kernels.push_back(sim->kernels().load(found->second));
    std::uint64_t a = data.address();
    std::uint64_t b = other.address();
    void* const parameters[] = {&a, &b};
    kernels.back()->launch({.block = {32, 1, 1}, .overlaps = overlaps}, parameters, stream);
    kernels.pop_back();  // reports must stay valid after the kernel is unloaded
  }
  return sim->reports();
}

std::string text_of(const Chain& chain) {
  std::string names;
  for (const std::string& entry : chain) names += " " + entry;
  return names;
}

constexpr auto modes = {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random};

/// Checks that the chain has no report in any mode.
void correct(const Chain& chain) {
  for (const auto mode : modes) {
    std::string found;
    for (const Report& report : run(chain, mode)) found += report.text() + "\n";
    INFO(text_of(chain) << ", mode " << static_cast<int>(mode) << ": " << found);
    CHECK(found.empty());
  }
}

/// Checks that the only report of the chain, in every mode, is that of an access before the wait.
void broken(const Chain& chain) {
  for (const auto mode : modes) {
    const std::vector<Report> reports = run(chain, mode);
    INFO(text_of(chain) << ", mode " << static_cast<int>(mode));
    REQUIRE(reports.size() == 1);
    CHECK(reports.front().rule == "race.launch-before");
  }
}

}  // namespace

TEST_CASE("a launch that overlaps the one before must wait before it accesses the same memory") {
  correct({"produce", "+waits"});
  correct({"produce", "+one_waits"});
  correct({"produce", "+loads"});
  correct({"produce", "+writes_elsewhere"});
  correct({"produce_by_copy", "+waits"});
  broken({"produce", "+one_waits_alone"});
  broken({"produce", "+reads"});
  broken({"produce", "+reads_one"});
  broken({"produce", "+writes_what_is_read"});
  broken({"produce", "+adds"});
  broken({"produce", "+loads_early"});
  broken({"produce_by_copy", "+reads"});
}

TEST_CASE("launches that cannot overlap earlier ones need no wait") {
  correct({"produce", "reads"});
  correct({"+reads"});
  correct({"produce", "|", "+reads"});
  correct({"produce", "0", "+reads"});
  correct({"produce", "forward", "+writes_elsewhere"});
}

TEST_CASE(
    "in a chain of overlapping launches, exactly the accesses that no launch's wait orders are reported") {
  correct({"produce", "+forward", "+waits"});
  // The middle launch waits for the first one, and the last one may begin only when the middle one ends.
  correct({"produce", "+forward", "+reads"});
  broken({"produce", "+forward_early", "+reads"});
  correct({"produce", "+forward_early", "+waits"});
  broken({"produce", "+writes_elsewhere", "+writes_elsewhere"});
  correct({"produce", "+forward_early", "reads"});
}

TEST_CASE("overlapping launches may synchronise by flags instead of a wait") {
  correct({"release", "+acquires"});
  broken({"release", "+reads"});
}

TEST_CASE("the report of an access before the wait names both launches") {
  const std::vector<Report> reports = run({"produce", "+reads"}, SimOptions::Mode::late);
  REQUIRE(reports.size() == 1);
  CHECK_THAT(reports.front().text(), ContainsSubstring("the read by thread (0, 0, 0)"));
  CHECK_THAT(reports.front().text(),
             ContainsSubstring("the write by thread (0, 0, 0) of CTA (0, 0, 0) of kernel \"produce\""));
  CHECK(reports.front().kernel == "reads");
  CHECK(reports.front().count == 32);
}

}  // namespace overlap_test
