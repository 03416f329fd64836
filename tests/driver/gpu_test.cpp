#include "driver/gpu.hpp"

#include "driver/fake_driver.hpp"
#include "error_of.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <stdexcept>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::error_of;

namespace {

Artifact artifact() {
  Artifact artifact;
  artifact.entry = "tmajit_copy";
  artifact.cubin.resize(64);
  return artifact;
}

}  // namespace

TEST_CASE("every GPU is listed, Hopper or not") {
  FakeDriver fake;
  fake.gpus = {{}, {"NVIDIA A100", 8, 0}};
  const std::vector<DeviceInfo> gpus = driver::list_gpus(fake.api);
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].name == "NVIDIA H200");
  CHECK(gpus[0].sm_count == 132);
  CHECK(gpus[0].max_shared_bytes == 232448);
  CHECK(gpus[0].memory_bytes == 150'000'000'000);
  CHECK(gpus[1].ordinal == 1);
  CHECK(gpus[1].compute_major == 8);

  fake.failures["cuDeviceGetCount"] = CUDA_ERROR_NOT_INITIALIZED;
  CHECK(driver::list_gpus(fake.api).empty());
}

TEST_CASE("only an existing Hopper GPU opens") {
  FakeDriver fake;
  fake.gpus = {{}, {"NVIDIA A100", 8, 0}, {"NVIDIA B200", 10, 0}};
  CHECK(driver::open_gpu(fake.api, 0)->info().name == "NVIDIA H200");
  for (const int ordinal : {1, 2}) {
    const Error error = error_of([&] { (void)driver::open_gpu(fake.api, ordinal); });
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK_THAT(error.what(), ContainsSubstring("compute capability") && ContainsSubstring("Hopper"));
  }
  CHECK_THAT(error_of([&] { (void)driver::open_gpu(fake.api, 3); }).what(),
             ContainsSubstring("There is no GPU 3: this machine has 3, numbered from 0 to 2"));
  CHECK(error_of([&] { (void)driver::open_gpu(fake.api, -1); }).code() == ErrorCode::unavailable);
}

TEST_CASE("without a current context the device retains the primary context and releases it at its end") {
  FakeDriver fake;
  {
    const auto gpu = driver::open_gpu(fake.api, 0);
    CHECK(fake.retained[0] == 1);
    CHECK(fake.contexts.empty());  // no context is left current
    gpu->streams().synchronize(nullptr);
    CHECK(fake.count("cuCtxPushCurrent") == 1);
    CHECK(fake.contexts.empty());
  }
  CHECK(fake.retained[0] == 0);
}

TEST_CASE("the caller's current context is used, and no primary context is retained") {
  FakeDriver fake;
  fake.contexts = {FakeDriver::user_context(0)};
  const auto gpu = driver::open_gpu(fake.api, 0);
  CHECK(fake.count("cuDevicePrimaryCtxRetain") == 0);
  const auto kernel = gpu->kernels().load(artifact());
  kernel->launch({}, {}, nullptr);
  CHECK(fake.launched.at(0).context == FakeDriver::user_context(0));
  CHECK(fake.count("cuCtxPushCurrent") == 0);  // not needed: the context is current

  fake.contexts = {FakeDriver::primary(0)};  // another library made this context current
  kernel->launch({}, {}, nullptr);
  CHECK(fake.launched.at(1).context == FakeDriver::user_context(0));
  CHECK(fake.contexts == std::vector{FakeDriver::primary(0)});
}

TEST_CASE("with the caller's own context current, an active primary context is not retained") {
  FakeDriver fake;
  fake.retained[0] = 1;
  fake.contexts = {FakeDriver::user_context(0)};
  const auto gpu = driver::open_gpu(fake.api, 0);
  CHECK(fake.retained[0] == 1);
  fake.contexts.clear();
  gpu->kernels().load(artifact())->launch({}, {}, nullptr);
  CHECK(fake.launched.at(0).context == FakeDriver::user_context(0));
}

