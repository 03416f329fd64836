#pragma once

/// Large kernels of one kind each, to see what lint takes for them.
#include <string>

namespace tests {

/// Arithmetic, loads and stores in a row.
std::string straight_code(int lines);
/// Predicates, each of which guards two stores to shared memory, in one block.
std::string guarded_stores(int predicates);
/// As many branches round a store, then the same conditions again.
std::string branches(int count);
/// Loops inside one another, with a store in each.
std::string nested_loops(int depth);
/// Conditions that end the thread, and a store and fence after each.
std::string early_exits(int count);
/// Small kernels in one module.
std::string many_kernels(int count);
/// Fences under conditions that are asked again: what is known of a way that meets none grows without bound.
std::string guarded_fences(int predicates);

}  // namespace tests
