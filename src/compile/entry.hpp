#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Whether the text is an identifier: "scale", but not "scale<3>", "my::scale" or "".
[[nodiscard]] bool is_identifier(std::string_view text) noexcept;

/// Whether a source's entry is a C++ expression, which NVRTC looks up (nvrtcAddNameExpression).
[[nodiscard]] inline bool is_name_expression(std::string_view entry) noexcept {
  return !entry.empty() && !is_identifier(entry);
}

/// The symbol in `ptx` of the kernel `entry`: `entry` itself if it is extern "C", or the mangled name of the
/// only function of that name. An empty `entry` stands for the only kernel. If no kernel or more than one
/// matches, throws a CompileError that lists the kernels of `ptx`.
[[nodiscard]] std::string find_entry(std::string_view entry, std::string_view ptx, const std::string& log);

TMAJIT_END
