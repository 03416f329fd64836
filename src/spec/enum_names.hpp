#pragma once

#include "spec/suggestion.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <string_view>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

/// Names of the enumerators of `Enum`, in their order; `Enum` counts from 0.
template <typename Enum, std::size_t count>
struct EnumNames {
  std::string_view kind;  ///< name in errors: "swizzle"
  std::array<const char*, count> names;

  [[nodiscard]] constexpr const char* of(Enum value) const noexcept {
    const auto number = static_cast<std::size_t>(value);
    return number < count ? names[number] : "unknown";
  }
  /// Throws Error{invalid_argument} that lists the legal names and suggests the nearest one.
  [[nodiscard]] Enum parse(std::string_view text) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == text) return static_cast<Enum>(i);
    }
    throw Error(ErrorCode::invalid_argument, fmt::format("no {} is called \"{}\"; legal: {}{}", kind, text,
                                                         fmt::join(names, ", "), suggestion(text, names)));
  }
};

TMAJIT_END
