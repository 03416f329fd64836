#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <string>

namespace reference {

/// Every field of a map, legal or not, on one line.
[[nodiscard]] std::string describe(const tmajit::TensorMapSpec& map);

}  // namespace reference
