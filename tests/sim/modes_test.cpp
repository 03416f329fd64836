/// Tests that a correct kernel's results depend neither on the mode nor on the seed. tests/gpu/sim_test.cpp
/// makes the same comparison with a GPU.
#include "gpu/compare_devices.hpp"
#include "ptx_alone.hpp"
#include "sim/support.hpp"

#include <cstdlib>
#include <iostream>

namespace modes_test {

using namespace tmajit;

namespace {

/// Returns a kernel's PTX, edited so that it stores wrong values.
std::string spoil(std::string ptx) {
  for (std::size_t at = 0; (at = ptx.find("\tadd.", at)) != std::string::npos; ++at) {
    if (ptx.compare(at, 8, "\tadd.f32") == 0 || ptx.compare(at, 8, "\tadd.rn.") == 0)
      ptx.replace(at, 4, "\tsub");
  }
  return ptx;
}

gpu::Comparison comparison() {
  gpu::Comparison result;
  result.seed = reference::seed(20261122);
  const char* const cases = std::getenv("TMAJIT_CASES");
  result.cases_per_family = cases == nullptr ? 20 : std::strtoull(cases, nullptr, 0);
  result.threads = 2;
  result.compile = tests::ptx_alone;
  return result;
}

}  // namespace

TEST_CASE("correct kernels give the same bytes in all modes and with all seeds") {
  auto all = comparison();
  std::cout << "TMAJIT_SEED=" << all.seed << std::endl;
  all.device = make_sim_device({.mode = SimOptions::Mode::early, .seed = 99, .sm_count = 3});
  std::vector<std::string> mismatches;
  const auto cases =
      gpu::compare_with_simulation(all, [&](const std::string& text) { mismatches.push_back(text); });
  for (const auto& text : mismatches) UNSCOPED_INFO(text);
  CHECK(mismatches.empty());
  CHECK(cases == all.cases_per_family * gpu::tile_families().size());
}

TEST_CASE("the comparison finds a device that computes wrong values") {
  auto few = comparison();
  few.device = std::make_shared<tests::EditingDevice>(make_sim_device(), spoil);
  std::vector<std::string> mismatches;
  (void)gpu::compare_with_simulation(few, [&](const std::string& text) { mismatches.push_back(text); });
  CHECK_FALSE(mismatches.empty());
  for (const auto& text : mismatches) {
    CHECK(text.find("bytes differ") != std::string::npos);
    CHECK(text.find("expression") != std::string::npos);
  }
}

}  // namespace modes_test
