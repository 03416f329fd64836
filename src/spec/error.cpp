#include <tmajit/error.hpp>

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::string sentence(const Violation& v) {
  return fmt::format("{} is {}, but must be {} [{}: {}]; legal: {}", v.subject, v.found, v.need, v.rule,
                     v.source, v.legal);
}

std::string summary(const std::vector<Violation>& violations) {
  if (violations.size() == 1) return "illegal spec: " + sentence(violations.front());
  std::string text = fmt::format("illegal spec, {} rules broken:", violations.size());
  for (const auto& violation : violations) text += "\n  " + sentence(violation);
  return text;
}

}  // namespace

const char* name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::illegal_spec: return "illegal_spec";
    case ErrorCode::compile_failed: return "compile_failed";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::io: return "io";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device_failed: return "device_failed";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

SpecError::SpecError(std::vector<Violation> violations)
    : Error(ErrorCode::illegal_spec, summary(violations)), violations_(std::move(violations)) {}

CompileError::CompileError(const std::string& message, std::string log)
    : Error(ErrorCode::compile_failed, message), log_(std::move(log)) {}

TMAJIT_END
