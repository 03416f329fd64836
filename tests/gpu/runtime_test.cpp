// The runtime on a GPU: streams, contexts, graphs, threads, failures and the time of a launch.
#include "gpu/current_context.hpp"
#include "gpu/support.hpp"
#include "temporary_folder.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <dlfcn.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using gpu::CurrentContext;

namespace {

/// A driver function that the library itself does not use, with its signature as of `cuda_version`.
template <class Function>
Function entry_point(const char* name, int cuda_version = 12000) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(driver != nullptr);
  const auto find = reinterpret_cast<decltype(&::cuGetProcAddress)>(dlsym(driver, "cuGetProcAddress_v2"));
  void* address = nullptr;
  CAPTURE(name);
  REQUIRE(find(name, &address, cuda_version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS);
  return reinterpret_cast<Function>(address);
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// out = 2 · x for [256, 64] f32: the tensors, their memory, the plan and a check.
class Doubling {
 public:
  explicit Doubling(const std::shared_ptr<Device>& device)
      : device_(device), in_(device, bytes), out_(device, bytes), values_(elements) {
    std::iota(values_.begin(), values_.end(), 0.0F);
    device_->memory().copy_in(in_.address(), bytes_of(values_), nullptr);
    clear();
  }

  [[nodiscard]] Tensor input() const { return {view(), in_.address()}; }
  [[nodiscard]] Tensor output() const { return {view(), out_.address()}; }
  [[nodiscard]] KernelPlan plan() const {
    return plan_tiles(
        {.family = "map", .destination = output(), .sources = {input()}, .expression = "2 * x"});
  }
  [[nodiscard]] PreparedLaunch prepare(Runtime& runtime) const {
    const KernelPlan planned = plan();
    return runtime.kernel(planned).prepare(planned);
  }

  void clear() {
    device_->memory().fill(out_.address(), std::byte{0xff}, bytes, nullptr);
    device_->streams().synchronize(nullptr);
  }
  [[nodiscard]] bool is_done(Stream stream = nullptr) const {
    std::vector<float> result(elements);
    device_->memory().copy_out(std::as_writable_bytes(std::span(result)), out_.address(), stream);
    device_->streams().synchronize(stream);
    return std::ranges::equal(result, values_, [](float got, float x) { return got == 2 * x; });
  }

 private:
  static constexpr std::uint64_t elements = 256ULL * 64;
  static constexpr std::uint64_t bytes = elements * sizeof(float);
  static const TensorView& view() {
    static const TensorView dense = TensorView::contiguous(ElementType::f32, {256, 64});
    return dense;
  }

  std::shared_ptr<Device> device_;
  Buffer in_;
  Buffer out_;
  std::vector<float> values_;
};

Runtime runtime_on(const std::shared_ptr<Device>& device) {
  return Runtime({.device = device, .cache_directory = std::nullopt, .compile = {}});
}

template <class Action>
std::optional<Error> error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("the GPU is listed, and its kernels compute", "[gpu]") {
  REQUIRE_HOPPER(device);
  CHECK(why_no_gpu().empty());
  CHECK(device->info().sm_count > 100);
  CHECK(device->info().max_shared_bytes == 227 * 1024);
  CHECK(device->info().memory_bytes > (std::uint64_t{60} << 30));
  Runtime runtime = runtime_on(device);
  const Doubling work(device);
  const PreparedLaunch launch = work.prepare(runtime);
  CHECK_FALSE(work.is_done());
  launch();
  CHECK(work.is_done());
  for (const float milliseconds : device->timing().time(nullptr, 10, [&] { launch(); })) {
    CHECK(milliseconds > 0);
    CHECK(milliseconds < 100);
  }
}

TEST_CASE("a launch runs on the stream that it is given", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime = runtime_on(device);
  const Doubling work(device);
  const PreparedLaunch launch = work.prepare(runtime);

  // A kernel that blocks its stream until the flag is set, or for a few seconds at most.
  const Kernel wait = runtime.kernel(custom_source(R"(
      extern "C" __global__ void wait_for(const volatile int* flag) {
        const long long start = clock64();
        while (*flag == 0 && clock64() - start < 6000000000ll) {}
      })",
                                                   "wait_for"));
  const Buffer flag(device, sizeof(int));
  device->memory().fill(flag.address(), std::byte{0}, flag.bytes(), nullptr);
  device->streams().synchronize(nullptr);
  DevicePtr address = flag.address();
  const std::array<void*, 1> parameters{&address};

  const Stream blocked = device->streams().create();
  const Stream other = device->streams().create();
  wait.launch(LaunchShape{}, parameters, blocked);
  launch(blocked);
  CHECK_FALSE(work.is_done(other));  // the launch waits for wait_for()
  device->memory().fill(flag.address(), std::byte{1}, flag.bytes(), other);
  device->streams().synchronize(other);
  device->streams().synchronize(blocked);
  CHECK(work.is_done(other));
  device->streams().destroy(blocked);
  device->streams().destroy(other);
}

TEST_CASE("the caller's context is used from any thread, and the current context stays the same", "[gpu]") {
  REQUIRE_HOPPER(device);  // uses the primary context
  const driver::Api& api = CurrentContext::api();
  // In every driver, cuCtxCreate of CUDA 3.2 takes no struct of parameters.
  const auto create = entry_point<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate", 3020);
  const auto destroy = entry_point<CUresult (*)(CUcontext)>("cuCtxDestroy");
  const auto pointer_attribute =
      entry_point<CUresult (*)(void*, CUpointer_attribute, CUdeviceptr)>("cuPointerGetAttribute");

  CUcontext mine = nullptr;
  REQUIRE(create(&mine, 0, device->info().ordinal) == CUDA_SUCCESS);  // also makes it current
  {
    const std::shared_ptr<Device> own = open_gpu(device->info().ordinal);
    Runtime runtime = runtime_on(own);
    Doubling work(own);
    CUcontext owner = nullptr;
    REQUIRE(pointer_attribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, work.input().address) == CUDA_SUCCESS);
    CHECK(owner == mine);
    const PreparedLaunch launch = work.prepare(runtime);
    launch();
    CHECK(work.is_done());

    work.clear();
    CUcontext after = mine;
    std::jthread([&] {
      launch();
      own->streams().synchronize(nullptr);
      api.ctx_get_current(&after);
    }).join();
    CHECK(after == nullptr);  // the thread had no current context and still has none
    CHECK(work.is_done());

    CUcontext current = nullptr;
    api.ctx_get_current(&current);
    CHECK(current == mine);
  }
  CHECK(destroy(mine) == CUDA_SUCCESS);
}

