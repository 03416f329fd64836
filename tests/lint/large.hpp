#pragma once

/// Large kernels of several kinds, to measure lint's time.
#include <string>

namespace tests {

/// Arithmetic, loads and stores without branches.
std::string straight_code(int lines);
/// Predicates that guard two stores each, in one basic block.
std::string guarded_stores(int predicates);
/// `count` branches around a store, then branches on the same conditions again.
std::string branches(int count);
/// Nested loops, with a store in each.
std::string nested_loops(int depth);
/// Conditional exits of the thread, with a store and a fence after each.
std::string early_exits(int count);
/// `count` small kernels in one module.
std::string many_kernels(int count);
/// Fences under conditions that are tested twice. The facts about paths without a fence grow exponentially.
std::string guarded_fences(int predicates);

}  // namespace tests
