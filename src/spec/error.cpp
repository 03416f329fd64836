#include "spec/enum_names.hpp"

#include <string>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ErrorCode, 10> names{
    "error code",
    {"invalid_argument", "illegal_spec", "compile_failed", "unavailable", "io", "out_of_memory",
     "device_failed", "invalid_image", "unsupported", "internal"}};

std::string sentence(const Violation& v) {
  return fmt::format("{} is {}, but must be {} [{}: {}]; legal: {}", v.subject, v.found, v.need, v.rule,
                     v.source, v.legal);
}

std::string summary(const std::vector<Violation>& violations) {
  if (violations.size() == 1) return "illegal: " + sentence(violations.front());
  std::string text = fmt::format("illegal, {} rules are broken:", violations.size());
  for (const auto& violation : violations) text += "\n  " + sentence(violation);
  return text;
}

}  // namespace

std::string_view name(ErrorCode code) noexcept {
  return names.of(code);
}
template <>
ErrorCode parse<ErrorCode>(std::string_view text) {
  return names.parse(text);
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

SpecError::SpecError(std::vector<Violation> violations)
    : Error(ErrorCode::illegal_spec, summary(violations)), violations_(std::move(violations)) {}

CompileError::CompileError(const std::string& message, std::string log)
    : Error(ErrorCode::compile_failed, message), log_(std::move(log)) {}

TMAJIT_END
