#pragma once

/// The rules that the simulator and lint report: one list, so that both report a mistake alike.
#include "check/rule_table.hpp"

TMAJIT_BEGIN
namespace check {

/// Where the rule with that id stands; std::size(rules) if there is none.
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
  consteval RuleId(const char (&id)[length])  // NOLINT: "mbarrier.count" is to be a rule by itself
      : rule_(&known(index_of(id))) {}
  explicit constexpr RuleId(const Rule& rule) noexcept : rule_(&rule) {}

  [[nodiscard]] constexpr const Rule* operator->() const noexcept { return rule_; }

 private:
  // By its index: to GCC 12's sanitizers a comparison of its address with null is not constant.
  static constexpr const Rule& known(std::size_t index) {
    return index < std::size(rules) ? rules[index] : throw "no such rule";
  }

  const Rule* rule_;
};

/// A remedy of wgmma.register-in-flight where a wait for the product stands behind the access in the PTX.
inline constexpr std::string_view moved_before_wait =
    "if the access stands behind the wait in the source, the compiler has moved it ahead: the wait does not "
    "name "
    "the registers, so fence each accumulator after it by asm volatile(\"\" : \"+f\"(d[i]) :: \"memory\") "
    "(cute::warpgroup_fence_operand); else wait before the access";

/// Whether a module uses our device headers, so that remedies name their functions, too.
[[nodiscard]] bool uses_device_headers(std::string_view ptx);

/// Adds to a remedy the function of our device headers that does what it says.
void name_helper(Finding& finding);

/// Gives the finding its rule and its words; where `expected` or `remedy` is empty the rule's own stand for
/// it.
void describe(Finding& finding, RuleId rule, std::string found, std::string expected,
              std::string_view remedy);

/// "no rule is called mbarier.count; did you mean mbarrier.count?", or nothing if there is one.
[[nodiscard]] std::string why_unknown(std::string_view id);

/// ", source scale.cu:18", or ", source line 18" where no file is named; empty without line information.
[[nodiscard]] std::string source_place(const Finding& finding);
/// Returns the end of every finding's text: what is legal, and what helps, a line each.
[[nodiscard]] std::string advice(const Finding& finding);

}  // namespace check
TMAJIT_END
