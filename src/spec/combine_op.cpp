#include "spec/enum_names.hpp"

#include <tmajit/combine.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<CombineOp, all_combine_ops.size()> combine_names{
    "operation", {"add", "min", "max", "inc", "dec", "and", "or", "xor"}};

/// The type that the copy engine adds elements of `type` as.
std::optional<ElementType> added_as(ElementType type) noexcept {
  using enum ElementType;
  switch (type) {
    case u32:
    case i32:
    case u64:
    case f32:
    case f16:
    case bf16: return type;
    case i64: return u64;  // the same bits
    case f32_ftz: return f32;
    default: return std::nullopt;
  }
}

/// The type that the copy engine computes the minimum and maximum of `type` as.
std::optional<ElementType> compared_as(ElementType type) noexcept {
  using enum ElementType;
  switch (type) {
    case u32:
    case i32:
    case u64:
    case i64:
    case f16:
    case bf16: return type;
    default: return std::nullopt;
  }
}

}  // namespace

std::string_view name(CombineOp op) noexcept {
  return combine_names.of(op);
}

template <>
CombineOp parse<CombineOp>(std::string_view text) {
  return combine_names.parse(text);
}

std::optional<ElementType> combined_as(CombineOp op, ElementType type) noexcept {
  if (!is_known(type)) return std::nullopt;
  switch (op) {
    case CombineOp::add: return added_as(type);
    case CombineOp::min:
    case CombineOp::max: return compared_as(type);
    case CombineOp::inc:
    case CombineOp::dec: return type == ElementType::u32 ? std::optional(ElementType::u32) : std::nullopt;
    case CombineOp::bit_and:
    case CombineOp::bit_or:
    case CombineOp::bit_xor: break;
    default: return std::nullopt;
  }
  if (size_of(type) == 4) return ElementType::u32;
  if (size_of(type) == 8) return ElementType::u64;
  return std::nullopt;
}

TMAJIT_END
