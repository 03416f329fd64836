#include "reference/combine.hpp"

#include "reference/engine_reduction.hpp"

#include <array>
#include <cstdint>

namespace reference {

using tmajit::CombineOp;
using tmajit::ElementType;

namespace {

/// The engine's name of an operation: the same words in the same order.
EngineReduction engine_name(CombineOp op) noexcept {
  return static_cast<EngineReduction>(op);
}

/// What the engine takes an element for: bits are those of an integer.
ElementType engine_type(CombineOp op, ElementType type) noexcept {
  if (op >= CombineOp::bit_and) return size_of(type) == 4 ? ElementType::u32 : ElementType::u64;
  return type == ElementType::f32_ftz ? ElementType::f32 : type;
}

}  // namespace

void combine(CombineOp op, ElementType type, std::byte* element, const std::byte* value) {
  combine(engine_name(op), engine_type(op, type), element, value);
}

void combine(const tmajit::Tensor& destination, CombineOp op, const tmajit::Tensor& source) {
  const tmajit::TensorView& view = destination.view;
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  std::array<std::uint64_t, tmajit::max_view_rank> index{};
  for (std::uint64_t left = view.elements(); left > 0; --left) {
    std::int64_t to = 0;
    std::int64_t from = 0;
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      to += static_cast<std::int64_t>(index[d]) * view.strides[d] * size;
      from += static_cast<std::int64_t>(index[d]) * source.view.strides[d] * size;
    }
    // NOLINTBEGIN(performance-no-int-to-ptr): host memory by contract
    combine(op, view.type, reinterpret_cast<std::byte*>(destination.address + static_cast<std::uint64_t>(to)),
            reinterpret_cast<const std::byte*>(source.address + static_cast<std::uint64_t>(from)));
    // NOLINTEND(performance-no-int-to-ptr)
    for (std::uint32_t d = view.rank; d-- > 0;) {
      if (++index[d] < view.shape[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace reference
