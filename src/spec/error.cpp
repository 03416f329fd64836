#include "spec/enum_names.hpp"
#include "spec/violations.hpp"

#include <string>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ErrorCode, 11> code_names{
    "error code",
    {"invalid_argument", "illegal_spec", "compile_failed", "unavailable", "io", "out_of_memory",
     "device_failed", "invalid_image", "unsupported", "internal", "missing_kernel"}};

std::string line(const Violation& v) {
  return fmt::format("{} [{}: {}]", sentence(v.subject, v.found, v.need, v.legal), v.rule, v.source);
}

std::string summary(const std::vector<Violation>& violations) {
  if (violations.size() == 1) return "illegal: " + line(violations.front());
  std::string text = fmt::format("illegal, {} rules are broken:", violations.size());
  for (const auto& violation : violations) text += "\n  " + line(violation);
  return text;
}

}  // namespace

std::string sentence(std::string_view subject, std::string_view found, std::string_view need,
                     std::string_view legal) {
  // A subject such as "operand: field" has a colon. It becomes a comma, so that the sentence has one colon.
  std::string place(subject);
  for (auto at = place.find(": "); at != std::string::npos; at = place.find(": ", at)) place[at] = ',';
  return fmt::format("{}: found {}; needs {}; nearest legal: {}", place, found, need, legal);
}

std::string_view name(ErrorCode code) noexcept {
  return code_names.of(code);
}
template <>
ErrorCode parse<ErrorCode>(std::string_view text) {
  return code_names.parse(text);
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

SpecError::SpecError(std::vector<Violation> violations)
    : Error(ErrorCode::illegal_spec, summary(violations)), violations_(std::move(violations)) {}

CompileError::CompileError(const std::string& message, std::string log)
    : Error(ErrorCode::compile_failed, message), log_(std::move(log)) {}

TMAJIT_END
