#include "cudart/program.hpp"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

using namespace program;

namespace {

cudaMemAllocNodeParams allocation(std::size_t bytes) {
  cudaMemAllocNodeParams result{};
  result.poolProps.allocType = cudaMemAllocationTypePinned;
  result.poolProps.location.type = cudaMemLocationTypeDevice;
  result.bytesize = bytes;
  return result;
}

std::uint64_t used_graph_memory() {
  std::uint64_t value = 99;
  REQUIRE(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value) == cudaSuccess);
  return value;
}

/// A graph of one node, which allocates memory that no node frees.
struct AllocatingGraph {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  void* memory = nullptr;

  explicit AllocatingGraph(std::size_t bytes) {
    REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
    cudaMemAllocNodeParams parameters = allocation(bytes);
    REQUIRE(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters) == cudaSuccess);
    memory = parameters.dptr;
    REQUIRE(memory != nullptr);
  }
  ~AllocatingGraph() { CHECK(cudaGraphDestroy(graph) == cudaSuccess); }
  AllocatingGraph(const AllocatingGraph&) = delete;
  AllocatingGraph& operator=(const AllocatingGraph&) = delete;

  [[nodiscard]] cudaGraphExec_t executable(unsigned long long flags = 0) const {
    cudaGraphExec_t result = nullptr;
    REQUIRE(cudaGraphInstantiate(&result, graph, flags) == cudaSuccess);
    return result;
  }
};

}  // namespace

TEST_CASE("a captured stream allocates, uses and frees memory in every launch of the graph", "[cudart]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  auto* values = device_values({1, 2, 3});
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  std::uint32_t* scratch = nullptr;
  void* scratch_memory = nullptr;
  REQUIRE(cudaMallocAsync(&scratch_memory, 12, stream) == cudaSuccess);
  scratch = static_cast<std::uint32_t*>(scratch_memory);
  std::uint32_t factor = 2;
  CHECK(cudaMemcpyAsync(scratch, values, 12, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  CHECK(launch(stub(&scale), 1, 3, {&scratch, &factor}, stream) == cudaSuccess);
  CHECK(cudaMemcpyAsync(values, scratch, 12, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(values, stream) == cudaErrorInvalidValue);  // no node allocated it
  CHECK(cudaFreeAsync(scratch, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(scratch, stream) == cudaErrorInvalidValue);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  CHECK(used_graph_memory() == 0);
  CHECK(cudaMemset(scratch, 0, 12) != cudaSuccess);  // the memory does not exist between launches
  CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(host_values(values, 3) == std::vector<std::uint32_t>{304, 308, 312});
  CHECK(used_graph_memory() == 0);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaFree(values) == cudaSuccess);
}

TEST_CASE("memory that a graph leaves allocated is freed by the program before the next launch", "[cudart]") {
  const AllocatingGraph allocating(64);
  const cudaGraphExec_t executable = allocating.executable();
  cudaGraphExec_t second = nullptr;
  CHECK(cudaGraphInstantiate(&second, allocating.graph, 0) == cudaErrorNotSupported);
  REQUIRE(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(used_graph_memory() == 64);
  CHECK(cudaMemset(allocating.memory, 0, 64) == cudaSuccess);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, allocating.memory) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFree(allocating.memory) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(allocating.memory, nullptr) == cudaSuccess);
  CHECK(used_graph_memory() == 0);
  std::uint64_t value = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &value) == cudaSuccess);
  CHECK(value >= 64);
  CHECK(cudaDeviceGraphMemTrim(0) == cudaSuccess);
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &value) == cudaSuccess);
  CHECK(value == 0);
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(value >= 64);
  value = 0;
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(value == 0);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(allocating.executable()) == cudaSuccess);
}

TEST_CASE("a graph with the auto-free flag frees the memory that its last launch left allocated",
          "[cudart]") {
  const AllocatingGraph allocating(64);
  const cudaGraphExec_t executable = allocating.executable(cudaGraphInstantiateFlagAutoFreeOnLaunch);
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(used_graph_memory() == 64);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaFree(allocating.memory) == cudaSuccess);
}

