#pragma once

#include "operations/shared/benchmark_case.hpp"

#include <tmajit/element_type.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The library's expression for which a name such as "2a+1" stands, for elements of a type; empty for a
/// plain cast. The benchmark's Python scripts use the same names. Throws tmajit::Error{internal} for an
/// unknown name.
std::string expression_text(std::string_view name, tmajit::ElementType type);

/// A map of sources that are broadcast to the destination, or a cast. `expression` is a name as above.
Case computation(std::string group, std::string name, std::string expression, std::vector<Array> sources,
                 Array destination);

}  // namespace bench
