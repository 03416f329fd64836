#pragma once

/// The rules that the simulator and lint report: one list, so that both report a mistake by the same rule.
#include "check/rule_table.hpp"

TMAJIT_BEGIN
namespace check {

/// The index of the rule with that id in `rules`; std::size(rules) if there is none.
[[nodiscard]] constexpr std::size_t index_of(std::string_view id) noexcept {
  const auto* const found = std::ranges::lower_bound(rules, id, {}, &Rule::id);
  const bool is_known = found != std::end(rules) && found->id == id;
  return is_known ? static_cast<std::size_t>(found - std::begin(rules)) : std::size(rules);
}

/// The rule with that id; null if there is none.
[[nodiscard]] constexpr const Rule* find(std::string_view id) noexcept {
  const std::size_t index = index_of(id);
  return index < std::size(rules) ? &rules[index] : nullptr;
}

/// A rule by its id. The compiler looks up the rule of a literal, and rejects an unknown id.
class RuleId {
 public:
  template <std::size_t length>
  consteval RuleId(const char (&id)[length])  // NOLINT: "mbarrier.count" converts implicitly
      : rule_(&known(index_of(id))) {}
  explicit constexpr RuleId(const Rule& rule) noexcept : rule_(&rule) {}

  [[nodiscard]] constexpr const Rule* operator->() const noexcept { return rule_; }

 private:
  // Looked up by index: with GCC 12's sanitizers a comparison of a rule's address with null is not constant.
  static constexpr const Rule& known(std::size_t index) {
    return index < std::size(rules) ? rules[index] : throw "no such rule";
  }

  const Rule* rule_;
};

/// The remedy of wgmma.register-in-flight if the PTX waits for the product only after the access.
inline constexpr std::string_view moved_before_wait =
    "if the access follows the wait in the source, the compiler has moved it ahead, because the wait does "
    "not name the registers: after the wait, fence each accumulator by asm volatile(\"\" : \"+f\"(d[i]) :: "
    "\"memory\") (cute::warpgroup_fence_operand); if it precedes the wait, wait earlier";

/// Whether a module uses tmajit's device headers, so that remedies can name their functions.
[[nodiscard]] bool uses_device_headers(std::string_view ptx);

/// Adds to the finding's remedy the function of tmajit's device headers that implements it.
void name_helper(Finding& finding);

/// Sets the finding's rule, severity and texts. An empty `expected` or `remedy` stands for the rule's own
/// text.
void describe(Finding& finding, RuleId rule, std::string found, std::string expected,
              std::string_view remedy);

/// "no rule is called mbarier.count; did you mean mbarrier.count?", or an empty text if the rule exists.
[[nodiscard]] std::string why_unknown(std::string_view id);

/// ", source scale.cu:18", or ", source line 18" without a file name; empty without line information.
[[nodiscard]] std::string source_location(const Finding& finding);
/// The last two lines of a finding's text: the legal behaviour and the remedy.
[[nodiscard]] std::string advice(const Finding& finding);

}  // namespace check
TMAJIT_END
