#include "seed.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <cuda_runtime_api.h>

namespace {

/// An allocation.
struct Memory {
  enum class Kind { device, pinned, managed, host } kind;
  std::byte* address = nullptr;
  std::vector<std::byte> model;  ///< the expected bytes
  std::vector<std::byte> own{};  ///< the bytes of an allocation of kind host
};

/// A random program, which applies every operation to the models of its allocations, too.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    for (auto& stream : streams_) REQUIRE(cudaStreamCreateWithFlags(&stream, draw(2)) == cudaSuccess);
    for (int i = 0; i < 4; ++i) allocate();
  }
  ~Program() {
    while (!memory_.empty()) free();
    for (auto& stream : streams_) CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  }

  void step() {
    switch (draw(8)) {
      case 0: return memory_.size() < 12 ? allocate() : free();
      case 1: return memory_.size() > 4 ? free() : allocate();
      case 2: return run_captured();
      case 3: REQUIRE(cudaStreamSynchronize(any_stream()) == cudaSuccess); return;
      default: return operation(any_stream());
    }
  }
  /// Compares every allocation with its model.
  void compare() {
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (const Memory& each : memory_) {
      std::vector<std::byte> found(each.model.size());
      REQUIRE(cudaMemcpy(found.data(), each.address, found.size(), cudaMemcpyDefault) == cudaSuccess);
      REQUIRE(found == each.model);
    }
  }

 private:
  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  cudaStream_t any_stream() {
    const std::size_t n = draw(streams_.size() + 1);
    return n == streams_.size() ? nullptr : streams_[n];
  }
  Memory& any() { return memory_[draw(memory_.size())]; }

  void allocate() {
    Memory memory{static_cast<Memory::Kind>(draw(4)), nullptr, std::vector<std::byte>(1 + draw(700)), {}};
    const std::size_t bytes = memory.model.size();
    void* address = nullptr;
    switch (memory.kind) {
      case Memory::Kind::device:
        REQUIRE((draw(2) == 0 ? cudaMalloc(&address, bytes)
                              : cudaMallocAsync(&address, bytes, any_stream())) == cudaSuccess);
        break;
      case Memory::Kind::pinned:
        REQUIRE(cudaHostAlloc(&address, bytes, cudaHostAllocDefault) == cudaSuccess);
        break;
      case Memory::Kind::managed: REQUIRE(cudaMallocManaged(&address, bytes) == cudaSuccess); break;
      case Memory::Kind::host:
        memory.own.resize(bytes);
        address = memory.own.data();
        break;
    }
    memory.address = static_cast<std::byte*>(address);
    memory_.push_back(std::move(memory));
    fill(memory_.back(), 0, bytes, nullptr);
  }
  void free() {
    const std::size_t n = draw(memory_.size());
    Memory& memory = memory_[n];
    if (memory.kind == Memory::Kind::pinned) {
      REQUIRE(cudaFreeHost(memory.address) == cudaSuccess);
    } else if (memory.kind != Memory::Kind::host) {
      REQUIRE((draw(2) == 0 ? cudaFree(memory.address) : cudaFreeAsync(memory.address, any_stream())) ==
              cudaSuccess);
    }
    memory_.erase(memory_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  void fill(Memory& memory, std::size_t at, std::size_t bytes, cudaStream_t stream) {
    const auto value = static_cast<int>(draw(256));
    std::fill_n(memory.model.begin() + static_cast<std::ptrdiff_t>(at), bytes, static_cast<std::byte>(value));
    if (memory.kind == Memory::Kind::host) {
      const std::vector<std::byte> values(bytes, static_cast<std::byte>(value));
      REQUIRE(cudaMemcpy(memory.address + at, values.data(), bytes, cudaMemcpyHostToHost) == cudaSuccess);
    } else {
      REQUIRE(cudaMemsetAsync(memory.address + at, value, bytes, stream) == cudaSuccess);
    }
  }

  void operation(cudaStream_t stream) {
    Memory& to = any();
    Memory& from = any();
    const bool rows = draw(2) == 0;
    if (&to == &from || draw(4) == 0) {
      const std::size_t at = draw(to.model.size());
      // A fill of pageable host memory runs at once. Captured operations run later, but precede it in the
      // model.
      if (to.kind == Memory::Kind::host && in_graph_) return;
      return fill(to, at, draw(to.model.size() - at + 1), stream);
    }
    const std::size_t height = rows ? 1 + draw(5) : 1;
    const std::size_t max_width = std::min(to.model.size(), from.model.size()) / height;
    const std::size_t width = draw(max_width + 1);
    const std::size_t to_pitch = to.model.size() / height;
    const std::size_t from_pitch = from.model.size() / height;
    for (std::size_t y = 0; y < height; ++y) {
      std::copy_n(from.model.begin() + static_cast<std::ptrdiff_t>(y * from_pitch), width,
                  to.model.begin() + static_cast<std::ptrdiff_t>(y * to_pitch));
    }
    if (rows) {
      REQUIRE(cudaMemcpy2DAsync(to.address, to_pitch, from.address, from_pitch, width, height,
                                cudaMemcpyDefault, stream) == cudaSuccess);
    } else {
      REQUIRE(cudaMemcpyAsync(to.address, from.address, width, cudaMemcpyDefault, stream) == cudaSuccess);
    }
  }

  /// Captures some operations of two streams as a graph and launches it once. The simulated device runs the
  /// graph's nodes in the order of capture, which is the model's order.
  void run_captured() {
    cudaEvent_t fork = nullptr;
    REQUIRE(cudaEventCreate(&fork) == cudaSuccess);
    REQUIRE(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeGlobal) == cudaSuccess);
    in_graph_ = true;
    operation(streams_[0]);
    REQUIRE(cudaEventRecord(fork, streams_[0]) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(streams_[1], fork, 0) == cudaSuccess);
    for (unsigned i = draw(4); i > 0; --i) operation(streams_[draw(2)]);
    in_graph_ = false;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaStreamEndCapture(streams_[0], &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(executable, any_stream()) == cudaSuccess);
    REQUIRE(cudaGraphExecDestroy(executable) == cudaSuccess);
    REQUIRE(cudaEventDestroy(fork) == cudaSuccess);
  }

  std::mt19937_64 random_;
  std::array<cudaStream_t, 3> streams_{};
  std::vector<Memory> memory_;
  bool in_graph_ = false;
};

}  // namespace

TEST_CASE("random allocations, copies, fills and graphs agree with a model on the host", "[cudart]") {
  const std::uint64_t seed = tests::seed(41);
  const std::uint64_t runs = tests::from_environment("TMAJIT_CASES", 20);
  for (std::uint64_t run = 0; run < runs; ++run) {
    CAPTURE(seed, run);
    Program program(seed + run);
    for (int step = 0; step < 100; ++step) {
      CAPTURE(step);
      program.step();
      if (step % 10 == 9) program.compare();
    }
  }
}
