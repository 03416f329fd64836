#include "kernel/row_steps.hpp"

#include "kernel/stencil_calls.hpp"
#include "spec/counted.hpp"
#include "spec/refuse.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool is_letter(char c) noexcept {
  return is_word(c) && (c < '0' || c > '9');
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The number of "x3", where `letter` is 'x': 3. 0 for the letter alone; nullopt for any other name.
std::optional<std::uint32_t> numbered(std::string_view name, char letter) noexcept {
  if (name.empty() || name.front() != letter || name.size() > 2) return std::nullopt;
  if (name.size() == 1) return 0;
  if (name[1] < '0' || name[1] > '7') return std::nullopt;
  return static_cast<std::uint32_t>(name[1] - '0');
}

/// A call in an expression: name(argument).
struct Call {
  std::size_t begin;  ///< position of the name
  std::size_t end;    ///< position after the closing bracket
  std::string_view argument;
  bool has_one_argument;
};

/// The arguments of the call whose opening bracket is at `open`; nullopt if no bracket closes it.
std::optional<Call> call_at(std::string_view text, std::size_t begin, std::size_t open) {
  int depth = 0;
  bool has_comma = false;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == ']') --depth;
    if (text[at] == ',' && depth == 1) has_comma = true;
    if (depth > 0) continue;
    const std::string_view argument = trimmed(text.substr(open + 1, at - open - 1));
    return Call{begin, at + 1, argument, !has_comma && !argument.empty()};
  }
  return std::nullopt;
}

std::optional<ReductionOp> reduction_named(std::string_view text) noexcept {
  const auto* const found =
      std::ranges::find_if(all_reduction_ops, [&](ReductionOp op) { return name(op) == text; });
  return found == all_reduction_ops.end() ? std::nullopt : std::optional(*found);
}

/// Calls visit(step) for each step that is not empty.
template <class Visit>
void for_each_step(std::string_view text, const Visit& visit) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string_view step = trimmed(text.substr(begin, end - begin));
    if (!step.empty()) visit(step);
    begin = end + 1;
  }
}

/// The name that a step assigns: the text before the first `=`.
std::string_view assigned_by(std::string_view step) noexcept {
  return trimmed(step.substr(0, std::min(step.find('='), step.size())));
}

/// Calls visit(begin, end) for each name in C text. Numbers such as 1e5f are no names.
template <class Visit>
void for_each_name(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (is_letter(text[at])) visit(at, end);
    at = end;
  }
}

class RowStepParser {
 public:
  RowStepParser(std::string_view text, std::uint32_t tensors, std::uint32_t numbers)
      : text_(text), assigned_(assigned_names(text)), sources_(tensors), numbers_(numbers) {}

  std::vector<RowStep> parse() {
    for_each_step(text_, [&](std::string_view step) {
      step_ = step;
      add_assignment();
    });
    require_destinations();
    return needed();
  }

 private:
  template <class... Values>
  [[noreturn]] void reject(fmt::format_string<Values...> message, Values&&... values) const {
    refuse("step \"{}\": {}", step_, fmt::format(message, std::forward<Values>(values)...));
  }

