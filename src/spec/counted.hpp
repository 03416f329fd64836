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

TMAJIT_END
