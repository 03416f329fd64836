#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <string>

namespace reference {

/// Every field in one line, of maps that break rules, too.
[[nodiscard]] std::string describe(const tmajit::TensorMapSpec& map);

}  // namespace reference
