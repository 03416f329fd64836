#pragma once

/// printf of kernels: the format of C, its arguments as the CUDA device runtime lays them out.
#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace sim {

/// Where the arguments come from.
struct PrintSource {
  /// The next argument: `bytes` (4 or 8) at a multiple of as many.
  std::function<std::uint64_t(std::uint32_t bytes)> next;
  /// The characters at a generic address, to the first zero.
  std::function<std::string(std::uint64_t address)> text;
};

/// The text that `format` makes. What is no conversion that the runtime knows stands in it unchanged.
[[nodiscard]] std::string format_print(std::string_view format, const PrintSource& source);

}  // namespace sim
TMAJIT_END
