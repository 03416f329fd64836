#include "conformance/kernel_text.hpp"

#include <utility>

namespace conformance {
namespace {

// Waits have a time limit of 200 million cycles, far longer than any correct phase takes: a wrong byte count
// must give a wrong result, not a launch that never ends.
constexpr auto prelude = R"(
#include "tmajit/mbarrier.cuh"

namespace tmajit {

struct Numbers { i32 values[16]; };

__device__ __forceinline__ bool completes(u32 barrier, u32 parity) {
  const long long begin = clock64();
  while (!ptx::mbarrier::try_wait_of_cluster(barrier, parity)) {
    if (clock64() - begin > 200'000'000) return false;
  }
  return true;
}

}  // namespace tmajit
)";

}  // namespace

tmajit::OwnKernel kernel_of(const std::string& text, std::string entry) {
  return {.text = prelude + text, .file = "conformance.cu", .entry = std::move(entry)};
}

}  // namespace conformance
