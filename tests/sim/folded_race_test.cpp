/// If the halves of a warp read the same words, or one word each, the simulator records the reads as one
/// entry. Races must still be found for every lane.
#include "sim/cuda_support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

namespace folded_race_test {

using namespace tmajit;

TEST_CASE("a write of a word that a lane of either half of a warp has read is a race") {
  const bool waits = GENERATE(true, false);
  // Either lanes i and i + 16 read word i, or the first half of the warp reads word 0 and the second half
  // word 1.
  const std::string place = GENERATE("threadIdx.x & 15", "threadIdx.x >> 4");
  // Each word that a lane overwrites was read by another lane, of the other half of the warp or of the same
  // half.
  const std::string writer = GENERATE("threadIdx.x < 16", "threadIdx.x == 0", "threadIdx.x == 1");
  const auto outcome = tests::run_cuda(R"(
extern "C" __global__ void k(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  int value = s[)" + place + R"(];
  )" + (waits ? "__syncwarp();" : "") + R"(
  if ()" + writer + R"() s[threadIdx.x] = value + 1;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x] + value;
})",
                                       32, false);
  INFO(outcome.text);
  if (waits) {
    CHECK(outcome.reports.empty());
  } else {
    REQUIRE(outcome.reports.size() == 1);
    CHECK(outcome.reports[0].rule == "race.shared-read-write");
  }
}

}  // namespace folded_race_test
