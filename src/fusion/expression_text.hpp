#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Names of an expression, and the texts that replace them.
using Renames = std::map<std::string, std::string, std::less<>>;

/// The text with its names replaced. Names of members, as in a.x, stay.
[[nodiscard]] std::string renamed(std::string_view text, const Renames& names);

/// An expression for the value of an element of `type` after `expression` is stored in it: "as_bf16(x * 2)".
[[nodiscard]] std::string stored(ElementType type, std::string_view expression);

/// A name that none of the texts reads: "v0".
[[nodiscard]] std::string unused_name(std::string_view text, std::string_view other);

/// The sources of a fused move: each tensor once, then the numbers.
class FusedSources {
 public:
  /// The slots of a move's sources, in their order: the tensors, then the numbers.
  using Slots = std::vector<std::size_t>;

  /// Adds a source, unless it is a tensor that has a slot already. Returns its slot.
  std::size_t add(const Tensor& source);
  /// The name by which the fused expression reads a slot: x or x0, p0.
  [[nodiscard]] std::string name(std::size_t slot) const;
  /// The new names for an expression whose sources are in these slots.
  [[nodiscard]] Renames renames(const Slots& slots) const;
  /// All sources in the order of a move: the tensors, then the numbers.
  [[nodiscard]] std::vector<Tensor> in_order() const;

 private:
  struct Slot {
    Tensor source;
    std::size_t number;  ///< among the tensors, or among the numbers
  };
  std::vector<Slot> slots_;
  std::size_t tensors_ = 0;
  std::size_t numbers_ = 0;
};

/// The names under which an expression of these sources may read source `k`.
[[nodiscard]] std::vector<std::string> source_names(std::span<const Tensor> sources, std::size_t k);

TMAJIT_END
