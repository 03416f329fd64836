#pragma once

#include "operations/drawing/benchmark_case.hpp"

#include <tmajit/element_type.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The library's expression for which a name such as "2a+1" stands, for elements of a type; empty for a
/// plain cast. The benchmark's Python scripts use the same names. Throws tmajit::Error{internal} for an
/// unknown name.
std::string expression_text(std::string_view name, tmajit::ElementType type);

/// A case that computes the expression with this name (see expression_text()) of the sources, which are
/// broadcast to the destination; the name "cast" makes a cast.
Case map_or_cast(std::string group, std::string name, std::string expression_name, std::vector<Array> sources,
                 Array destination);

}  // namespace bench
