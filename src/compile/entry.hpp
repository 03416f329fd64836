#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// "scale", not "scale<3>", "my::scale" or "".
[[nodiscard]] bool is_identifier(std::string_view text) noexcept;

/// Whether a source's entry is a C++ expression, which NVRTC looks up (nvrtcAddNameExpression).
[[nodiscard]] inline bool is_name_expression(std::string_view entry) noexcept {
  return !entry.empty() && !is_identifier(entry);
}

/// The name in `ptx` of the kernel `entry`: an extern "C" one's own, or the mangled one of the only function
/// of that name; of "" the only kernel there is. Throws CompileError that names the kernels that there are.
[[nodiscard]] std::string find_entry(std::string_view entry, std::string_view ptx, const std::string& log);

TMAJIT_END
