// Graphs: the capture of streams, and nodes that the program adds itself.
#include "cudart/graphs.hpp"

#include "cudart/graph_memory.hpp"
#include "cudart/handles.hpp"
#include "cudart/launches.hpp"
#include "cudart/memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>

TMAJIT_BEGIN
namespace cudart {
namespace {

struct Capture {
  cudaStream_t origin = nullptr;
  Graph* graph = nullptr;
};
struct Captures {
  std::mutex mutex;
  std::map<std::uint64_t, Capture> running;       ///< captures in progress, by their numbers
  std::map<cudaStream_t, std::uint64_t> streams;  ///< the capture that each captured stream is part of
  std::uint64_t last_number = 0;                  ///< numbers are not used again
};
Captures& captures() {
  static auto& all = *new Captures;
  return all;
}

/// A graph that can be launched.
struct GraphExec {
  std::vector<std::shared_ptr<Node>> nodes;    ///< nodes of the graph from which it was instantiated
  std::vector<std::shared_ptr<Node>> current;  ///< nodes of the graph from which it was last updated
  std::vector<Work> work;
  bool frees_on_launch = false;  ///< cudaGraphInstantiateFlagAutoFreeOnLaunch
  /// Keeps Graph::instance_token alive while this executable graph exists, so that its graph with memory
  /// nodes is not instantiated a second time. Null if no graph with memory nodes was used.
  std::shared_ptr<void> instance_token{};
};

Handles<Graph>& graphs() {
  static auto& all = *new Handles<Graph>("graph");
  return all;
}
Handles<GraphExec>& executables() {
  static auto& all = *new Handles<GraphExec>("executable graph");
  return all;
}

/// Replaces the work of an executable graph by that of the nodes of `graph`.
void take_work(GraphExec& executable, Graph& graph) {
  if (has_memory_nodes(graph)) {
    if (const auto token = graph.instance_token.lock(); token && token != executable.instance_token)
      throw Failure(cudaErrorNotSupported, "a graph with memory nodes is instantiated a second time");
    graph.instance_token = executable.instance_token = std::make_shared<char>();
  }
  executable.current = graph.nodes;
  executable.work.clear();
  for (const auto& node : graph.nodes) executable.work.push_back(node->work);
}

cudaGraphExec_t instantiate(cudaGraph_t handle, unsigned long long flags) {
  auto made = std::make_unique<GraphExec>();
  Graph& graph = graphs().at(handle);
  take_work(*made, graph);
  made->nodes = graph.nodes;
  made->frees_on_launch = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  return reinterpret_cast<cudaGraphExec_t>(&executables().add(std::move(made)));
}

/// The work of a node in an executable graph.
Work& work_of(cudaGraphExec_t graph, cudaGraphNode_t node, cudaGraphNodeType type) {
  GraphExec& executable = executables().at(graph);
  for (std::size_t i = 0; i < executable.nodes.size(); ++i) {
    const void* const each = executable.nodes[i].get();
    if (each == node && executable.nodes[i]->type == type) return executable.work[i];
  }
  throw Failure(cudaErrorInvalidValue, "the executable graph has no such node of that kind");
}

void require_no_memory_nodes(const Graph& graph, const char* what) {
  if (has_memory_nodes(graph))
    throw Failure(cudaErrorNotSupported, std::string("a graph with memory nodes cannot be ") + what);
}

Work launch_of(const cudaKernelNodeParams& parameters) {
  if (parameters.kernelParams == nullptr && parameters.extra != nullptr)
    throw Failure(cudaErrorNotSupported,
                  "a node's arguments as one buffer (extra) are not supported; use kernelParams");
  return launch_of(kernel_of(parameters.func),
                   shape_of(parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes),
                   parameters.kernelParams);
}
Work fill_of(const cudaMemsetParams& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    throw Failure(cudaErrorInvalidValue, "elements of " + std::to_string(p.elementSize) + " bytes");
  return [p](cudaStream_t stream) {
    fill(p.dst, Rows{p.pitch, 0}, p.value, p.elementSize, Extent{p.width * p.elementSize, p.height}, stream);
  };
}
Work call_of(const cudaHostNodeParams& parameters) {
  require_non_null(parameters.fn, "the function");
  return [parameters](cudaStream_t) { parameters.fn(parameters.userData); };
}
Work copy_of(void* destination, const void* source, std::size_t bytes) {
  return [=](cudaStream_t stream) { copy(destination, source, bytes, stream); };
}

void add(cudaGraphNode_t* result, cudaGraph_t graph, cudaGraphNodeType type, Work work) {
  store(result,
        [&] { return reinterpret_cast<cudaGraphNode_t>(&graphs().at(graph).add(type, std::move(work))); });
}
cudaGraph_t add(std::unique_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(&graphs().add(std::move(graph)));
}

}  // namespace

Graph& graph_at(cudaGraph_t handle) {
  return graphs().at(handle);
}

void enqueue(cudaStream_t stream, cudaGraphNodeType type, Work work) {
  if (Graph* const graph = captured_into(stream); graph != nullptr) {
    graph->add(type, std::move(work));
  } else {
    work(stream);
  }
}

Graph* captured_into(cudaStream_t stream) {
  const std::lock_guard lock(captures().mutex);
  const auto found = captures().streams.find(stream);
  return found == captures().streams.end() ? nullptr : captures().running.at(found->second).graph;
}

std::uint64_t capture_of(cudaStream_t stream) {
  const std::lock_guard lock(captures().mutex);
  const auto found = captures().streams.find(stream);
  return found == captures().streams.end() ? 0 : found->second;
}

void join_capture(cudaStream_t stream, std::uint64_t capture) {
  const std::lock_guard lock(captures().mutex);
  if (captures().running.contains(capture)) captures().streams[stream] = capture;
}

void require_no_capture(cudaStream_t stream, const char* action) {
  if (captured_into(stream) == nullptr) return;
  throw Failure(cudaErrorStreamCaptureUnsupported,
                std::string("the stream is captured, and ") + action + " cannot be part of a graph here");
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit::cudart;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return guarded(__func__, [&] {
    require_no_capture(stream, "another capture");
    if (stream == nullptr || stream == cudaStreamLegacy)
      throw Failure(cudaErrorStreamCaptureUnsupported, "the legacy stream is never captured");
    Graph& graph = graphs().add(std::make_unique<Graph>());
    const std::lock_guard lock(captures().mutex);
    const std::uint64_t number = ++captures().last_number;
    captures().running[number] = {stream, &graph};
    captures().streams[stream] = number;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* result) {
  return guarded(__func__, [&] {
    const std::uint64_t number = capture_of(stream);
    const std::lock_guard lock(captures().mutex);
    const auto capture = captures().running.find(number);
    if (capture == captures().running.end() || capture->second.origin != stream)
      throw Failure(cudaErrorStreamCaptureUnmatched, "no capture began on the stream");
    require_non_null(result, "the result") = reinterpret_cast<cudaGraph_t>(capture->second.graph);
    std::erase_if(captures().streams, [&](const auto& each) { return each.second == number; });
    captures().running.erase(capture);
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return guarded(__func__, [&] {
    require_non_null(status, "the result") =
        captured_into(stream) == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  return guarded(__func__, [&] { std::swap(require_non_null(mode, "the mode"), current); });
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return guarded(__func__, [&] { store(graph, [] { return add(std::make_unique<Graph>()); }); });
}
cudaError_t cudaGraphClone(cudaGraph_t* result, cudaGraph_t graph) {
  return guarded(__func__, [&] {
    auto copy = std::make_unique<Graph>();
    require_no_memory_nodes(graphs().at(graph), "cloned");
    for (const auto& node : graphs().at(graph).nodes) copy->add(node->type, node->work);
    store(result, [&] { return add(std::move(copy)); });
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return guarded(__func__, [&] { graphs().remove(graph); });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return guarded(__func__, [&] {
    const auto& all = graphs().at(graph).nodes;
    std::size_t& result = require_non_null(count, "the count");
    result = nodes == nullptr ? all.size() : std::min(result, all.size());
    if (nodes == nullptr) return;
    for (std::size_t i = 0; i < result; ++i) nodes[i] = reinterpret_cast<cudaGraphNode_t>(all[i].get());
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return guarded(__func__, [&] {
    require_non_null(node, "the node");
    require_non_null(type, "the result") = reinterpret_cast<const Node*>(node)->type;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                   std::size_t, const cudaKernelNodeParams* parameters) {
  return guarded(__func__, [&] {
    add(node, graph, cudaGraphNodeTypeKernel, launch_of(require_non_null(parameters, "the parameters")));
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                   std::size_t, const cudaMemcpy3DParms* parameters) {
  return guarded(__func__, [&] {
    add(node, graph, cudaGraphNodeTypeMemcpy, copy_of(require_non_null(parameters, "the parameters")));
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                     std::size_t, void* destination, const void* source, std::size_t bytes,
                                     cudaMemcpyKind) {
  return guarded(__func__,
                 [&] { add(node, graph, cudaGraphNodeTypeMemcpy, copy_of(destination, source, bytes)); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                   std::size_t, const cudaMemsetParams* parameters) {
  return guarded(__func__, [&] {
    add(node, graph, cudaGraphNodeTypeMemset, fill_of(require_non_null(parameters, "the parameters")));
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                 std::size_t, const cudaHostNodeParams* parameters) {
  return guarded(__func__, [&] {
    add(node, graph, cudaGraphNodeTypeHost, call_of(require_non_null(parameters, "the parameters")));
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                  std::size_t) {
  return guarded(__func__, [&] { add(node, graph, cudaGraphNodeTypeEmpty, {}); });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*,
                                       std::size_t, cudaGraph_t child) {
  return guarded(__func__, [&] {
    require_no_memory_nodes(graphs().at(child), "a child of another graph");
    add(node, graph, cudaGraphNodeTypeGraph, [nodes = graphs().at(child).nodes](cudaStream_t stream) {
      for (const auto& each : nodes) {
        if (each->work) each->work(stream);
      }
    });
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* result, cudaGraph_t graph, unsigned long long flags) {
  return guarded(__func__, [&] { store(result, [&] { return instantiate(graph, flags); }); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* result, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(result, graph, flags);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t) {
  return guarded(__func__, [&] { (void)executables().at(graph); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return guarded(__func__, [&] {
    const GraphExec& executable = executables().at(graph);
    if (captured_into(stream) == nullptr) {
      if (executable.frees_on_launch) free_live_allocations(executable.current);
      require_no_live_allocations(executable.current);
    } else if (executable.instance_token) {
      throw Failure(cudaErrorNotSupported, "a graph with memory nodes cannot be part of a captured graph");
    }
    enqueue(stream, cudaGraphNodeTypeGraph, [work = executable.work](cudaStream_t launch_stream) {
      for (const Work& each : work) {
        if (each) each(launch_stream);
      }
    });
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return guarded(__func__, [&] { executables().remove(graph); });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  return guarded(__func__, [&] {
    GraphExec& executable = executables().at(handle);
    Graph& source = graphs().at(graph);
    const bool same = std::ranges::equal(
        executable.nodes, source.nodes, {}, [](const auto& each) { return each->type; },
        [](const auto& each) { return each->type; });
    if (result != nullptr) {
      *result = {};
      result->result = same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (!same)
      throw Failure(cudaErrorGraphExecUpdateFailure,
                    "the graphs differ in the number or the types of their nodes");
    take_work(executable, source);
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return guarded(__func__, [&] {
    work_of(graph, node, cudaGraphNodeTypeKernel) = launch_of(require_non_null(parameters, "the parameters"));
  });
}

}  // extern "C"