TEST_CASE("a prepared launch can be captured into a graph", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext current(*device);
  const auto begin = entry_point<CUresult (*)(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture");
  const auto end = entry_point<CUresult (*)(CUstream, CUgraph*)>("cuStreamEndCapture");
  const auto instantiate =
      entry_point<CUresult (*)(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags");
  const auto run = entry_point<CUresult (*)(CUgraphExec, CUstream)>("cuGraphLaunch");
  const auto destroy_graph = entry_point<CUresult (*)(CUgraph)>("cuGraphDestroy");
  const auto destroy_executable = entry_point<CUresult (*)(CUgraphExec)>("cuGraphExecDestroy");

  Runtime runtime = runtime_on(device);
  Doubling work(device);
  const PreparedLaunch launch = work.prepare(runtime);
  const Stream stream = device->streams().create();
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  REQUIRE(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);  // the strictest mode, and the kernel's first launch
  launch(stream);
  REQUIRE(end(stream, &graph) == CUDA_SUCCESS);
  REQUIRE(instantiate(&executable, graph, 0) == CUDA_SUCCESS);
  CHECK_FALSE(work.is_done());  // the launch was captured, not run
  for (int i = 0; i < 2; ++i) {
    work.clear();
    REQUIRE(run(executable, stream) == CUDA_SUCCESS);
    CHECK(work.is_done(stream));
  }
  destroy_executable(executable);
  destroy_graph(graph);
  device->streams().destroy(stream);
}

TEST_CASE("several threads launch one kernel on streams of their own", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime = runtime_on(device);
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads(8);
    for (std::jthread& thread : threads) {
      thread = std::jthread([&] {
        Doubling work(device);
        const KernelPlan plan = work.plan();
        const Kernel kernel = runtime.kernel(plan);
        const Stream stream = device->streams().create();
        for (int i = 0; i < 50; ++i) {
          work.clear();
          kernel.launch(plan, stream);
          right += work.is_done(stream);
        }
        device->streams().destroy(stream);
      });
    }
  }
  CHECK(right == 8 * 50);
}

TEST_CASE("the error for exhausted device memory names the requested and the free bytes", "[gpu]") {
  REQUIRE_HOPPER(device);
  const auto error = error_of([&] { (void)device->memory().allocate(std::uint64_t{1} << 50); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::out_of_memory);
  CHECK_THAT(error->what(), ContainsSubstring("1024.0 TiB") &&
                                ContainsSubstring("CUDA_ERROR_OUT_OF_MEMORY") && ContainsSubstring("GiB") &&
                                ContainsSubstring("free of"));
  const Buffer small(device, 1024);  // the device still works
  CHECK(small.address() != 0);
}

TEST_CASE("a launch that the driver refuses is an error, and later launches work", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime = runtime_on(device);
  const Kernel kernel = runtime.kernel(custom_source("extern \"C\" __global__ void nothing() {}", "nothing"));
  const auto error = error_of([&] { kernel.launch(LaunchShape{{1, 1, 1}, {2048, 1, 1}, 0}, {}); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::device_failed);
  CHECK_THAT(error->what(), ContainsSubstring("block 2048x1x1") && !ContainsSubstring("context is dead"));
  kernel.launch(LaunchShape{}, {});
  device->streams().synchronize(nullptr);
}

TEST_CASE("a cached cubin that the driver refuses is compiled again", "[gpu]") {
  REQUIRE_HOPPER(device);
  const TemporaryFolder folder;
  const RuntimeOptions options{.device = device, .cache_directory = folder.path(), .compile = {}};
  const Doubling work(device);
  const Kernel first = Runtime(options).kernel(work.plan());
  Artifact broken = first.artifact();
  std::ranges::fill(broken.cubin, std::byte{0x5a});
  const auto refused = error_of([&] { (void)device->kernels().load(broken); });
  REQUIRE(refused);
  CHECK(refused->code() == ErrorCode::invalid_image);

  REQUIRE(DiskCache(folder.path()).store(first.key(), broken));  // a valid entry without valid machine code
  Runtime runtime(options);
  CHECK(runtime.kernel(work.plan()).level() == CacheLevel::compiled);
  work.prepare(runtime)();
  CHECK(work.is_done());
  CHECK(Runtime(options).kernel(work.plan()).level() == CacheLevel::disk);
}

// The next test runs this one in a new process, because it leaves the context unusable.
TEST_CASE("child: a kernel faults", "[.faulting-process]") {
  REQUIRE_HOPPER(device);
  Runtime runtime = runtime_on(device);
  const Doubling work(device);
  const Kernel wild =
      runtime.kernel(custom_source("extern \"C\" __global__ void wild(unsigned long long address) { "
                                   "*reinterpret_cast<int*>(address) = 1; }",
                                   "wild"));
  std::uint64_t address = 0x123456789000;
  const std::array<void*, 1> parameters{&address};
  wild.launch(LaunchShape{}, parameters);
  const auto fault = error_of([&] { device->streams().synchronize(nullptr); });
  REQUIRE(fault);
  CHECK(fault->code() == ErrorCode::device_failed);
  CHECK_THAT(fault->what(),
             ContainsSubstring("CUDA_ERROR_ILLEGAL_ADDRESS") && ContainsSubstring("context is dead"));
  const auto later = error_of([&] { work.prepare(runtime)(); });
  REQUIRE(later);  // the destructors must not fail, either
  CHECK(later->code() == ErrorCode::device_failed);
}

TEST_CASE("a fault of a kernel is reported, later calls fail, and the process ends normally", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  CHECK(std::system(("'" + self + "' '[.faulting-process]'").c_str()) == 0);
  const Buffer buffer(device, 1024);  // the fault does not affect this process
  device->memory().fill(buffer.address(), std::byte{1}, buffer.bytes(), nullptr);
  device->streams().synchronize(nullptr);
}

TEST_CASE("a launch takes at most 0.5 us (prepared) or 2 us longer than the driver's launch call", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime = runtime_on(device);
  const Doubling work(device);
  const KernelPlan plan = work.plan();
  const Kernel kernel = runtime.kernel(plan);
  const PreparedLaunch prepared = kernel.prepare(plan);
  const Stream stream = device->streams().create();

  // The same kernel and parameters launched directly by the driver, with the context current.
  const driver::Api& api = *driver::library().api;
  const CurrentContext current(*device);
  CUlibrary library = nullptr;
  CUkernel raw = nullptr;
  REQUIRE(api.library_load_data(&library, kernel.artifact().cubin.data(), nullptr, nullptr, 0, nullptr,
                                nullptr, 0) == CUDA_SUCCESS);
  REQUIRE(api.library_get_kernel(&raw, library, kernel.entry().c_str()) == CUDA_SUCCESS);
  REQUIRE(api.kernel_set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   static_cast<int>(prepared.shape().shared_bytes), raw,
                                   device->info().ordinal) == CUDA_SUCCESS);
  const std::vector<Parameter> described = plan.parameters();
  std::vector<std::byte> bytes(plan.parameter_bytes().begin(), plan.parameter_bytes().end());
  std::vector<EncodedTensorMap> maps(described.size());
  std::vector<void*> parameters;
  for (std::size_t i = 0; i < described.size(); ++i) {
    const Parameter& parameter = described[i];
    parameters.push_back(bytes.data() + parameter.offset);
    if (!parameter.map) continue;
    maps[i] = device->maps().encode(*parameter.map,
                                    plan.operand_address(static_cast<std::uint32_t>(parameter.map_of)));
    parameters.back() = &maps[i];
  }
  CUlaunchConfig config{};
  config.gridDimX = prepared.shape().grid[0];
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = prepared.shape().block[0];
  config.sharedMemBytes = prepared.shape().shared_bytes;
  config.hStream = stream;

  // The three ways alternate in batches that fit the launch queue. The fastest batch of each way counts.
  const std::array<std::function<void()>, 3> ways{
      [&] { api.launch_kernel_ex(&config, reinterpret_cast<CUfunction>(raw), parameters.data(), nullptr); },
      [&] { prepared(stream); }, [&] { kernel.launch(plan, stream); }};
  std::array<double, 3> best{1e9, 1e9, 1e9};
  for (int batch = 0; batch < 300; ++batch) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      constexpr int launches = 100;
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i) ways[way]();
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      device->streams().synchronize(stream);
      best[way] = std::min(best[way], took.count() / launches);
    }
  }
  CHECK(work.is_done(stream));
  WARN("microseconds a launch: cuLaunchKernelEx " << best[0] << ", prepared " << best[1] << ", launch() "
                                                  << best[2]);
#ifdef NDEBUG
  CHECK(best[1] < best[0] + 0.5);
  CHECK(best[2] < best[0] + 2.0);
#endif
  api.library_unload(library);
  device->streams().destroy(stream);
}
