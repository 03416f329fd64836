#pragma once

#include "json_node.hpp"

#include <tmajit/element_type.hpp>

#include <cstdint>

namespace jitc {

/// The bit pattern of a number of `type`: a JSON number within its range (rounded to nearest for floats),
/// "nan", "inf" or "-inf", or the pattern itself, "0x7fc0". Refuses anything else, with its path.
[[nodiscard]] std::uint64_t read_number(const JsonNode& node, tmajit::ElementType type);

}  // namespace jitc
