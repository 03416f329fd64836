// Launches in CUDA graphs: a graph keeps the code of the launches that it captured, and code can be loaded
// while a stream is being captured.
#include "driver/fake_driver.hpp"
#include "driver/gpu.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <cstdint>
#include <memory>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

const auto any_graph = reinterpret_cast<CUgraph>(std::uintptr_t{0x9000});
const auto any_stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});

Artifact artifact_of(const char* entry) {
  Artifact artifact;
  artifact.entry = entry;
  artifact.cubin.resize(64);
  return artifact;
}

}  // namespace

TEST_CASE("a graph that captured a launch keeps the code after the kernel is gone") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  auto kernel = gpu->kernels().load(artifact_of("captured"));
  fake.captured = any_graph;
  kernel->launch({}, {}, any_stream);
  fake.captured = nullptr;
  REQUIRE(fake.user_objects.size() == 1);
  kernel.reset();
  CHECK(fake.count("cuLibraryUnload") == 0);

  // The graph is destroyed. Its callback may not call the driver, so the next load unloads the code.
  const auto [destroy, data] = fake.user_objects.front();
  const std::size_t calls = fake.calls.size();
  destroy(data);
  CHECK(fake.calls.size() == calls);
  (void)gpu->kernels().load(artifact_of("another"));
  CHECK(fake.count("cuLibraryUnload") == 2);
}

TEST_CASE("a launch outside of a capture makes no user object") {
  FakeDriver fake;
  const auto kernel = driver::open_gpu(fake.api, 0)->kernels().load(artifact_of("plain"));
  kernel->launch({}, {}, nullptr);
  kernel->launch({}, {}, any_stream);
  CHECK(fake.user_objects.empty());
  fake.captured = any_graph;  // another stream is being captured; the default stream cannot be
  kernel->launch({}, {}, nullptr);
  CHECK(fake.user_objects.empty());
  CHECK(fake.launched.size() == 3);
}

