#include "families/rowwise/online_forms.hpp"

#include "kernel/problem.hpp"

#include <algorithm>
#include <string>

TMAJIT_BEGIN
namespace {

/// The position of the parenthesis that closes the one at `open`; the text's size if there is none.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at;
  }
  return text.size();
}

/// The text without doubled parentheses, and without parentheses around all of it.
std::string with_single_parentheses(std::string text) {
  for (std::size_t open = 0; open + 1 < text.size();) {
    const std::size_t close = text[open] == '(' ? closing(text, open) : text.size();
    const bool around_all = open == 0 && close + 1 == text.size();
    if (close < text.size() &&
        (around_all || (text[open + 1] == '(' && closing(text, open + 1) + 1 == close))) {
      text.erase(close, 1);
      text.erase(open, 1);
    } else {
      ++open;
    }
  }
  return text;
}

/// Texts of steps as functions of an element: without spaces, with the names of steps that have a value for
/// each element replaced by their expressions.
class ElementTexts {
 public:
  explicit ElementTexts(std::span<const RowStep> steps) : steps_(steps) {}

  [[nodiscard]] std::string of(std::uint32_t number) const { return with_single_parentheses(whole(number)); }

 private:
  [[nodiscard]] std::string whole(std::uint32_t number) const {
    const std::string_view text = steps_[number].expression;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end == at) {
        if (text[at] != ' ') out += text[at];
        ++at;
        continue;
      }
      const std::string_view word = text.substr(at, end - at);
      at = end;
      const auto named = [&](std::uint32_t read) {
        return steps_[read].name == word && !steps_[read].by_row();
      };
      const auto& reads = steps_[number].reads;
      const auto read = std::ranges::find_if(reads, named);
      if (read != reads.end()) {
        out += "(" + of(*read) + ")";
      } else {
        out += word == "x" ? "x0" : word;
      }
    }
    return out;
  }

  std::span<const RowStep> steps_;
};

/// The reducer that computes `second` together with `m`, the maximum or mean of `value`; empty if none does.
std::string_view online_reducer(ReductionOp first, const std::string& value, const std::string& m,
                                const std::string& second) {
  const std::string differences[] = {value + "-" + m, "(" + value + ")-" + m};
  for (const std::string& difference : differences) {
    if (first == ReductionOp::max) {
      if (second == "expf(" + difference + ")" || second == "exp(" + difference + ")") return "MaxExpSum";
      if (second == "fast_exp(" + difference + ")") return "FastMaxExpSum";
    } else if (second == "(" + difference + ")*(" + difference + ")") {
      return "MeanSquares";
    }
  }
  return {};
}

/// Whether `value-m` is the difference of the whole value and m: the value has no operator that binds weaker
/// than the minus sign. Such operators and commas are rejected within parentheses, too.
bool is_difference_safe(std::string_view value) {
  return value.find_first_of("?<>=&|^,") == std::string_view::npos;
}

/// Whether a value is certain to be of floating point: the sources that it reads are, and its text contains
/// no name of a type of integers, not even within another word ("rint").
bool is_real(std::span<const RowStep> steps, std::uint32_t number, std::uint32_t real_sources) {
  const RowStep& step = steps[number];
  if ((step.sources & ~real_sources) != 0) return false;
  for (const std::string_view word : {"int", "long", "short", "char", "unsigned", "as_i", "as_u"}) {
    if (step.expression.find(word) != std::string::npos) return false;
  }
  return std::ranges::all_of(step.reads, [&](std::uint32_t read) {
    return steps[read].by_row() || is_real(steps, read, real_sources);
  });
}

}  // namespace

std::vector<OnlinePair> online_pairs(std::span<const RowStep> steps, const std::vector<bool>& needed,
                                     std::uint32_t real_sources) {
  const ElementTexts texts(steps);
  std::vector<OnlinePair> pairs;
  const auto is_paired = [&](std::uint32_t number) {
    return std::ranges::any_of(
        pairs, [&](const OnlinePair& pair) { return pair.first == number || pair.second == number; });
  };
  for (std::uint32_t second = 0; second < steps.size(); ++second) {
    const auto& op = steps[second].reduction;
    if (!needed[second] || !op || (*op != ReductionOp::sum && *op != ReductionOp::mean)) continue;
    for (std::uint32_t first = 0; first < second; ++first) {
      const auto& extreme = steps[first].reduction;
      if (!needed[first] || !extreme || is_paired(first)) continue;
      if (*extreme != ReductionOp::max && *extreme != ReductionOp::mean) continue;
      const std::string value = texts.of(first);
      if (!is_difference_safe(value) || !is_real(steps, first, real_sources)) continue;
      const std::string_view reducer = online_reducer(*extreme, value, steps[first].name, texts.of(second));
      if (reducer.empty()) continue;
      pairs.push_back(
          {.first = first, .second = second, .reducer = reducer, .is_mean = *op == ReductionOp::mean});
      break;
    }
  }
  return pairs;
}

TMAJIT_END
