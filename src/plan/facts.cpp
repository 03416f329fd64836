#include "plan/facts.hpp"

#include "kernel/plan_state.hpp"
#include "spec/inside.hpp"

#include <optional>
#include <string_view>
#include <utility>

TMAJIT_BEGIN
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with(';') || text.ends_with('}')) text.remove_suffix(1);
  return text;
}

std::string_view last_word(std::string_view text) {
  const std::size_t space = text.find_last_of(' ');
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

/// The fact that a line of kernel/facts_text.hpp declares: "constexpr u32 stages = 4;  // comment", "using
/// Ends = struct EndsAlone;" or "__device__ constexpr Extent<2> box() { return {{64, 64}}; }".
std::optional<KernelFact> fact_of(std::string_view line) {
  line = line.substr(0, line.find("//"));
  if (line.starts_with(' ')) return std::nullopt;  // a line of a function
  constexpr std::string_view returns = "() { return ";
  if (const std::size_t at = line.find(returns); at != std::string_view::npos) {
    const std::string_view numbers =
        trimmed(line.substr(at + returns.size() + 1));  // without the outer brace
    return KernelFact{.name = std::string(last_word(line.substr(0, at))),
                      .value = std::string(numbers) + "}"};
  }
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || line.find('(') < equals) return std::nullopt;
  std::string_view value = trimmed(line.substr(equals + 3));
  if (constexpr std::string_view prefix = "struct "; value.starts_with(prefix))
    value.remove_prefix(prefix.size());
  return KernelFact{std::string(last_word(line.substr(0, equals))), std::string(value)};
}

}  // namespace

std::vector<KernelFact> facts_by_name(const KernelPlan& plan) {
  const KernelPlanState& state = *Inside::state(plan);
  const std::string text = state.candidate.family->source(state.candidate, plan.expression()).facts;
  std::vector<KernelFact> facts;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (auto fact = fact_of(rest.substr(0, end))) facts.push_back(std::move(*fact));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return facts;
}

TMAJIT_END
