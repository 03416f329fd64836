#pragma once

#include "reference/scalar.hpp"

#include <tmajit/element_type.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// What a map or cast computes, and the host's own idea of it.
struct Expression {
  std::string name;  ///< "2a+1"; the Python side knows these names
  /// The library's expression for elements of a type; empty: a plain cast.
  std::function<std::string(tmajit::ElementType)> text;
  std::function<reference::Scalar(std::span<const reference::Scalar> sources)> host;
  bool exact = true;  ///< every step is exact or rounded once, so that all agree to the bit

  /// How far a correct result may lie from the host's, relative to the larger of 1 and its size. 0: to the
  /// bit.
  [[nodiscard]] double tolerance(tmajit::ElementType type) const;
};

/// Throws tmajit::Error{internal} for an unknown name.
const Expression& find_expression(std::string_view name);

using reference::as_double;

}  // namespace bench
