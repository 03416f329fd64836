#include "spec/enum_names.hpp"
#include "spec/numpy_types.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>

#include <vector>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ElementType, all_element_types.size()> type_names{
    "element type",
    {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f32_ftz", "f64", "tf32",
     "tf32_ftz", "e4m3", "e5m2"}};

}  // namespace

std::string_view name(ElementType type) noexcept {
  return type_names.of(type);
}

template <>
ElementType parse<ElementType>(std::string_view text) {
  for (const auto type : all_element_types) {
    if (name(type) == text || (!text.empty() && numpy_name(type) == text)) return type;
  }
  std::vector<std::string_view> known(type_names.names.begin(), type_names.names.end());
  for (const auto type : all_element_types) known.push_back(numpy_name(type));
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no element type is called \"{}\"; legal: {}, or NumPy's names{}", text,
                          fmt::join(type_names.names, ", "), suggestion(text, known)));
}

TMAJIT_END
