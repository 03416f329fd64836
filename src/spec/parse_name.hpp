#pragma once

#include <tmajit/error.hpp>

#include <span>
#include <string_view>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// The enumerator that is called `text`; `what` names the kind in the error ("swizzle").
template <typename Enum>
[[nodiscard]] Enum parse_name(std::string_view text, std::string_view what, std::span<const Enum> values) {
  std::string legal;
  for (const Enum value : values) {
    if (name(value) == text) return value;
    legal += fmt::format("{}{}", legal.empty() ? "" : ", ", name(value));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no {} is called \"{}\"; legal: {}", what, text, legal));
}

TMAJIT_END
