#pragma once

#include "reference/scalar.hpp"

#include <tmajit/operations/stencil.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reference {

/// A stencil's expression, of arithmetic alone: numbers, + - * /, brackets, and sources x, x0 … x7, called
/// with offsets or not.
class StencilExpression {
 public:
  /// None for anything else: a function, a condition, g.
  [[nodiscard]] static std::optional<StencilExpression> parse(std::string_view text);

  using Neighbour = std::function<Scalar(std::uint32_t source, std::span<const std::int64_t> offsets)>;
  /// In the types of C++.
  [[nodiscard]] Scalar evaluate(const Neighbour& neighbour) const;
  /// Offsets of a call, 0 if there is none.
  [[nodiscard]] std::size_t offsets() const noexcept { return offsets_; }

 private:
  friend class StencilParser;
  struct Step {
    enum class Kind : std::uint8_t { number, neighbour, add, multiply, divide } kind;
    Scalar number = 0;
    std::uint32_t source = 0;
    std::vector<std::int64_t> offsets = {};
  };
  std::vector<Step> steps_;  ///< in postfix order
  std::size_t offsets_ = 0;
};

/// The index of the element that a neighbour at `at` of `extent` is; none if it is none.
[[nodiscard]] std::optional<std::int64_t> neighbour_index(std::int64_t at, std::int64_t extent,
                                                          tmajit::Boundary boundary);

/// The stencil in host memory, where the tensors' addresses are: a walk over the destination's elements.
/// Sources have the destination's shape.
void stencil(const tmajit::Tensor& destination, const StencilExpression& expression,
             std::span<const tmajit::Tensor> sources, const tmajit::Stencil& stencil);

/// Whether an expression computes something in f32: whether the elements of a source are numbers of 32 bits
/// or fewer. Where others are f64, sums of such neighbours are rounded to f32 before they meet one.
[[nodiscard]] bool computes_in_f32(std::span<const tmajit::Tensor> sources);

/// How far sums of few numbers of up to about 2 may lie from each other for the order in which they are
/// rounded, relative to the larger of 1 and their size. `in_f32`: they were rounded to f32, whatever `type`
/// could hold.
[[nodiscard]] double sum_tolerance(tmajit::ElementType type, bool in_f32);

/// Whether elements are the same but for the roundings that sum_tolerance() allows. Kernels multiply and
/// add in one step.
[[nodiscard]] bool is_close(tmajit::ElementType type, bool in_f32, const std::byte* a, const std::byte* b);

}  // namespace reference
