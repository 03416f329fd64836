#include "spec/enum_names.hpp"

#include <tmajit/out_of_range.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<OutOfRange, all_out_of_range.size()> out_of_range_names{"policy",
                                                                            {"skip", "clamp", "error"}};

}  // namespace

std::string_view name(OutOfRange policy) noexcept {
  return out_of_range_names.of(policy);
}

template <>
OutOfRange parse<OutOfRange>(std::string_view text) {
  return out_of_range_names.parse(text);
}

TMAJIT_END
