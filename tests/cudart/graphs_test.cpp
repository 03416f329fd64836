#include "cudart/program.hpp"

#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace program;

namespace {

void add_one(void* number) {
  ++*static_cast<int*>(number);
}

}  // namespace

TEST_CASE("a captured launch runs when its graph is launched, with the arguments at capture time",
          "[cudart]") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  auto* values = device_values({1, 2});
  std::uint32_t factor = 2;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  CHECK(launch(stub(&scale), 1, 2, {&values, &factor}, stream) == cudaSuccess);
  factor = 9;
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(host_values(values, 2) == std::vector<std::uint32_t>{1, 2});
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(host_values(values, 2) ==
        std::vector<std::uint32_t>{(1 * 2 + 100) * 2 + 100, (2 * 2 + 100) * 2 + 100});
  std::size_t count_of_nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count_of_nodes) == cudaSuccess);
  CHECK(count_of_nodes == 1);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(executable) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("a graph built node by node runs its nodes in dependency order", "[cudart]") {
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  auto* values = device_values({0, 0, 0, 0});
  std::array<cudaGraphNode_t, 4> nodes{};
  cudaMemsetParams fill{};
  fill.dst = values;
  fill.elementSize = 4;
  fill.width = 4;
  fill.height = 1;
  fill.value = 3;
  CHECK(cudaGraphAddMemsetNode(nodes.data(), graph, nullptr, 0, &fill) == cudaSuccess);
  std::uint32_t factor = 5;
  std::array<void*, 2> arguments{&values, &factor};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(stub(&scale));
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(4);
  kernel.kernelParams = arguments.data();
  CHECK(cudaGraphAddKernelNode(&nodes[1], graph, nodes.data(), 1, &kernel) == cudaSuccess);
  std::array<std::uint32_t, 4> result{};
  CHECK(cudaGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, result.data(), values, 16,
                                 cudaMemcpyDeviceToHost) == cudaSuccess);
  int calls = 0;
  cudaHostNodeParams call{&add_one, &calls};
  CHECK(cudaGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &call) == cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(result[3] == 3 * 5 + 100);
  CHECK(calls == 1);
  factor = 6;
  CHECK(cudaGraphExecKernelNodeSetParams(executable, nodes[1], &kernel) == cudaSuccess);
  CHECK(cudaGraphExecKernelNodeSetParams(executable, nodes[2], &kernel) == cudaErrorInvalidValue);
  REQUIRE(cudaGraphLaunch(executable, nullptr) == cudaSuccess);
  CHECK(result[0] == 3 * 6 + 100);
  fill.elementSize = 3;
  CHECK(cudaGraphAddMemsetNode(nodes.data(), graph, nullptr, 0, &fill) == cudaErrorInvalidValue);
  CHECK(cudaGraphInstantiate(&executable, nullptr, 0) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("ending a capture that was not begun and capturing the default stream are refused", "[cudart]") {
  cudaGraph_t graph = nullptr;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnmatched);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("an event of a capture that ended does not add a stream to a later capture", "[cudart]") {
  cudaStream_t stream = nullptr;
  cudaStream_t waiting = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&waiting) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  cudaStreamCaptureStatus status{};
  const auto is_captured = [&] {
    CHECK(cudaStreamWaitEvent(waiting, event, 0) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(waiting, &status) == cudaSuccess);
    return status == cudaStreamCaptureStatusActive;
  };
  const auto end_capture = [&] {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  };
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(is_captured());
  end_capture();
  // The new graph may have the address of the destroyed one.
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(!is_captured());
  end_capture();
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(cudaStreamDestroy(waiting) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("functions of graphs and host calls refuse null, and add no node", "[cudart]") {
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaGraphNode_t node = nullptr;
  std::size_t node_count = 99;
  CHECK(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0) == cudaErrorInvalidValue);
  cudaHostNodeParams call{};
  CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &call) == cudaErrorInvalidValue);
  CHECK(cudaGraphGetNodes(graph, nullptr, &node_count) == cudaSuccess);
  CHECK(node_count == 0);
  CHECK(cudaGraphGetNodes(graph, &node, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaGraphGetNodes(graph, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaLaunchHostFunc(nullptr, nullptr, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaStreamAddCallback(nullptr, nullptr, nullptr, 0) == cudaErrorInvalidValue);
}

TEST_CASE("events give the time between them, and streams return their flags", "[cudart]") {
  cudaEvent_t before = nullptr;
  cudaEvent_t after = nullptr;
  cudaEvent_t untimed = nullptr;
  float milliseconds = -1;
  REQUIRE(cudaEventCreate(&before) == cudaSuccess);
  REQUIRE(cudaEventCreate(&after) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, before, after) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(before, nullptr) == cudaSuccess);
  count();
  CHECK(cudaEventRecord(after, nullptr) == cudaSuccess);
  CHECK(cudaEventRecord(untimed, nullptr) == cudaSuccess);
  CHECK(cudaEventQuery(after) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, before, after) == cudaSuccess);
  CHECK(milliseconds > 0);
  CHECK(cudaEventElapsedTime(&milliseconds, before, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventDestroy(before) == cudaSuccess);
  CHECK(cudaEventRecord(before, nullptr) == cudaErrorInvalidResourceHandle);

  cudaStream_t stream = nullptr;
  unsigned flags = 0;
  int priority = 0;
  REQUIRE(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -99) == cudaSuccess);
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == -5);
  int calls = 0;
  CHECK(cudaLaunchHostFunc(stream, &add_one, &calls) == cudaSuccess);
  CHECK(calls == 1);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamCreateWithFlags(&stream, 77) == cudaErrorInvalidValue);
}
