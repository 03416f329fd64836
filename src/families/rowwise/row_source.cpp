#include "families/rowwise/row_source.hpp"

#include "families/shared/reducer_name.hpp"
#include "families/shared/reduction_team.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

class RowStepsWriter {
 public:
  RowStepsWriter(std::span<const RowStep> steps, std::span<const std::string_view> types,
                 std::vector<bool> kept)
      : steps_(steps), types_(types), kept_(std::move(kept)) {}

  [[nodiscard]] bool is_kept(std::uint32_t number) const { return kept_[number]; }

  /// The statement "const auto name = (expression);". The expression is on a line of its own, which the
  /// compiler's messages call by the step's name.
  [[nodiscard]] std::string statement(const RowStep& step, std::string_view indent) const {
    return fmt::format("{0}const auto {1} = (\n//@ text {1}: {2}\n{0});\n", indent, step.name,
                       step.expression);
  }

  /// A lambda that computes the step's expression for an element. For a kept step the lambda reads the value
  /// from its register, unless `computed` is set.
  [[nodiscard]] std::string element(std::uint32_t number, bool computed = false) const {
    std::vector<std::string> parameters{"const i32 i", "const u32 slot"};
    for (std::size_t s = 0; s < types_.size(); ++s) {
      parameters.push_back(
          fmt::format("const {} {}", types_[s], types_.size() == 1 ? "x" : fmt::format("x{}", s)));
    }
    std::string out = fmt::format("[&]({}) {{\n", fmt::join(parameters, ", "));
    if (kept_[number] && !computed)
      return out + fmt::format("    return kept_{}.at[slot];\n  }}", steps_[number].name);
    if (types_.size() == 1 && reads_x0(number)) out += "    const auto x0 = x;\n";
    std::vector<bool> done(steps_.size());
    add_element_steps(out, number, done);
    return out + fmt::format("    return (\n//@ text {}: {}\n    );\n  }}", steps_[number].name,
                             steps_[number].expression);
  }

 private:
  /// Adds the statements of the steps with a value for each element that step `number` reads.
  void add_element_steps(std::string& out, std::uint32_t number, std::vector<bool>& done) const {
    for (const std::uint32_t read : steps_[number].reads) {
      if (steps_[read].by_row() || done[read]) continue;
      done[read] = true;
      if (kept_[read]) {
        out += fmt::format("    const auto {0} = kept_{0}.at[slot];\n", steps_[read].name);
        continue;
      }
      add_element_steps(out, read, done);
      out += statement(steps_[read], "    ");
    }
  }
  [[nodiscard]] bool reads_x0(std::uint32_t number) const {
    return reads(steps_[number].expression, "x0") ||
           std::ranges::any_of(steps_[number].reads, [&](std::uint32_t read) {
             return !steps_[read].by_row() && !kept_[read] && reads_x0(read);
           });
  }

  std::span<const RowStep> steps_;
  std::span<const std::string_view> types_;
  std::vector<bool> kept_;
};

/// Whether an expression calls a function whose value is worth a register. fast_exp and intrinsics, whose
/// names begin with two underscores, are a few instructions, so they are computed again.
bool calls_costly_function(std::string_view text) {
  for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, open - begin);
    if (!name.empty() && !name.starts_with("__") && name != "fast_exp") return true;
  }
  return false;
}

/// Recognises the sum of "name == i ? value : 0", where only the element with index `name` has a term other
/// than zero. Returns that name; empty for other reductions.
std::string index_of_only_term(const RowStep& step, std::span<const RowStep> steps) {
  if (step.reduction != ReductionOp::sum) return {};
  std::string text = step.expression;
  std::erase(text, ' ');
  const std::size_t condition = text.find("==i?");
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, std::min(condition, text.size()));
  const bool is_by_row = std::ranges::any_of(
      step.reads, [&](std::uint32_t read) { return steps[read].by_row() && steps[read].name == name; });
  const bool has_one_choice = condition != std::string::npos && std::ranges::count(text, '?') == 1 &&
                              std::ranges::count(text, ':') == 1;
  if (!is_by_row || !has_one_choice) return {};
  const std::string zero = text.substr(colon + 1);
  return zero == "0" || zero == "0.0" || zero == "0.0f" ? name : std::string{};
}

/// Whether one element gives a reduction's result, as its values are equal for all elements of a row. Its
/// expression may read only the sources `once`, which have one element for a row, and values of the row.
bool reduces_constant(const RowStep& step, std::span<const RowStep> steps, std::uint32_t once) {
  using enum ReductionOp;
  const ReductionOp op = *step.reduction;
  return (op == min || op == max || op == any || op == all) && (step.sources & ~once) == 0 &&
         !reads(step.expression, "i") &&
         std::ranges::all_of(step.reads, [&](std::uint32_t read) { return steps[read].by_row(); });
}

}  // namespace

std::vector<bool> needed_steps(std::span<const RowStep> steps, std::span<const std::uint32_t> results) {
  std::vector<bool> needed(steps.size());
  for (std::size_t k = steps.size(); k-- > 0;) {
    const auto& destination = steps[k].destination;
    if (destination && std::ranges::find(results, *destination) != results.end()) needed[k] = true;
    if (!needed[k]) continue;
    for (const std::uint32_t read : steps[k].reads) needed[read] = true;
  }
  return needed;
}

