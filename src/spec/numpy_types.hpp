#pragma once

#include <tmajit/element_type.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The name of an element type in NumPy or ml_dtypes, which parse<ElementType>() takes, too; empty if it has
/// none there. A function, because the libraries share no variable.
[[nodiscard]] constexpr std::string_view numpy_name(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8: return "uint8";
    case ElementType::i8: return "int8";
    case ElementType::u16: return "uint16";
    case ElementType::i16: return "int16";
    case ElementType::u32: return "uint32";
    case ElementType::i32: return "int32";
    case ElementType::u64: return "uint64";
    case ElementType::i64: return "int64";
    case ElementType::f16: return "float16";
    case ElementType::bf16: return "bfloat16";
    case ElementType::f32: return "float32";
    case ElementType::f64: return "float64";
    case ElementType::e4m3: return "float8_e4m3fn";
    case ElementType::e5m2: return "float8_e5m2";
    default: return {};
  }
}

TMAJIT_END
