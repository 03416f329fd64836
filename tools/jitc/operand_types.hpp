#pragma once

#include "array_file.hpp"
#include "options.hpp"

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace jitc {

struct OperandTypes {
  std::vector<tmajit::ElementType> inputs;
  tmajit::ElementType output = tmajit::ElementType::f32;
};

/// What --dtype, --out-dtype and the files (one an input, or none) say of the types of `count` inputs and the
/// output; f32 where nothing does. Throws Error{invalid_argument} where they contradict each other.
[[nodiscard]] OperandTypes choose_types(const KernelOptions& options, std::span<const InputArray> files,
                                        std::size_t count);

}  // namespace jitc