std::vector<bool> kept_steps(std::span<const RowStep> steps, std::span<const std::uint32_t> results) {
  const std::vector<bool> needed = needed_steps(steps, results);
  std::vector<std::uint32_t> readers(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (!needed[k]) continue;
    if (steps[k].destination) ++readers[k];
    for (const std::uint32_t read : steps[k].reads) ++readers[read];
  }
  std::vector<bool> kept(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    kept[k] = !steps[k].by_row() && calls_costly_function(steps[k].expression) && readers[k] > 1;
  }
  return kept;
}

std::uint32_t early_sources(std::span<const RowStep> steps, std::span<const std::uint32_t> results) {
  const std::vector<bool> needed = needed_steps(steps, results);
  const std::vector<bool> kept = kept_steps(steps, results);
  std::vector<bool> is_early(steps.size());
  std::uint32_t sources = 0;
  for (std::size_t k = steps.size(); k-- > 0;) {
    is_early[k] = is_early[k] || (needed[k] && (steps[k].reduction || kept[k]));
    if (!is_early[k]) continue;
    sources |= steps[k].sources;
    for (const std::uint32_t read : steps[k].reads) is_early[read] = is_early[read] || !steps[read].by_row();
  }
  return sources;
}

std::uint32_t reductions_of(std::span<const RowStep> steps, std::span<const std::uint32_t> results) {
  const std::vector<bool> needed = needed_steps(steps, results);
  std::uint32_t count = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) count += needed[k] && steps[k].reduction ? 1 : 0;
  return count;
}

std::uint32_t state_bytes_of(std::span<const RowStep> steps, std::span<const std::uint32_t> results) {
  const std::vector<bool> needed = needed_steps(steps, results);
  std::uint32_t bytes = 0;
  for (std::size_t k = 0; k < steps.size(); ++k)
    bytes += needed[k] && steps[k].reduction ? max_state_bytes(*steps[k].reduction) : 0;
  return bytes;
}

std::string row_steps_text(std::span<const RowStep> steps, std::span<const std::string_view> types,
                           std::span<const std::string_view> numbers, std::span<const std::uint32_t> results,
                           std::uint32_t once, bool keeps, std::span<const OnlinePair> pairs) {
  const RowStepsWriter writer(steps, types,
                              keeps ? kept_steps(steps, results) : std::vector<bool>(steps.size()));
  const std::vector<bool> needed = needed_steps(steps, results);
  std::string out =
      "\n// ---- the user's steps ----\nnamespace tmajit {\n\n// For a row of n elements. `steps` calls each "
      "function "
      "with the values of an element of the sources, its index i, and its number among the thread's "
      "elements.\ntemplate <class Steps>\n__device__ "
      "__forceinline__ void run_steps(const i32 n, const Steps& steps) {\n";
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    out += fmt::format("  const {0} p{1} = steps.template number<{0}, {2}>();\n", numbers[k], k,
                       1 + types.size() + k);
  }
  std::uint32_t reductions = 0;
  for (std::uint32_t k = 0; k < steps.size(); ++k) {
    const RowStep& step = steps[k];
    if (needed[k] && writer.is_kept(k))
      out += fmt::format("  const auto kept_{} = steps.kept({});\n", step.name, writer.element(k, true));
    if (!needed[k] || !step.by_row()) continue;
    const auto first = std::ranges::find(pairs, k, &OnlinePair::first);
    const auto second = std::ranges::find(pairs, k, &OnlinePair::second);
    if (first != pairs.end()) {
      out += fmt::format(
          "  const auto pair_{0} = steps.template reduced<{1}, {2}>({3});\n  const auto {0} = "
          "pair_{0}.first;\n",
          step.name, first->reducer, reductions++, writer.element(k));
    } else if (second != pairs.end()) {
      out += fmt::format("  const auto {} = pair_{}.second{};\n", step.name, steps[second->first].name,
                         second->is_mean ? " / n" : "");
    } else if (step.reduction && reduces_constant(step, steps, once)) {
      std::vector<std::uint32_t> read;
      for (std::uint32_t s = 0; s < types.size(); ++s) {
        if ((step.sources >> s & 1) != 0) read.push_back(s);
      }
      out += fmt::format("  const auto {} = steps.template reduced_constant<{}>(Indices<{}>{{}}, {});\n",
                         step.name, reducer_name(*step.reduction), fmt::join(read, ", "), writer.element(k));
    } else if (const std::string index = index_of_only_term(step, steps); !index.empty()) {
      out += fmt::format("  const auto {} = steps.template reduced_at<{}, {}>({}, {});\n", step.name,
                         reducer_name(*step.reduction), reductions++, index, writer.element(k));
    } else if (step.reduction) {
      out += fmt::format("  const auto {} = steps.template reduced<{}, {}>({});\n", step.name,
                         reducer_name(*step.reduction), reductions++, writer.element(k));
    } else {
      out += writer.statement(step, "  ");
    }
  }
  // Stores come last: a destination may be a source that further reductions read.
  std::vector<std::size_t> by_element;
  std::string elements;
  for (std::size_t j = 0; j < results.size(); ++j) {
    const auto step = std::ranges::find(steps, std::optional(results[j]), &RowStep::destination);
    if (step->by_row()) {
      out += fmt::format("  steps.template store_value<{}>({});\n", j, step->name);
    } else {
      by_element.push_back(j);
      elements += ", " + writer.element(static_cast<std::uint32_t>(step - steps.begin()));
    }
  }
  if (!by_element.empty())
    out += fmt::format("  steps.store(Indices<{}>{{}}{});\n", fmt::join(by_element, ", "), elements);
  return out + "}\n\n}  // namespace tmajit\n";
}

TMAJIT_END