  void add_assignment() {
    const std::size_t equals = step_.find('=');
    const std::string_view name = assigned_by(step_);
    const bool is_name = !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_word);
    if (equals == std::string_view::npos || !is_name || step_.substr(equals).starts_with("==")) {
      reject("a step is \"name = expression\", such as \"m = max(x)\"");
    }
    require_free(name);
    const std::string_view value = trimmed(step_.substr(equals + 1));
    if (value.empty()) reject("the expression is missing");
    add(std::string(name), value, destination_number(name));
  }

  void require_free(std::string_view name) const {
    if (is_of_kernel(name)) reject("{} is a name in the kernel's text; choose another name", name);
    if (name == "i" || name == "n" || numbered(name, 'x') || is_number(name) || reduction_named(name)) {
      reject("{} is {}; choose another name", name,
             name == "i"           ? "the element's index in its row"
             : name == "n"         ? "the length of the row"
             : numbered(name, 'x') ? "a source"
             : is_number(name)     ? "a number of the launch"
                                   : "a reduction");
    }
    if (number_of(name)) reject("{} is assigned a second time; each name has one value", name);
  }

  /// Whether generated kernels use this name beside those of steps (families/rowwise/row_source.cpp).
  static bool is_of_kernel(std::string_view name) noexcept {
    return name == "slot" || name == "steps" || name.starts_with("kept_") || name.starts_with("pair_");
  }
  /// A name for the step of a reduction within an expression.
  [[nodiscard]] std::string inner_name(ReductionOp op) const {
    for (std::size_t k = steps_.size();; ++k) {
      std::string candidate = fmt::format("{}_{}", name(op), k);
      if (std::ranges::find(assigned_, candidate) == assigned_.end() && !number_of(candidate))
        return candidate;
    }
  }

  /// Whether this is the name of a number of the launch: p0 to p7.
  static bool is_number(std::string_view name) noexcept { return name != "p" && numbered(name, 'p'); }

  [[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view name) const {
    const auto found = std::ranges::find(steps_, name, &RowStep::name);
    if (found == steps_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - steps_.begin());
  }

  /// Adds the step name = value, after the steps of the reductions within `value`.
  std::uint32_t add(std::string name, std::string_view value, std::optional<std::uint32_t> destination) {
    RowStep step{.name = std::move(name), .expression = {}, .destination = destination};
    const std::optional<ReductionOp> whole = whole_reduction(value);
    if (whole) value = call_at(value, 0, value.find('('))->argument;
    step.reduction = whole;
    step.expression = without_reductions(value);
    read_names(step);
    if (steps_.size() == max_row_steps)
      refuse("the steps are more than {}, reductions within expressions included", max_row_steps);
    steps_.push_back(std::move(step));
    return static_cast<std::uint32_t>(steps_.size() - 1);
  }

  /// The reduction, if `value` is a call of one and nothing else.
  [[nodiscard]] std::optional<ReductionOp> whole_reduction(std::string_view value) const {
    const std::size_t open = value.find('(');
    if (open == std::string_view::npos) return std::nullopt;
    const std::optional<ReductionOp> op = reduction_named(trimmed(value.substr(0, open)));
    if (!op) return std::nullopt;
    const std::optional<Call> call = call_at(value, 0, open);
    if (!call) reject("a bracket is not closed");
    return call->end == value.size() && call->has_one_argument ? op : std::nullopt;
  }

  /// The expression with the name of a new step for each reduction.
  std::string without_reductions(std::string_view value) {
    std::string out;
    std::size_t done = 0;
    for_each_name(value, [&](std::size_t begin, std::size_t end) {
      if (begin < done) return;
      const std::optional<ReductionOp> op = reduction_named(value.substr(begin, end - begin));
      std::size_t open = end;
      while (open < value.size() && value[open] == ' ') ++open;
      if (!op || open == value.size() || value[open] != '(') return;
      const std::optional<Call> call = call_at(value, begin, open);
      if (!call) reject("a bracket is not closed");
      if (!call->has_one_argument) {
        if (*op == ReductionOp::min || *op == ReductionOp::max) return;  // C's functions of two arguments
        reject("{} reduces one expression over the row", name(*op));
      }
      const std::string inner = inner_name(*op);
      add(inner, value.substr(begin, call->end - begin), std::nullopt);
      out.append(value.substr(done, begin - done)).append(inner);
      done = call->end;
    });
    out.append(value.substr(done));
    return out;
  }

  /// Finds what the step's expression reads.
  void read_names(RowStep& step) const {
    const std::string_view text = step.expression;
    for_each_name(text, [&](std::size_t begin, std::size_t end) {
      const std::string_view name = text.substr(begin, end - begin);
      if (name == "i") step.reads_element = true;
      if (const auto source = numbered(name, 'x')) {
        if (name == "x" && sources_ > 1)
          reject("there are {}: write x0 to x{}", counted(sources_, "source"), sources_ - 1);
        if (*source >= sources_)
          reject("{} does not exist, since there {} {}", name, sources_ == 1 ? "is" : "are",
                 counted(sources_, "source"));
        step.reads_element = true;
        step.sources |= 1U << *source;
      }
      if (is_number(name)) {
        const std::uint32_t number = *numbered(name, 'p');
        if (number >= numbers_)
          reject("{} does not exist, since {} given", name, counted_are(numbers_, "number"));
        step.numbers |= 1U << number;
      }
      const std::optional<std::uint32_t> earlier = number_of(name);
      if (!earlier) return;
      if (std::ranges::find(step.reads, *earlier) == step.reads.end()) step.reads.push_back(*earlier);
      if (!steps_[*earlier].by_row()) step.reads_element = true;
    });
  }

  void require_destinations() const {
    std::array<bool, max_inputs> found{};
    bool has_plain = false;
    for (const RowStep& step : steps_) {
      if (step.destination) found.at(*step.destination) = true;
      has_plain = has_plain || step.name == "y";
    }
    const auto count = static_cast<std::uint32_t>(std::ranges::count(found, true));
    if (count == 0) refuse("no step assigns a destination, y, or y0, y1 … for several");
    if (has_plain && (count > 1 || number_of("y0")))
      refuse("the steps assign y and further destinations; call them y0, y1 …");
    for (std::uint32_t k = 0; k < count; ++k) {
      if (!found.at(k)) refuse("the steps assign {} without y{}", counted(count, "destination"), k);
    }
  }

  /// The steps that a destination needs, renumbered.
  [[nodiscard]] std::vector<RowStep> needed() const {
    std::vector<bool> is_needed(steps_.size());
    for (std::size_t k = steps_.size(); k-- > 0;) {
      if (steps_[k].destination) is_needed[k] = true;
      if (!is_needed[k]) continue;
      for (const std::uint32_t read : steps_[k].reads) is_needed[read] = true;
    }
    std::vector<std::uint32_t> number(steps_.size());
    std::vector<RowStep> kept;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      if (!is_needed[k]) continue;
      number[k] = static_cast<std::uint32_t>(kept.size());
      for (std::uint32_t& read : kept.emplace_back(steps_[k]).reads) read = number[read];
    }
    return kept;
  }

  std::string_view text_;
  std::vector<std::string> assigned_;
  std::uint32_t sources_;
  std::uint32_t numbers_;
  std::string_view step_;  ///< the step that is being read, for messages
  std::vector<RowStep> steps_;
};

}  // namespace

std::vector<RowStep> parse_row_steps(std::string_view text, std::uint32_t tensors, std::uint32_t numbers) {
  return RowStepParser(text, tensors, numbers).parse();
}

std::vector<std::string> assigned_names(std::string_view text) {
  std::vector<std::string> names;
  for_each_step(text, [&](std::string_view step) { names.emplace_back(assigned_by(step)); });
  return names;
}

std::optional<std::uint32_t> destination_number(std::string_view name) noexcept {
  return numbered(name, 'y');
}

const RowStep& step_of_destination(const std::vector<RowStep>& steps, std::uint32_t k) {
  return *std::ranges::find(steps, std::optional(k), &RowStep::destination);
}

std::uint32_t destination_count(const std::vector<RowStep>& steps) noexcept {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(steps, [](const RowStep& step) { return step.destination.has_value(); }));
}

TMAJIT_END