TEST_CASE("launches on one stream share scratch memory; a graph keeps scratch memory of its own") {
  FakeDriver fake;
  fake.free_bytes = 1 << 30;
  auto gpu = driver::open_gpu(fake.api, 0);
  auto kernel = gpu->kernels().load(artifact_of("scratch"));
  std::uint64_t number = 0;
  std::uint64_t scratch = 0;
  const std::array<void*, 2> parameters{&number, &scratch};
  const auto launch = [&](Stream on, std::uint32_t bytes) {
    kernel->launch({.scratch_bytes = bytes}, parameters, on);
    return fake.count("cuMemAlloc");
  };
  const auto other = reinterpret_cast<Stream>(std::uintptr_t{0x5100});
  CHECK(launch(any_stream, 100'000) == 1);
  CHECK(launch(any_stream, 200'000) == 1);
  CHECK(launch(other, 100'000) == 2);
  CHECK(launch(nullptr, 100'000) == 3);
  CHECK(launch(any_stream, 10'000'000) == 4);  // the smaller block is not freed: a launch may still use it
  CHECK(fake.count("cuMemFree") == 0);
  CHECK(fake.user_objects.empty());

  fake.captured = any_graph;
  CHECK(launch(any_stream, 100'000) == 5);
  CHECK(launch(any_stream, 100'000) == 5);
  CHECK(fake.user_objects.size() == 4);  // code and memory for each of the two launches
  fake.captured = nullptr;
  kernel.reset();
  gpu.reset();
  CHECK(fake.count("cuMemFree") == 4);
  for (const auto& [destroy, data] : fake.user_objects) destroy(data);
  CHECK(fake.count("cuMemFree") == 4);  // a callback may not call the driver
  (void)driver::open_gpu(fake.api, 0)->kernels().load(artifact_of("another"));
  CHECK(fake.count("cuMemFree") == 5);
}

TEST_CASE("memory for a captured launch is filled before the graph runs, and lives as long as the graph") {
  FakeDriver fake;
  fake.free_bytes = 1 << 30;
  auto gpu = driver::open_gpu(fake.api, 0);
  auto& graphs = dynamic_cast<GraphMemory&>(*gpu);
  const std::array<std::byte, 100> bytes{};
  CHECK(graphs.allocate_for_capture(any_stream, bytes) == 0);  // not captured
  fake.captured = any_graph;
  CHECK(graphs.allocate_for_capture(nullptr, bytes) == 0);  // the default stream cannot be captured
  CHECK(fake.count("cuMemAlloc") == 0);
  CHECK(graphs.allocate_for_capture(any_stream, bytes) != 0);
  CHECK(fake.count("cuMemcpyHtoDAsync") == 1);
  CHECK(fake.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  REQUIRE(fake.user_objects.size() == 1);
  fake.captured = nullptr;
  gpu.reset();
  CHECK(fake.count("cuMemFree") == 0);
  const auto [destroy, data] = fake.user_objects.front();
  destroy(data);
  CHECK(fake.count("cuMemFree") == 0);  // a callback may not call the driver
  (void)driver::open_gpu(fake.api, 0)->kernels().load(artifact_of("another"));
  CHECK(fake.count("cuMemFree") == 1);
}

TEST_CASE("scratch memory of many short-lived streams is freed") {
  FakeDriver fake;
  fake.free_bytes = 1 << 30;
  const auto kernel = driver::open_gpu(fake.api, 0)->kernels().load(artifact_of("scratch"));
  std::uint64_t scratch = 0;
  const std::array<void*, 1> parameters{&scratch};
  for (std::uintptr_t n = 1; n <= 200; ++n) {
    kernel->launch({.scratch_bytes = 100'000}, parameters, reinterpret_cast<Stream>(n * 0x100));
  }
  CHECK(fake.count("cuMemAlloc") == 200);
  CHECK(fake.count("cuMemFree") >= 200 - 64);
  CHECK(fake.count("cuCtxSynchronize") == 3);
}

TEST_CASE("a graph that cannot keep the code is an error, and nothing leaks") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  auto kernel = gpu->kernels().load(artifact_of("captured"));
  fake.captured = any_graph;
  fake.failures["cuGraphRetainUserObject"] = CUDA_ERROR_INVALID_VALUE;
  CHECK_THROWS_AS(kernel->launch({}, {}, any_stream), Error);
  CHECK(fake.launched.empty());
  CHECK(fake.user_objects.empty());
  fake.captured = nullptr;
  kernel.reset();
  (void)gpu->kernels().load(artifact_of("another"));
  CHECK(fake.count("cuLibraryUnload") == 2);
}

TEST_CASE("code can be loaded during a capture, and the thread's capture mode is restored") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  fake.captured = any_graph;
  CHECK_NOTHROW(gpu->kernels().load(artifact_of("cold")));
  CHECK(fake.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE("a timer can be read without waiting, also during a capture") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  {
    const auto timer = gpu->timing().timer();
    CHECK(fake.count("cuEventCreate") == 2);
    timer->start(any_stream);
    timer->stop(any_stream);
    CHECK(fake.count("cuEventRecord") == 2);
    fake.failures["cuEventQuery"] = CUDA_ERROR_NOT_READY;
    CHECK_FALSE(timer->milliseconds().has_value());
    fake.failures.clear();
    fake.captured = any_graph;
    CHECK(timer->milliseconds() == 1.0F);
    CHECK(fake.mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK(fake.count("cuEventSynchronize") == 0);
    fake.failures["cuEventQuery"] = CUDA_ERROR_ILLEGAL_ADDRESS;
    CHECK_THROWS_AS((void)timer->milliseconds(), Error);
  }
  CHECK(fake.count("cuEventDestroy") == 2);
}

TEST_CASE("is_captured() is true for a stream under capture and never for the default stream") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  CHECK_FALSE(gpu->streams().is_captured(any_stream));
  fake.captured = any_graph;
  CHECK(gpu->streams().is_captured(any_stream));
  CHECK_FALSE(gpu->streams().is_captured(nullptr));
}

TEST_CASE("the driver counts a kernel's parameters, or the count is unknown before CUDA 12.4") {
  FakeDriver fake;
  fake.kernel_parameters = 5;
  const auto gpu = driver::open_gpu(fake.api, 0);
  CHECK(gpu->kernels().load(artifact_of("five"))->parameter_count() == 5U);

  driver::Api old = fake.api;  // a driver before CUDA 12.4
  old.kernel_get_param_info = nullptr;
  CHECK_FALSE(driver::open_gpu(old, 0)->kernels().load(artifact_of("five"))->parameter_count().has_value());
}

TEST_CASE("a tensor map's address is replaced by the driver, or else the map is encoded again") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  TensorMapSpec spec;
  spec.rank = 1;
  EncodedTensorMap map = gpu->maps().encode(spec, 0x1000);
  gpu->maps().set_address(map, spec, 0x2000);
  CHECK(fake.encoded.size() == 1);
  CHECK(fake.replaced == std::vector{reinterpret_cast<void*>(std::uintptr_t{0x2000})});
  fake.failures["cuTensorMapReplaceAddress"] = CUDA_ERROR_INVALID_VALUE;
  gpu->maps().set_address(map, spec, 0x3000);
  CHECK(fake.encoded.size() == 2);
}
