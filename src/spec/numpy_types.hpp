#pragma once

#include <tmajit/element_type.hpp>

#include <string_view>
#include <utility>

TMAJIT_BEGIN

/// The names of element types in NumPy and ml_dtypes, which parse<ElementType>() takes, too.
inline constexpr std::pair<std::string_view, ElementType> numpy_names[] = {
    {"uint8", ElementType::u8},           {"int8", ElementType::i8},          {"uint16", ElementType::u16},
    {"int16", ElementType::i16},          {"uint32", ElementType::u32},       {"int32", ElementType::i32},
    {"uint64", ElementType::u64},         {"int64", ElementType::i64},        {"float16", ElementType::f16},
    {"bfloat16", ElementType::bf16},      {"float32", ElementType::f32},      {"float64", ElementType::f64},
    {"float8_e4m3fn", ElementType::e4m3}, {"float8_e5m2", ElementType::e5m2},
};

TMAJIT_END
