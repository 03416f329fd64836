#pragma once

#include "arrays.hpp"
#include "options.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/operations.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// The element types of an operation's arrays.
struct OperandTypes {
  std::vector<tmajit::ElementType> inputs;
  tmajit::ElementType output = tmajit::ElementType::f32;
  bool is_default = false;  ///< whether no option names the output's type
};

/// Types that --dtype and --out-dtype name.
struct NamedTypes {
  std::vector<tmajit::ElementType> all;
  std::optional<tmajit::ElementType> output = {};
};
/// Throws Error{invalid_argument} for an unknown type.
[[nodiscard]] NamedTypes read_types(const ProblemOptions& options);

/// Chooses the types of `count` inputs and the output from the named types and the files (one per input, or
/// none); f32 where neither gives a type. Index tensors and offsets are i64 where neither gives a type, and a
/// single named type is not theirs. `ragged`: the last input holds offsets. Throws Error{invalid_argument}
/// where they contradict each other.
[[nodiscard]] OperandTypes choose_types(const NamedTypes& names, std::span<const InputArray> files,
                                        std::size_t count, const tmajit::OperationInfo& operation,
                                        bool ragged);

/// Throws Error{invalid_argument} for types between which an operation that moves bits would have to convert.
/// `word` is the operation as it was typed. `pads`: elements of the output's type are added.
void require_same_bits(const OperandTypes& types, const tmajit::OperationInfo& operation,
                       const std::string& word, bool pads);

}  // namespace jitc
