/// Mistakes in host code: uses of memory and streams that do not belong to the simulated device.
#include <tmajit/device.hpp>
#include <tmajit/error.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/sim_module.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/mman.h>

namespace host_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The message that synchronize() throws; empty if it throws nothing.
std::string reported(Device& device) {
  try {
    device.streams().synchronize(nullptr);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::device_failed);
    return error.what();
  }
  return {};
}

/// The message of the Error{invalid_argument} that a call throws; empty if it throws nothing.
template <class Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("freeing memory twice, or memory that was not allocated, is reported") {
  const auto device = make_sim_device();
  const DevicePtr address = device->memory().allocate(64);
  device->memory().free(address);
  CHECK(reported(*device).empty());
  device->memory().free(address);
  CHECK_THAT(reported(*device), ContainsSubstring("host.free"));
  CHECK(reported(*device).empty());
  const DevicePtr other = device->memory().allocate(64);
  device->memory().free(other + 16);
  CHECK_THAT(reported(*device), ContainsSubstring("where no allocation of this device begins"));
  device->memory().free(other);
  device->memory().free(0);  // null is legal, as for cuMemFree
  CHECK(reported(*device).empty());
  CHECK(device->reports().size() == 2);
}

TEST_CASE("there is no report of a host mistake whose rule is allowed") {
  const auto device = make_sim_device({.allowed = {"host.free"}});
  device->memory().free(64);
  CHECK(reported(*device).empty());
}

TEST_CASE("streams of other devices are refused, and the destruction of a destroyed stream is reported") {
  const auto device = make_sim_device();
  const auto other = make_sim_device();
  const Stream stream = device->streams().create();
  const Stream foreign = other->streams().create();
  CHECK(stream != foreign);
  std::array<std::byte, 16> bytes{};
  const Buffer buffer(device, bytes.size());
  const auto use = [&](Stream at) {
    return refused([&] { device->memory().copy_in(buffer.address(), bytes, at); });
  };
  CHECK(use(stream).empty());
  CHECK(use(nullptr).empty());
  CHECK_THAT(use(foreign), ContainsSubstring("is no stream of this simulated device"));
  CHECK_THAT(refused([&] { device->streams().synchronize(foreign); }), ContainsSubstring("is no stream"));
  device->streams().destroy(stream);
  CHECK_THAT(use(stream), ContainsSubstring("it was destroyed"));
  CHECK(reported(*device).empty());
  device->streams().destroy(stream);
  CHECK_THAT(reported(*device), ContainsSubstring("host.stream"));
}

TEST_CASE("devices have different addresses, and a device refuses those of another one") {
  std::vector<std::shared_ptr<SimDevice>> devices;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 5; ++i) {
    devices.push_back(make_sim_device());
    buffers.emplace_back(devices.back(), std::uint64_t{1} << 20);
    std::array<std::byte, 16> bytes{};
    for (int other = 0; other < i; ++other) {
      CHECK(buffers[static_cast<std::size_t>(other)].address() != buffers.back().address());
      CHECK_THAT(refused([&] {
                   devices.back()->memory().copy_out(
                       bytes, buffers[static_cast<std::size_t>(other)].address(), nullptr);
                 }),
                 ContainsSubstring("do not lie in one allocation"));
    }
  }
}

TEST_CASE("a launch with an address that no tensor map can have is refused") {
  const auto device = make_sim_device();
  const Runtime runtime({.device = device});
  const Buffer memory(device, 1 << 20);
  const auto at = [&](std::uint64_t offset) {
    return Tensor{TensorView::contiguous(ElementType::f32, {64, 64}), memory.address() + offset};
  };
  const KernelPlan plan =
      plan_tiles({.family = "copy", .destination = at(0), .sources = {at(1 << 19)}, .chip = runtime.chip()});
  PreparedLaunch launch = runtime.kernel(plan).prepare(plan);
  launch(nullptr);
  launch.rebind({memory.address() + 16, memory.address() + (1 << 19)});
  launch(nullptr);
  launch.rebind({memory.address() + 8, memory.address() + (1 << 19)});
  CHECK_THROWS_AS(launch(nullptr), SpecError);
  CHECK(reported(*device).empty());
}

TEST_CASE("a device that is created after another was destroyed has the same addresses") {
  const auto first = [] { return Buffer(make_sim_device(), 64).address(); };
  CHECK(first() == first());
}

TEST_CASE("host memory at low addresses is mapped, as a heap of a program that is not position-independent") {
  constexpr std::size_t bytes = 4096;
  void* const low =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  REQUIRE(low != MAP_FAILED);
  const auto address = static_cast<DevicePtr>(reinterpret_cast<std::uintptr_t>(low));
  REQUIRE(address < DevicePtr{1} << 32U);
  const std::span<float> values(static_cast<float*>(low), 512);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::shared_ptr<SimDevice> device = make_sim_device();
  map_host_memory(*device, std::as_writable_bytes(values));
  const Runtime runtime({.device = device});
  const Buffer result(device, values.size_bytes());
  copy(runtime, Tensor::contiguous(ElementType::f32, {512}, result.address()),
       Tensor::contiguous(ElementType::f32, {512}, address));
  CHECK(reported(*device).empty());
  std::vector<float> found(values.size());
  device->memory().copy_out(std::as_writable_bytes(std::span(found)), result.address(), nullptr);
  CHECK(std::ranges::equal(found, values));
  device->memory().free(address);
  munmap(low, bytes);
}

}  // namespace host_test
