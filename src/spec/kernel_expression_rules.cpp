#include "spec/kernel_rules.hpp"
#include "spec/limits.hpp"

#include <algorithm>
#include <string_view>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void add(std::string_view rule, std::string found, std::string_view need, std::string_view legal,
         Violations& violations) {
  violations.add({.rule = std::string(rule),
                  .subject = "expression",
                  .found = std::move(found),
                  .need = std::string(need),
                  .legal = std::string(legal),
                  .source = "tmajit, KernelSpec"});
}

}  // namespace

void check_expression(const KernelSpec& spec, Violations& violations) {
  // Not expression_text(): that runs past the end of an array without a NUL.
  const auto& characters = spec.expression;
  const auto end = std::ranges::find(characters, '\0');
  if (end == characters.end()) {
    add("expression.length", fmt::format("more than {} characters", max_expression),
        fmt::format("at most {} characters and a NUL", max_expression), "a shorter expression", violations);
    return;
  }
  if (std::any_of(end, characters.end(), [](char c) { return c != '\0'; })) {
    add("expression.tail", "bytes after the NUL",
        "zero beyond its end, so that equal kernels are equal bytes", "a zeroed tail", violations);
  }
  const std::string_view text(characters.data(), static_cast<std::size_t>(end - characters.begin()));
  if (!computes(spec.family)) {
    if (text.empty()) return;
    add("expression.none", fmt::format("\"{}\"", text.substr(0, 40)),
        fmt::format("empty for a {} kernel, which computes nothing", name(spec.family)),
        "no expression, or a map kernel", violations);
    return;
  }
  const auto control =
      std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control != text.end()) {
    add("expression.characters",
        fmt::format("character {:#04x} at {}", static_cast<unsigned>(static_cast<unsigned char>(*control)),
                    control - text.begin()),
        "one line of printable characters", "spaces in place of tabs and line ends", violations);
  }
  if (text.find_first_not_of(' ') == std::string_view::npos) {
    add("expression.empty", "empty", fmt::format("what a {} kernel computes", name(spec.family)),
        "an expression over x, such as \"x\"", violations);
  }
}

TMAJIT_END
