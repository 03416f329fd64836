#include "sim/support.hpp"

#include <algorithm>
#include <array>

namespace progress_test {

using namespace tmajit;

TEST_CASE("a launch reports its progress") {
  std::vector<SimProgress> updates;
  SimOptions options;
  options.threads = 2;
  options.progress = [&](const SimProgress& so_far) { updates.push_back(so_far); };
  const auto sim = make_sim_device(options);
  const auto kernel = sim->kernels().load(tests::module_of(R"(
.reg .pred %p; .reg .b32 %n; .reg .b64 %rd; .reg .b32 %limit;
ld.param.u64 %rd, [p0]; cvt.u32.u64 %limit, %rd;
mov.u32 %n, 0;
L: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %limit; @%p bra L;
ret;)",
                                                           1));
  // The first call comes after a fifth of a second, so the launch is made longer until it lasts that long.
  std::uint64_t turns = 1'000'000;
  for (; updates.empty() && turns < 1'000'000'000; turns *= 4) {
    void* const parameters[] = {&turns};
    kernel->launch({.grid = {6, 1, 1}, .block = {32, 1, 1}}, parameters, nullptr);
    sim->streams().synchronize(nullptr);
  }
  REQUIRE_FALSE(updates.empty());
  for (std::size_t i = 0; i < updates.size(); ++i) {
    CHECK(updates[i].ctas == 6);
    CHECK(updates[i].ctas_done <= 6);
    CHECK(updates[i].thread_instructions < sim->thread_instructions());
    if (i == 0) continue;
    CHECK(updates[i].ctas_done >= updates[i - 1].ctas_done);
    CHECK(updates[i].thread_instructions >= updates[i - 1].thread_instructions);
  }
  CHECK(updates.back().thread_instructions > 1'000'000);
}

}  // namespace progress_test
