#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

// What NumPy and ml_dtypes call these types.
constexpr std::pair<std::string_view, ElementType> numpy_names[] = {
    {"uint8", ElementType::u8},           {"int8", ElementType::i8},          {"uint16", ElementType::u16},
    {"int16", ElementType::i16},          {"uint32", ElementType::u32},       {"int32", ElementType::i32},
    {"uint64", ElementType::u64},         {"int64", ElementType::i64},        {"float16", ElementType::f16},
    {"bfloat16", ElementType::bf16},      {"float32", ElementType::f32},      {"float64", ElementType::f64},
    {"float8_e4m3fn", ElementType::e4m3}, {"float8_e5m2", ElementType::e5m2},
};

}  // namespace

std::string_view name(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8: return "u8";
    case ElementType::i8: return "i8";
    case ElementType::u16: return "u16";
    case ElementType::i16: return "i16";
    case ElementType::u32: return "u32";
    case ElementType::i32: return "i32";
    case ElementType::u64: return "u64";
    case ElementType::i64: return "i64";
    case ElementType::f16: return "f16";
    case ElementType::bf16: return "bf16";
    case ElementType::f32: return "f32";
    case ElementType::f32_ftz: return "f32_ftz";
    case ElementType::f64: return "f64";
    case ElementType::tf32: return "tf32";
    case ElementType::tf32_ftz: return "tf32_ftz";
    case ElementType::e4m3: return "e4m3";
    case ElementType::e5m2: return "e5m2";
  }
  return "unknown";
}

ElementType parse_element_type(std::string_view text) {
  std::string legal;
  for (const auto type : all_element_types) {
    if (name(type) == text) return type;
    legal += fmt::format("{}{}", legal.empty() ? "" : ", ", name(type));
  }
  for (const auto& [spelling, type] : numpy_names) {
    if (spelling == text) return type;
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no element type is called \"{}\"; legal: {}, or NumPy's names", text, legal));
}

TMAJIT_END
