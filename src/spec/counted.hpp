#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// "1 kernel", "3 kernels"
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text.append(" ").append(noun);
  if (count != 1) text += 's';
  return text;
}

/// "no number is", "1 number is", "3 numbers are"
[[nodiscard]] inline std::string counted_are(std::uint64_t count, std::string_view noun) {
  if (count == 0) return "no " + std::string(noun) + " is";
  return counted(count, noun) + (count == 1 ? " is" : " are");
}

TMAJIT_END
