#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace jitc {

/// The element types of an operation's arrays.
struct OperandTypes {
  std::vector<tmajit::ElementType> inputs;
  tmajit::ElementType output = tmajit::ElementType::f32;
  bool is_default = false;  ///< the output's, which no option names
};

/// Types that --dtype and --out-dtype name.
struct NamedTypes {
  std::vector<tmajit::ElementType> all;
  std::optional<tmajit::ElementType> output = {};
};
/// Throws Error{invalid_argument} for a name that is no type's.
[[nodiscard]] NamedTypes read_types(const ProblemOptions& options);

/// Chooses the types of `count` inputs and the output from the named types and the files (one an input, or
/// none); f32 where neither gives a type. Throws Error{invalid_argument} where they contradict each other.
[[nodiscard]] OperandTypes choose_types(const NamedTypes& names, std::span<const InputArray> files,
                                        std::size_t count);

}  // namespace jitc
