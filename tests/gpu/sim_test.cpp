/// Random kernels and inputs on a GPU and on the simulated device.
#include "gpu/compare_devices.hpp"
#include "gpu/support.hpp"

#include <algorithm>
#include <iostream>
#include <thread>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("random kernels of every tile family give the same bytes on a GPU and when simulated", "[gpu]") {
  REQUIRE_HOPPER(device);
  gpu::Comparison comparison;
  comparison.seed = gpu::seed();
  comparison.cases_per_family = gpu::from_environment("TMAJIT_CASES", 600);
  comparison.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 32U);
  comparison.device = device;
  comparison.options.sm_count = device->info().sm_count;
  std::uint64_t mismatches = 0;
  const std::uint64_t cases = gpu::compare_with_simulation(comparison, [&](const std::string& text) {
    ++mismatches;
    std::cout << "MISMATCH " << text << std::endl;
  });
  std::cout << cases << " random cases on " << device->info().name << " and simulated, " << mismatches
            << " mismatches, TMAJIT_SEED=" << comparison.seed << std::endl;
  CHECK(mismatches == 0);
  CHECK(cases == comparison.cases_per_family * gpu::tile_families().size());
}
