#pragma once

#include "operations/names.hpp"

#include <tmajit/operations.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// An entry of the list of operations: the operation's description, and functions that derive its
/// destinations and make it from its arguments. Each entry is written in `arguments.cpp` of the operation's
/// folder.
struct OperationEntry {
  OperationInfo info;
  /// The shapes and types of the destinations. Called for as many sources as `info` allows.
  std::vector<TensorView> (*destinations)(std::span<const TensorView> sources,
                                          const Arguments& arguments) = nullptr;
  /// Called for as many sources as `info` allows, and at least one destination.
  Operation (*make)(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                    const Arguments& arguments) = nullptr;
  /// Dense sources for `rows`; null for an operation that is no recipe. Called for as many sources as `info`
  /// allows.
  std::vector<TensorView> (*sources)(const TensorView& rows, std::size_t count,
                                     const Arguments& arguments) = nullptr;
};

/// The choices of an argument that is a boolean.
inline constexpr std::array<std::string_view, 2> no_or_yes{"no", "yes"};

#define TMAJIT_DECLARE(name) extern const OperationEntry name##_entry;
TMAJIT_FOR_EACH_OPERATION(TMAJIT_DECLARE)
#undef TMAJIT_DECLARE

TMAJIT_END
