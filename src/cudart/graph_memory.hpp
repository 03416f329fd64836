#pragma once

#include "cudart/graphs.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace cudart {

/// Adds a node that allocates `bytes` bytes. Its address is known now; the memory exists from each run of the
/// node until it is freed.
Node& add_allocation(Graph& graph, std::uint64_t bytes);
/// Adds a node that frees the memory of an allocation node. Throws Failure for another address, and for
/// memory that this graph, or the wrong graph, frees already.
Node& add_free(Graph& graph, void* memory);
[[nodiscard]] bool has_memory_nodes(const Graph& graph);
/// Frees the memory that the nodes have allocated in an earlier run.
void free_allocations(const std::vector<std::shared_ptr<Node>>& nodes);
/// Throws Failure if memory of the nodes is still allocated.
void require_no_allocations(const std::vector<std::shared_ptr<Node>>& nodes);

}  // namespace cudart
TMAJIT_END
