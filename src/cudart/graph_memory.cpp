// Nodes of graphs that allocate and free device memory.
#include "cudart/graph_memory.hpp"

#include "cudart/memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

TMAJIT_BEGIN
namespace cudart {
namespace {

/// Alignment of the memory in bytes, the same as that of cudaMalloc().
constexpr std::uint64_t alignment = 512;

/// Which graphs free an allocation: its own graph, or other graphs, but not both.
struct Freed {
  bool by_owner = false;
  bool by_other_graphs = false;
};
struct GraphAllocations {
  std::mutex mutex;
  std::map<const void*, Freed> all;
};
GraphAllocations& graph_allocations() {
  static auto& all = *new GraphAllocations;
  return all;
}

bool has_node(const Graph& graph, cudaGraphNodeType type, const void* memory) {
  return std::ranges::any_of(graph.nodes,
                             [&](const auto& node) { return node->type == type && node->memory == memory; });
}

const Node& node_of(cudaGraphNode_t handle, cudaGraphNodeType type) {
  const Node& node = *reinterpret_cast<const Node*>(&require_non_null(handle, "the node"));
  if (node.type != type) throw Failure(cudaErrorInvalidValue, "the node has another type");
  return node;
}

cudaMemPoolProps device_properties() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  return properties;
}

/// The attribute of the graphs' pool.
cudaMemPoolAttr pool_attribute(cudaGraphMemAttributeType attribute) {
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent: return cudaMemPoolAttrUsedMemCurrent;
    case cudaGraphMemAttrUsedMemHigh: return cudaMemPoolAttrUsedMemHigh;
    case cudaGraphMemAttrReservedMemCurrent: return cudaMemPoolAttrReservedMemCurrent;
    case cudaGraphMemAttrReservedMemHigh: return cudaMemPoolAttrReservedMemHigh;
    default:
      throw Failure(cudaErrorInvalidValue,
                    "the memory of graphs has no attribute " + std::to_string(attribute));
  }
}

}  // namespace

Node& add_allocation(Graph& graph, std::uint64_t bytes) {
  if (bytes == 0) throw Failure(cudaErrorInvalidValue, "an allocation of no bytes");
  if (bytes > device().info().memory_bytes) throw_out_of_memory(bytes);
  const std::uint64_t address = reserve_addresses(bytes, alignment);
  Node& node =
      graph.add(cudaGraphNodeTypeMemAlloc, [=](cudaStream_t) { allocate_at(address, bytes, graph_pool()); });
  node.memory = pointer_at(address);
  node.bytes = bytes;
  const std::lock_guard lock(graph_allocations().mutex);
  graph_allocations().all[node.memory] = {};
  return node;
}

Node& add_free(Graph& graph, void* memory) {
  const bool owned = has_node(graph, cudaGraphNodeTypeMemAlloc, memory);
  {
    const std::lock_guard lock(graph_allocations().mutex);
    const auto found = graph_allocations().all.find(memory);
    if (found == graph_allocations().all.end())
      throw Failure(cudaErrorInvalidValue, "no node of a graph allocates memory at this address");
    Freed& freed = found->second;
    if (has_node(graph, cudaGraphNodeTypeMemFree, memory) || (owned ? freed.by_other_graphs : freed.by_owner))
      throw Failure(cudaErrorInvalidValue, "a graph frees this memory already");
    (owned ? freed.by_owner : freed.by_other_graphs) = true;
  }
  Node& node = graph.add(cudaGraphNodeTypeMemFree, [=](cudaStream_t) { release(memory); });
  node.memory = memory;
  return node;
}

bool has_memory_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) { return node->memory != nullptr; });
}

void free_live_allocations(const std::vector<std::shared_ptr<Node>>& nodes) {
  for (const auto& node : nodes) {
    if (node->type == cudaGraphNodeTypeMemAlloc && allocation_at(node->memory)) release(node->memory);
  }
}

void require_no_live_allocations(const std::vector<std::shared_ptr<Node>>& nodes) {
  for (const auto& node : nodes) {
    if (node->type == cudaGraphNodeTypeMemAlloc && allocation_at(node->memory))
      throw Failure(cudaErrorInvalidValue,
                    "memory that the graph allocated in an earlier launch was not freed");
  }
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit::cudart;

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t*,
                                     std::size_t, cudaMemAllocNodeParams* parameters) {
  return guarded(__func__, [&] {
    auto& p = require_non_null(parameters, "the parameters");
    require_non_null(result, "the result");
    if (p.poolProps.allocType != cudaMemAllocationTypePinned ||
        p.poolProps.handleTypes != cudaMemHandleTypeNone ||
        p.poolProps.location.type != cudaMemLocationTypeDevice || p.poolProps.location.id != 0) {
      throw Failure(cudaErrorInvalidValue, "graphs allocate pinned memory of device 0, which is not shared");
    }
    Node& node = add_allocation(graph_at(graph), p.bytesize);
    p.dptr = node.memory;
    *result = reinterpret_cast<cudaGraphNode_t>(&node);
  });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  return guarded(__func__, [&] {
    const Node& allocation = node_of(node, cudaGraphNodeTypeMemAlloc);
    require_non_null(parameters, "the result") = {device_properties(), nullptr, 0, allocation.bytes,
                                                  allocation.memory};
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t*,
                                    std::size_t, void* memory) {
  return guarded(__func__, [&] {
    require_non_null(result, "the result");
    *result = reinterpret_cast<cudaGraphNode_t>(&add_free(graph_at(graph), memory));
  });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  return guarded(__func__, [&] {
    require_non_null(static_cast<void**>(memory), "the result") =
        node_of(node, cudaGraphNodeTypeMemFree).memory;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int ordinal, cudaGraphMemAttributeType attribute, void* value) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(static_cast<std::uint64_t*>(value), "the result") =
        graph_pool()->get(pool_attribute(attribute));
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int ordinal, cudaGraphMemAttributeType attribute, void* value) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    graph_pool()->set(pool_attribute(attribute),
                      require_non_null(static_cast<std::uint64_t*>(value), "the value"));
  });
}
cudaError_t cudaDeviceGraphMemTrim(int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    graph_pool()->trim(0);
  });
}

}  // extern "C"