TEST_CASE("a current primary context is kept alive") {
  FakeDriver fake;
  fake.retained[0] = 1;
  fake.contexts = {FakeDriver::primary(0)};
  {
    const auto gpu = driver::open_gpu(fake.api, 0);
    CHECK(fake.retained[0] == 2);
  }
  CHECK(fake.retained[0] == 1);
}

TEST_CASE("a context of another device is not used") {
  FakeDriver fake;
  fake.gpus = {{}, {}};
  fake.contexts = {FakeDriver::user_context(1)};
  const auto gpu = driver::open_gpu(fake.api, 0);
  gpu->kernels().load(artifact())->launch({}, {}, nullptr);
  CHECK(fake.launched.at(0).context == FakeDriver::primary(0));
  CHECK(fake.contexts == std::vector{FakeDriver::user_context(1)});
}

TEST_CASE("a launch passes shape, parameters and stream to the driver in one call") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  const auto kernel = gpu->kernels().load(artifact());
  CHECK(fake.count("cuKernelSetAttribute") == 1);  // clusters of more than 8 CTAs
  kernel->allow_shared_bytes(100'000);
  CHECK(fake.count("cuKernelSetAttribute") == 2);
  CHECK(kernel->ctas_per_sm(128, 1000) == 3);

  int value = 7;
  const std::array<void*, 1> parameters{&value};
  const auto stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});
  fake.calls.clear();
  kernel->launch({{3, 4, 5}, {32, 2, 1}, 99'000}, parameters, stream);
  CHECK(fake.calls == std::vector<std::string>{"cuCtxPushCurrent", "cuLaunchKernelEx", "cuCtxPopCurrent"});
  const FakeDriver::Launched& got = fake.launched.at(0);
  CHECK(got.config.gridDimX == 3);
  CHECK(got.config.gridDimY == 4);
  CHECK(got.config.gridDimZ == 5);
  CHECK(got.config.blockDimX == 32);
  CHECK(got.config.blockDimY == 2);
  CHECK(got.config.sharedMemBytes == 99'000);
  CHECK(got.config.hStream == stream);
  CHECK(got.config.numAttrs == 0);
  CHECK(got.parameters[0] == &value);
}

TEST_CASE("a cluster's dimensions are a launch attribute") {
  FakeDriver fake;
  const auto kernel = driver::open_gpu(fake.api, 0)->kernels().load(artifact());
  kernel->launch({.grid = {8, 2, 1}, .block = {32, 1, 1}, .cluster = {4, 2, 1}}, {}, nullptr);
  const FakeDriver::Launched& got = fake.launched.at(0);
  REQUIRE(got.attributes.size() == 1);
  CHECK(got.attributes[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CHECK(got.attributes[0].value.clusterDim.x == 4);
  CHECK(got.attributes[0].value.clusterDim.y == 2);
  CHECK(got.attributes[0].value.clusterDim.z == 1);
}

TEST_CASE("a kernel outlives the Device it was loaded on") {
  FakeDriver fake;
  std::unique_ptr<LoadedKernel> kernel = driver::open_gpu(fake.api, 0)->kernels().load(artifact());
  CHECK(fake.retained[0] == 1);
  kernel->launch({}, {}, nullptr);
  kernel.reset();
  CHECK(fake.count("cuLibraryUnload") == 1);
  CHECK(fake.retained[0] == 0);
}

TEST_CASE("the error for too little device memory names the requested and the free bytes") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  const Error error = error_of([&] { (void)gpu->memory().allocate(std::uint64_t{3} << 30); });
  CHECK(error.code() == ErrorCode::out_of_memory);
  CHECK_THAT(error.what(), ContainsSubstring("3.0 GiB (3221225472 bytes)") &&
                               ContainsSubstring("1000 bytes free") && ContainsSubstring("NVIDIA H200"));
}

TEST_CASE("the error of a device fault says that the context is unusable, other errors do not") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  fake.failures["cuStreamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  const Error fault = error_of([&] { gpu->streams().synchronize(nullptr); });
  CHECK(fault.code() == ErrorCode::device_failed);
  CHECK_THAT(fault.what(), ContainsSubstring("cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS") &&
                               ContainsSubstring("the driver's words") &&
                               ContainsSubstring("context is dead"));

  const auto kernel = gpu->kernels().load(artifact());
  fake.failures["cuLaunchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
  const Error refused = error_of([&] { kernel->launch({{0, 1, 1}, {32, 1, 1}, 5}, {}, nullptr); });
  CHECK(refused.code() == ErrorCode::device_failed);
  CHECK_THAT(refused.what(), ContainsSubstring("grid 0x1x1, block 32x1x1, cluster 1x1x1, 5 bytes") &&
                                 ContainsSubstring("usually a grid or block of zero") &&
                                 !ContainsSubstring("context is dead"));
  CHECK(fake.contexts.empty());  // the context is popped although the call failed
}

TEST_CASE("a result that the driver cannot name is still reported") {
  FakeDriver fake;
  CHECK_THAT(driver::describe(fake.api, static_cast<CUresult>(999), "cuX"),
             ContainsSubstring("cuX failed: unknown CUDA error"));
}

TEST_CASE("a cubin that is refused leaves nothing loaded") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  fake.failures["cuKernelGetFunction"] = CUDA_ERROR_INVALID_IMAGE;
  const Error error = error_of([&] { (void)gpu->kernels().load(artifact()); });
  CHECK(error.code() == ErrorCode::invalid_image);
  CHECK_THAT(error.what(), ContainsSubstring("cuKernelGetFunction('tmajit_copy')"));
  CHECK(fake.count("cuLibraryUnload") == 1);

  fake.failures = {{"cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU}};
  CHECK_THAT(
      error_of([&] { (void)gpu->kernels().load(artifact()); }).what(),
      ContainsSubstring("cuLibraryLoadData(64 bytes of cubin") && ContainsSubstring("another architecture"));
  CHECK(fake.count("cuLibraryUnload") == 1);  // not called again: nothing was loaded
}

TEST_CASE("a GPU refuses a kernel without a cubin before it calls the driver") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  Artifact ptx_alone = artifact();
  ptx_alone.cubin.clear();
  const Error error = error_of([&] { (void)gpu->kernels().load(ptx_alone); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK_THAT(error.what(), ContainsSubstring("\"tmajit_copy\" has no cubin"));
  CHECK(fake.count("cuLibraryLoadData") == 0);
}

TEST_CASE("only errors that the code itself causes are reported as an invalid image") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  const auto code_of = [&](const char* call, CUresult result) {
    fake.failures = {{call, result}};
    return error_of([&] { (void)gpu->kernels().load(artifact()); }).code();
  };
  for (const CUresult result :
       {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_SOURCE,
        CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
        CUDA_ERROR_JIT_COMPILATION_DISABLED, CUDA_ERROR_NOT_FOUND}) {
    CHECK(code_of("cuLibraryLoadData", result) == ErrorCode::invalid_image);
    CHECK(code_of("cuKernelGetFunction", result) == ErrorCode::invalid_image);
  }
  CHECK(code_of("cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND) == ErrorCode::invalid_image);
  for (const CUresult result :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CUDA_ERROR_SYSTEM_NOT_READY}) {
    CHECK(code_of("cuLibraryLoadData", result) == ErrorCode::device_failed);
    CHECK(code_of("cuKernelGetFunction", result) == ErrorCode::device_failed);
  }
  CHECK(code_of("cuLibraryLoadData", CUDA_ERROR_OUT_OF_MEMORY) == ErrorCode::out_of_memory);
}

TEST_CASE("time_in_graph() captures the work once per node and divides each run's time by the nodes") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  std::vector<Stream> streams;
  const auto work = [&](Stream stream) { streams.push_back(stream); };
  CHECK(gpu->timing().time_in_graph(3, 4, work) == std::vector{0.25F, 0.5F, 0.75F});
  CHECK(streams.size() == 4);
  CHECK(streams.front() != nullptr);
  CHECK(fake.count("cuGraphLaunch") == 4);  // one warm-up run and three timed runs
  for (const char* once : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                           "cuGraphDestroy", "cuGraphExecDestroy", "cuStreamCreate", "cuStreamDestroy"}) {
    INFO(once);
    CHECK(fake.count(once) == 1);
  }
}

TEST_CASE("a failed time_in_graph() leaks no capture, stream or graph") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  CHECK_THROWS_AS((void)gpu->timing().time_in_graph(1, 2, [](Stream) { throw std::runtime_error("work"); }),
                  std::runtime_error);
  CHECK(fake.count("cuStreamEndCapture") == 1);
  CHECK(fake.count("cuGraphDestroy") == 1);
  CHECK(fake.count("cuStreamDestroy") == 1);
  for (const char* call : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
    INFO(call);
    fake.failures = {{call, CUDA_ERROR_INVALID_VALUE}};
    CHECK_THROWS_AS((void)gpu->timing().time_in_graph(1, 2, [](Stream) {}), Error);
  }
  CHECK(fake.count("cuGraphExecDestroy") == 0);
  CHECK(fake.count("cuStreamDestroy") == 4);
  CHECK(fake.count("cuGraphDestroy") == 2);
}

TEST_CASE("time() records events around each repeat and waits once") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  int runs = 0;
  CHECK(gpu->timing().time(nullptr, 3, [&] { ++runs; }) == std::vector{1.0F, 2.0F, 3.0F});
  CHECK(runs == 3);
  CHECK(fake.count("cuEventRecord") == 6);
  CHECK(fake.count("cuEventSynchronize") == 1);
  CHECK(gpu->timing().time(nullptr, 0, [] {}).empty());

  CHECK_THROWS_AS(gpu->timing().time(nullptr, 2, [] { throw std::runtime_error("work"); }),
                  std::runtime_error);
  CHECK(fake.count("cuEventDestroy") == fake.count("cuEventCreate"));
}

TEST_CASE("empty transfers and allocations do not call the driver") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  fake.calls.clear();
  CHECK(gpu->memory().allocate(0) == 0);
  gpu->memory().free(0);
  gpu->memory().copy_in(0, {}, nullptr);
  gpu->memory().copy_out({}, 0, nullptr);
  gpu->memory().copy(0, 0, 0, nullptr);
  gpu->memory().fill(0, std::byte{1}, 0, nullptr);
  CHECK(fake.calls.empty());
}

TEST_CASE("a buffer frees its memory once") {
  FakeDriver fake;
  {
    Buffer a(driver::open_gpu(fake.api, 0), 100);
    CHECK(a.address() == 0x10000);
    Buffer b(std::move(a));
    CHECK(a.address() == 0);  // NOLINT(*-move,*.Move): tests the moved-from buffer
    CHECK(b.bytes() == 100);
    Buffer c;
    c = std::move(b);
    CHECK(fake.count("cuMemFree") == 0);
    c = Buffer();
    CHECK(fake.count("cuMemFree") == 1);
  }
  CHECK(fake.count("cuMemFree") == 1);
  CHECK(fake.retained[0] == 0);
}

TEST_CASE("freeing never throws, not even with a destroyed context") {
  FakeDriver fake;
  const auto gpu = driver::open_gpu(fake.api, 0);
  fake.failures["cuCtxPushCurrent"] = CUDA_ERROR_CONTEXT_IS_DESTROYED;
  gpu->memory().free(0x10000);
  gpu->streams().destroy(reinterpret_cast<Stream>(std::uintptr_t{0x5000}));
  CHECK_THROWS_AS(gpu->streams().synchronize(nullptr), Error);
  CHECK(fake.count("cuMemFree") == 0);
}
