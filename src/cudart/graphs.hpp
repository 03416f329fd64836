#pragma once

#include "cudart/device.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace cudart {

/// Work that a program enqueues on a stream. The call that enqueues it also completes it, as CUDA allows.
using Work = std::function<void(cudaStream_t)>;

struct Node {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;                ///< empty if the node does nothing
  void* memory = nullptr;   ///< the address that the node allocates or frees
  std::uint64_t bytes = 0;  ///< size of the memory that the node allocates
};

/// Nodes run in the order in which they were added. This respects all dependencies, since a node can only
/// depend on existing nodes.
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
  /// Not expired while an executable graph has this graph's memory nodes: there may be only one.
  std::weak_ptr<void> instance_token{};
  Node& add(cudaGraphNodeType type, Work work) {
    return *nodes.emplace_back(std::make_shared<Node>(Node{type, std::move(work), nullptr, 0}));
  }
};

/// Throws Failure if no graph has this handle.
[[nodiscard]] Graph& graph_at(cudaGraph_t handle);
/// The work of a 3D copy. Throws Failure if it copies CUDA arrays.
[[nodiscard]] Work copy_of(const cudaMemcpy3DParms& parameters);
/// Does the work now, or adds it to the graph that the stream is captured into.
void enqueue(cudaStream_t stream, cudaGraphNodeType type, Work work);
/// The graph that the stream is captured into; null if it is not.
[[nodiscard]] Graph* captured_into(cudaStream_t stream);
/// The number of the capture that the stream is part of; 0 if it is not captured.
[[nodiscard]] std::uint64_t capture_of(cudaStream_t stream);
/// Adds `stream` to a capture, because it waits for an event of that capture. Does nothing if the capture has
/// ended.
void join_capture(cudaStream_t stream, std::uint64_t capture);
/// Throws Failure if the stream is captured into a graph, of which `action` cannot be part.
void require_no_capture(cudaStream_t stream, const char* action);

}  // namespace cudart
TMAJIT_END
