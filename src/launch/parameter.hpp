#pragma once

#include "launch/json_node.hpp"

#include <tmajit/launch/description.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// Reads a parameter of a launch description, whose buffers are among `buffers`. Throws
/// Error{invalid_argument} that begins with the path in the JSON.
[[nodiscard]] KernelParameter read_parameter(const JsonNode& node,
                                             const std::vector<BufferDescription>& buffers);
[[nodiscard]] Json to_json(const KernelParameter& parameter);

/// The bytes that a parameter takes in the kernel's parameter space.
[[nodiscard]] std::uint64_t bytes_of(const KernelParameter& parameter);
/// "u32", "u32[3]", "an address", "a tensor map", "a struct of 3 fields"
[[nodiscard]] std::string describe(const KernelParameter& parameter);
/// The offsets of a struct's fields, and after them its size.
[[nodiscard]] std::vector<std::uint64_t> field_offsets(const StructParameter& parameter);
/// The alignment of a struct: the largest of its fields'.
[[nodiscard]] std::uint64_t alignment_of(const StructParameter& parameter);

TMAJIT_END
