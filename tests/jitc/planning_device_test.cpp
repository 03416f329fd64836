#include "planning_device.hpp"

#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>

namespace {

std::uint32_t fitting(std::uint32_t registers, std::uint32_t threads, std::uint32_t dynamic_bytes,
                      std::uint32_t static_bytes = 0) {
  tmajit::Artifact artifact;
  artifact.resources.registers = registers;
  artifact.resources.static_shared_bytes = static_bytes;
  return jitc::make_planning_device()->load(artifact)->ctas_per_sm(threads, dynamic_bytes);
}

}  // namespace

TEST_CASE("how many CTAs fit an SM of an H200 that is not there") {
  CHECK(fitting(16, 32, 0) == 32);          // the most there may be
  CHECK(fitting(32, 256, 0) == 8);          // 2048 threads
  CHECK(fitting(255, 256, 0) == 1);         // 65536 registers
  CHECK(fitting(40, 256, 0) == 6);          // 1280 registers a warp, 51 warps
  CHECK(fitting(16, 128, 56 * 1024) == 4);  // 228 KiB, 1 KiB of each the system's
  CHECK(fitting(16, 128, 16 * 1024, 40 * 1024) == 4);
  CHECK(fitting(16, 128, 227 * 1024) == 1);
}

TEST_CASE("a device for plans has an H200's numbers, and no memory") {
  const auto device = jitc::make_planning_device();
  CHECK(device->info().name == "NVIDIA H200");
  CHECK(device->info().ordinal == -1);
  CHECK(device->info().sm_count == 132);
  try {
    static_cast<void>(device->allocate(1));
    FAIL("memory of a device that is not there");
  } catch (const tmajit::Error& error) {
    CHECK(error.code() == tmajit::ErrorCode::unavailable);
  }
}
