#pragma once

#include "cudart/graphs.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace cudart {

/// Adds a node that allocates `bytes` bytes. The address is fixed now; each run of the node allocates the
/// memory there.
Node& add_allocation(Graph& graph, std::uint64_t bytes);
/// Adds a node that frees the memory of an allocation node. Throws Failure if no node allocates memory at the
/// address, if this graph already frees it, or if both its own graph and another graph would free it.
Node& add_free(Graph& graph, void* memory);
[[nodiscard]] bool has_memory_nodes(const Graph& graph);
/// Frees the memory that the nodes allocated in an earlier launch, if it is still allocated.
void free_live_allocations(const std::vector<std::shared_ptr<Node>>& nodes);
/// Throws Failure if memory that the nodes allocated in an earlier launch is still allocated.
void require_no_live_allocations(const std::vector<std::shared_ptr<Node>>& nodes);

}  // namespace cudart
TMAJIT_END
