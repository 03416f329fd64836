#include "spec/enum_names.hpp"

#include <tmajit/missing_kernel.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<WhenMissing, 3> when_names{"choice for missing kernels", {"compile", "serve", "refuse"}};

/// "the kernel transpose 64x64, 256 threads of a copy (f32, 512x1024)".
std::string subject(const MissingKernel& missing) {
  if (missing.family.empty()) return "this kernel of your own";
  const auto& [operation, types, shape] = missing.made_for;
  return fmt::format("the kernel {} for {} ({}, {})", missing.choice, operation, types, shape);
}

std::string searched(const MissingKernel& missing) {
  return missing.levels.empty() ? "there is neither a pack nor a cache directory"
                                : fmt::format("it is not in {}", fmt::join(missing.levels, ", "));
}

std::string key_text(const MissingKernel& missing) {
  const bool has_key = std::ranges::any_of(missing.key.digest, [](std::uint8_t byte) { return byte != 0; });
  return has_key ? fmt::format("its key is {}", missing.key.hex())
                 : "it has no key, because no level names a compiler";
}

std::string nearest(const MissingKernel& missing) {
  if (missing.nearest.empty()) return "no other kernel that can do this is there either";
  std::string text = fmt::format("the nearest kernel that is there, {}, differs in ", missing.nearest);
  std::string_view separator;
  for (const auto& [fact, of_missing, of_nearest] : missing.differences) {
    text += fmt::format("{}{} ({}, here {})", separator, fact, of_nearest.empty() ? "none" : of_nearest,
                        of_missing.empty() ? "none" : of_missing);
    separator = ", ";
  }
  return text;
}

std::string message(const MissingKernel& missing) {
  return fmt::format(
      "this runtime may not compile (WhenMissing::refuse), and it has no compiled code of {}: {}; {}; {}. "
      "Make the kernel beforehand (docs/ready.md), or choose WhenMissing::compile or serve.",
      subject(missing), searched(missing), key_text(missing), nearest(missing));
}

}  // namespace

std::string_view name(WhenMissing when) noexcept {
  return when_names.of(when);
}
template <>
WhenMissing parse<WhenMissing>(std::string_view text) {
  return when_names.parse(text);
}

MissingKernelError::MissingKernelError(MissingKernel missing)
    : Error(ErrorCode::missing_kernel, message(missing)), missing_(std::move(missing)) {}

TMAJIT_END
