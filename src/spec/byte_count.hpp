#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

TMAJIT_BEGIN

/// The values that parse_byte_count() accepts, for messages.
inline constexpr std::string_view byte_count_forms =
    "a number of bytes, or of a unit: 500000, 64KiB, 500MiB, 4GiB, 1TiB";

/// The number of bytes that `text` gives; nullopt if it gives none.
[[nodiscard]] inline std::optional<std::uint64_t> parse_byte_count(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 10> units{{{"", 0},
                                                                         {"B", 0},
                                                                         {"KiB", 10},
                                                                         {"MiB", 20},
                                                                         {"GiB", 30},
                                                                         {"TiB", 40},
                                                                         {"K", 10},
                                                                         {"M", 20},
                                                                         {"G", 30},
                                                                         {"T", 40}}};
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  for (const auto& [name, shift] : units) {
    if (name == unit && number <= std::numeric_limits<std::uint64_t>::max() >> shift) return number << shift;
  }
  return std::nullopt;
}

TMAJIT_END
