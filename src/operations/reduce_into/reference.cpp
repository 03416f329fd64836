#include "operations/reduce_into/reference.hpp"

#include "operations/references.hpp"
#include "reference/engine_reduction.hpp"
#include "reference/walk.hpp"

namespace reference {

using tmajit::CombineOp;
using tmajit::ElementType;

namespace {

/// The engine's enumerator of an operation: both enumerations have the same order.
EngineReduction engine_name(CombineOp op) noexcept {
  return static_cast<EngineReduction>(op);
}

/// The type as which the engine combines elements: unsigned integers for bit operations.
ElementType engine_type(CombineOp op, ElementType type) noexcept {
  if (op >= CombineOp::bit_and) return size_of(type) == 4 ? ElementType::u32 : ElementType::u64;
  return type == ElementType::f32_ftz ? ElementType::f32 : type;
}

}  // namespace

void combine(CombineOp op, ElementType type, std::byte* element, const std::byte* value) {
  combine(engine_name(op), engine_type(op, type), element, value);
}

void combine(const tmajit::Tensor& destination, CombineOp op, const tmajit::Tensor& source) {
  for_each_pair(destination, source, [&](std::byte* element, const std::byte* value) {
    combine(op, destination.view.type, element, value);
  });
}

namespace {

constexpr OperationReference reduce_into_reference{.compute =
                                                       [](const tmajit::Move& move, const Part& part) {
                                                         combine(part_of(move.destination, part),
                                                                 std::get<tmajit::ReduceInto>(move.body).op,
                                                                 part_of(move.sources.front(), part));
                                                       },
                                                   .makes_values = computes};

}  // namespace

const OperationReference& reference_of(const tmajit::ReduceInto& /*reduce_into*/) noexcept {
  return reduce_into_reference;
}

}  // namespace reference
