#pragma once

/// Large kernels, each of one kind, to measure lint's time.
#include <string>

namespace tests {

/// Arithmetic, loads and stores in a row.
std::string straight_code(int lines);
/// Predicates, each of which guards two stores to shared memory, in one block.
std::string guarded_stores(int predicates);
/// `count` branches round a store, then branches of the same conditions.
std::string branches(int count);
/// Nested loops, with a store in each.
std::string nested_loops(int depth);
/// Conditions that end the thread, and a store and fence after each.
std::string early_exits(int count);
/// Small kernels in one module.
std::string many_kernels(int count);
/// Fences under conditions that are tested again: the facts of a path without fences grow without bound.
std::string guarded_fences(int predicates);

}  // namespace tests
