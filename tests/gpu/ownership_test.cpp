/// Lifetimes on a GPU: graphs that outlive plans and runtimes, and kernels compiled during a capture.
#include "gpu/current_context.hpp"
#include "gpu/support.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

using namespace tmajit;
using gpu::CurrentContext;

namespace {

constexpr std::array<std::uint32_t, 2> turned{1, 0};

const driver::Api& api() {
  return CurrentContext::api();
}

/// Captures the work that work() enqueues on the stream. Returns a graph that can be launched.
template <class Work>
CUgraphExec captured(Stream stream, CUstreamCaptureMode mode, Work&& work) {
  REQUIRE(api().stream_begin_capture(stream, mode) == CUDA_SUCCESS);
  work();
  CUgraph graph = nullptr;
  REQUIRE(api().stream_end_capture(stream, &graph) == CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  REQUIRE(api().graph_instantiate(&exec, graph, 0) == CUDA_SUCCESS);
  REQUIRE(api().graph_destroy(graph) == CUDA_SUCCESS);
  return exec;
}

/// A matrix of f32, its transposed matrix, and a check of the latter.
class Transposition {
 public:
  Transposition(const std::shared_ptr<Device>& device, std::uint64_t rows, std::uint64_t columns)
      : device_(device), rows_(rows), columns_(columns), from_(device, bytes()), to_(device, bytes()) {
    std::vector<float> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    device_->memory().copy_in(from_.address(), std::as_bytes(std::span(values)), nullptr);
    poison();
  }
  [[nodiscard]] Tensor source() const { return tensor(rows_, columns_, from_); }
  [[nodiscard]] Tensor destination() const { return tensor(columns_, rows_, to_); }
  void poison() {
    device_->memory().fill(to_.address(), std::byte{0xA5}, bytes(), nullptr);
    device_->streams().synchronize(nullptr);
  }
  [[nodiscard]] bool is_right() const {
    std::vector<float> got(rows_ * columns_);
    device_->memory().copy_out(std::as_writable_bytes(std::span(got)), to_.address(), nullptr);
    device_->streams().synchronize(nullptr);
    for (std::uint64_t i = 0; i < got.size(); ++i) {
      const std::uint64_t source = i % rows_ * columns_ + i / rows_;
      if (got[i] != static_cast<float>(source)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t bytes() const { return rows_ * columns_ * sizeof(float); }
  static Tensor tensor(std::uint64_t rows, std::uint64_t columns, const Buffer& buffer) {
    return {TensorView::contiguous(ElementType::f32, std::array{rows, columns}), buffer.address()};
  }
  std::shared_ptr<Device> device_;
  std::uint64_t rows_, columns_;
  Buffer from_, to_;
};

}  // namespace

TEST_CASE("a graph runs what it captured after plan and runtime are gone", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext context(*device);
  const Stream stream = device->streams().create();
  Transposition matrix(device, 300, 500);
  CUgraphExec exec = nullptr;
  {
    const Runtime runtime({.device = device, .cache_directory = std::nullopt});
    const Plan plan =
        tmajit::plan(runtime, operation::permute(matrix.destination(), matrix.source(), turned));
    exec = captured(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, [&] { plan(stream); });
  }
  {  // Other code is loaded, which would overwrite the plan's code if that were freed.
    const Runtime other({.device = device, .cache_directory = std::nullopt});
    Transposition another(device, 64, 4096);
    permute(other, another.destination(), another.source(), turned);
    CHECK(another.is_right());
  }
  for (int i = 0; i < 3; ++i) {
    matrix.poison();
    REQUIRE(api().graph_launch(exec, stream) == CUDA_SUCCESS);
    device->streams().synchronize(stream);
    CHECK(matrix.is_right());
  }
  CHECK(api().graph_exec_destroy(exec) == CUDA_SUCCESS);
  device->streams().destroy(stream);
}

TEST_CASE("a graph runs a batch of copies at new addresses after the runtime is gone", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext context(*device);
  const Stream stream = device->streams().create();
  constexpr std::int64_t parts = 300;
  constexpr std::int64_t columns = 96;
  std::vector<std::uint32_t> numbers(parts * (parts + 1) / 2 * columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  const Buffer from(device, bytes.size());
  const Buffer to(device, bytes.size());
  device->memory().copy_in(from.address(), bytes, nullptr);
  device->streams().synchronize(nullptr);
  const auto sources = [&](DevicePtr address) {  // 1 to `parts` rows
    std::vector<Tensor> tensors;
    for (std::int64_t rows = 1; rows <= parts; ++rows) {
      tensors.push_back(Tensor::contiguous(ElementType::u32, {rows, columns}, address));
      address += static_cast<DevicePtr>(rows * columns) * 4;
    }
    return tensors;
  };
  CUgraphExec exec = nullptr;
  {
    const Runtime runtime({.device = device, .cache_directory = std::nullopt});
    const Buffer elsewhere(device, bytes.size());
    copy_ragged(runtime, sources(elsewhere.address()), sources(from.address()), stream);
    device->streams().synchronize(stream);
    exec = captured(stream, CU_STREAM_CAPTURE_MODE_GLOBAL,
                    [&] { copy_ragged(runtime, sources(to.address()), sources(from.address()), stream); });
  }
  const Buffer another(device, 1 << 20);  // would reuse the memory of the graph's table if that were freed
  device->memory().fill(another.address(), std::byte{0xA5}, another.bytes(), nullptr);
  for (int i = 0; i < 3; ++i) {
    device->memory().fill(to.address(), std::byte{0xA5}, to.bytes(), nullptr);
    device->streams().synchronize(nullptr);
    REQUIRE(api().graph_launch(exec, stream) == CUDA_SUCCESS);
    device->streams().synchronize(stream);
    std::vector<std::uint32_t> got(numbers.size());
    device->memory().copy_out(std::as_writable_bytes(std::span(got)), to.address(), nullptr);
    device->streams().synchronize(nullptr);
    CHECK(got == numbers);
  }
  CHECK(api().graph_exec_destroy(exec) == CUDA_SUCCESS);
  device->streams().destroy(stream);
}

TEST_CASE("a kernel is compiled and loaded while a stream is captured", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext context(*device);
  const Stream stream = device->streams().create();
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    INFO("mode " << mode);
    const Runtime runtime({.device = device, .cache_directory = std::nullopt});
    Transposition matrix(device, 128 + static_cast<std::uint64_t>(mode), 200);
    const CUgraphExec exec = captured(
        stream, mode, [&] { permute(runtime, matrix.destination(), matrix.source(), turned, stream); });
    REQUIRE(api().graph_launch(exec, stream) == CUDA_SUCCESS);
    device->streams().synchronize(stream);
    CHECK(matrix.is_right());
    CHECK(api().graph_exec_destroy(exec) == CUDA_SUCCESS);
  }
  device->streams().destroy(stream);
}

TEST_CASE("calls time candidates while their own stream or another one is captured", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext context(*device);
  const Stream stream = device->streams().create();
  const Stream captured_stream = device->streams().create();
  const Runtime runtime({.device = device,
                         .cache_directory = std::nullopt,
                         .improve = {.candidates = 4, .timed_calls = 3, .min_predicted_us = 0}});
  const auto added = [&runtime] {
    const TuningTable& table = tuning(runtime);
    const std::vector<TunedChoice> all = table.all();
    return std::any_of(all.begin(), all.end(), [&table](const TunedChoice& choice) {
      return table.has_added(choice.chip, choice.shape_class);
    });
  };
  Transposition matrix(device, 2000, 2100);
  const auto call = [&](Stream on) { permute(runtime, matrix.destination(), matrix.source(), turned, on); };
  // Candidates of nearly equal times are timed more often before one is chosen.
  for (int round = 0; round < 6 || (round < 100 && !added()); ++round) {
    matrix.poison();
    const CUgraphExec exec = captured(captured_stream, CU_STREAM_CAPTURE_MODE_GLOBAL, [&] {
      std::jthread([&] {
        for (int i = 0; i < 3; ++i) call(stream);  // compiles kernels, records events and queries them
      }).join();
      call(captured_stream);
    });
    device->streams().synchronize(stream);
    CHECK(matrix.is_right());
    matrix.poison();
    REQUIRE(api().graph_launch(exec, captured_stream) == CUDA_SUCCESS);
    device->streams().synchronize(captured_stream);
    CHECK(matrix.is_right());
    CHECK(api().graph_exec_destroy(exec) == CUDA_SUCCESS);
  }
  CHECK(added());
  device->streams().destroy(stream);
  device->streams().destroy(captured_stream);
}

TEST_CASE("operations called by many threads on streams of their own give right results", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  std::array<bool, 16> right{};
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const Stream stream = device->streams().create();
      bool all = true;
      for (std::uint64_t i = 0; i < 20; ++i) {
        Transposition matrix(device, 100 + i % 3, 260 + 4 * (t % 2));
        permute(runtime, matrix.destination(), matrix.source(), turned, stream);
        device->streams().synchronize(stream);
        all = all && matrix.is_right();
      }
      device->streams().destroy(stream);
      right[t] = all;
    });
  }
  threads.clear();
  for (const bool one : right) CHECK(one);
}

TEST_CASE("a launch with too few or too many parameters is refused before the driver reads them", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Kernel kernel = runtime.kernel(custom_source(
      "extern \"C\" __global__ void two(int* out, int n) { if (threadIdx.x < n) *out = n; }", "two"));
  const Buffer out(device, 4);
  DevicePtr address = out.address();
  int n = 1;
  const std::array<void*, 3> parameters{&address, &n, &n};
  const LaunchShape shape{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  CHECK_NOTHROW(kernel.launch(shape, std::span(parameters).first(2)));
  CHECK_THROWS_AS(kernel.launch(shape, std::span(parameters).first(1)), Error);
  CHECK_THROWS_AS(kernel.launch(shape, parameters), Error);
  device->streams().synchronize(nullptr);
}
