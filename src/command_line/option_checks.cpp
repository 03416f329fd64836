#include "command_line/option_checks.hpp"

#include "spec/suggestion.hpp"

#include <string>
#include <utility>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace command_line {
namespace {

/// A validator: `check` returns an error message, or "" for a legal value. Its description is `names` in
/// braces, as in CLI::IsMember, because describe() reads the names from there.
template <class Check>
CLI::Validator validator(Check check, const std::vector<std::string_view>& names = {}) {
  const auto description = names.empty() ? std::string() : fmt::format("{{{}}}", fmt::join(names, ","));
  return CLI::Validator([check = std::move(check)](std::string& text) { return check(text); }, description);
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

CLI::Validator one_of(const std::vector<std::string_view>& names) {
  return validator(
      [names](const std::string& text) {
        for (const auto name : names) {
          if (name == text) return std::string();
        }
        return fmt::format("there is no \"{}\"; legal: {}{}", text, fmt::join(names, ", "),
                           suggestion(text, names));
      },
      names);
}

CLI::Validator offers(const std::vector<std::string_view>& names) {
  return validator([](const std::string&) { return std::string(); }, names);
}

CLI::Validator not_empty() {
  return validator([](const std::string& text) {
    return text.empty() ? std::string("the value is empty; give one, or leave the option out")
                        : std::string();
  });
}

}  // namespace command_line
TMAJIT_END
