#pragma once

#include "options.hpp"

#include <tmajit/kernel_spec.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// The host's own result: `count` elements of the output from as many of each input.
using Reference = std::function<void(std::span<const std::vector<std::byte>> inputs, std::uint64_t count,
                                     std::vector<std::byte>& output)>;

/// One kernel to measure, for any size.
struct Case {
  std::string group;  ///< what --only names
  tmajit::Family family = tmajit::Family::copy;
  std::string expression;
  std::vector<tmajit::ElementType> inputs;
  tmajit::ElementType output = tmajit::ElementType::f32;
  Reference reference;  ///< empty for a snapshot, which is compared tile by tile

  /// "map 2 inputs".
  [[nodiscard]] std::string title() const;
  /// "f32", "u8 → f32".
  [[nodiscard]] std::string types() const;
  /// The larger of the operands' element sizes, bytes.
  [[nodiscard]] std::uint64_t element_bytes() const;
  /// The shape for `size` bytes of the largest operand: rows of 4096 elements; for bulk one dimension.
  [[nodiscard]] std::vector<std::uint64_t> shape(std::uint64_t size) const;
  [[nodiscard]] tmajit::KernelSpec spec(std::uint64_t size, const tmajit::TileOptions& tiles = {}) const;
};

/// What a run measures.
std::vector<Case> cases(const Options& options);
/// What a sweep tunes: `family` on `type` with the user's expression, which no reference checks, or with a
/// default one.
Case sweep_case(tmajit::Family family, tmajit::ElementType type, const std::string& expression);

}  // namespace bench