TEST_CASE("another graph frees the memory that a graph allocated", "[cudart]") {
  const AllocatingGraph allocating(64);
  cudaGraph_t freeing = nullptr;
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphCreate(&freeing, 0) == cudaSuccess);
  int on_stack = 0;
  CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, &on_stack) == cudaErrorInvalidValue);
  REQUIRE(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, allocating.memory) == cudaSuccess);
  void* freed = nullptr;
  CHECK(cudaGraphMemFreeNodeGetParams(node, static_cast<void*>(&freed)) == cudaSuccess);
  CHECK(freed == allocating.memory);
  CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, allocating.memory) == cudaErrorInvalidValue);
  CHECK(cudaGraphAddMemFreeNode(&node, allocating.graph, nullptr, 0, allocating.memory) ==
        cudaErrorInvalidValue);
  const cudaGraphExec_t first = allocating.executable();
  cudaGraphExec_t second = nullptr;
  REQUIRE(cudaGraphInstantiate(&second, freeing, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaGraphLaunch(first, nullptr) == cudaSuccess);
    CHECK(used_graph_memory() == 64);
    CHECK(cudaGraphLaunch(second, nullptr) == cudaSuccess);
    CHECK(used_graph_memory() == 0);
  }
  CHECK(cudaGraphExecDestroy(first) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(second) == cudaSuccess);
  CHECK(cudaGraphDestroy(freeing) == cudaSuccess);
}

TEST_CASE("a graph that allocates memory is neither cloned nor made a child", "[cudart]") {
  const AllocatingGraph allocating(64);
  cudaMemAllocNodeParams parameters{};
  CHECK(cudaGraphMemAllocNodeGetParams(allocating.node, &parameters) == cudaSuccess);
  CHECK(parameters.bytesize == 64);
  CHECK(parameters.dptr == allocating.memory);
  CHECK(cudaGraphMemFreeNodeGetParams(allocating.node, static_cast<void*>(&parameters.dptr)) ==
        cudaErrorInvalidValue);
  cudaGraph_t other = nullptr;
  CHECK(cudaGraphClone(&other, allocating.graph) == cudaErrorNotSupported);
  REQUIRE(cudaGraphCreate(&other, 0) == cudaSuccess);
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, allocating.graph) == cudaErrorNotSupported);
  parameters = allocation(0);
  CHECK(cudaGraphAddMemAllocNode(&node, other, nullptr, 0, &parameters) == cudaErrorInvalidValue);
  parameters = allocation(8);
  parameters.poolProps.location.id = 1;
  CHECK(cudaGraphAddMemAllocNode(&node, other, nullptr, 0, &parameters) == cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(other) == cudaSuccess);
}

TEST_CASE("an executable graph is updated from a graph that allocates other memory", "[cudart]") {
  const AllocatingGraph first(64);
  const AllocatingGraph second(128);
  const cudaGraphExec_t executable = first.executable();
  cudaGraphExecUpdateResultInfo result{};
  REQUIRE(cudaGraphExecUpdate(executable, first.graph, &result) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  REQUIRE(cudaGraphExecUpdate(executable, second.graph, &result) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(used_graph_memory() == 64 + 128);
  // The memory of the second graph is still allocated.
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaErrorInvalidValue);
  // `executable` is now the only executable graph of the second graph. The first graph has none.
  cudaGraphExec_t other = nullptr;
  CHECK(cudaGraphInstantiate(&other, second.graph, 0) == cudaErrorNotSupported);
  REQUIRE(cudaGraphInstantiate(&other, first.graph, 0) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(executable, first.graph, &result) == cudaErrorNotSupported);
  CHECK(cudaGraphLaunch(other, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaFree(first.memory) == cudaSuccess);
  CHECK(cudaFree(second.memory) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(other) == cudaSuccess);
}

TEST_CASE("a graph cannot allocate more memory than the device has free", "[cudart]") {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 4096) == cudaSuccess);
  const AllocatingGraph allocating(total);
  cudaGraphNode_t node = nullptr;
  cudaMemAllocNodeParams parameters = allocation(total + 1);
  CHECK(cudaGraphAddMemAllocNode(&node, allocating.graph, nullptr, 0, &parameters) ==
        cudaErrorMemoryAllocation);
  const cudaGraphExec_t executable = allocating.executable();
  CHECK(cudaGraphLaunch(executable, nullptr) == cudaErrorMemoryAllocation);
  CHECK(used_graph_memory() == 0);
  CHECK(cudaFree(memory) == cudaSuccess);
  std::size_t after = 0;
  CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(after == free);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
}
