#include "option_checks.hpp"

#include "spec/suggestion.hpp"

#include <string>
#include <utility>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// A validator: `check` returns an error message, or "" for a legal value. It has no name, which the help
/// would show.
template <class Check>
CLI::Validator validator(Check check) {
  return CLI::Validator([check = std::move(check)](std::string& text) { return check(text); }, "");
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  // CLI11 itself reads -1 and numbers that are too large as the largest number.
  return validator([=](const std::string& text) {
    std::uint64_t number = 0;
    const bool is_number = !llvm::StringRef(text).getAsInteger(0, number);
    return is_number && number >= least && number <= most
               ? std::string()
               : fmt::format("\"{}\" is no whole number from {} to {}", text, least, most);
  });
}

CLI::Validator one_of(std::vector<std::string_view> names) {
  return validator([names = std::move(names)](const std::string& text) {
    for (const auto name : names) {
      if (name == text) return std::string();
    }
    return fmt::format("there is no \"{}\"; legal: {}{}", text, fmt::join(names, ", "),
                       tmajit::suggestion(text, names));
  });
}

CLI::Validator not_empty() {
  return validator([](const std::string& text) {
    return text.empty() ? std::string("the value is empty; give one, or leave the option out")
                        : std::string();
  });
}

}  // namespace jitc
