#include "operations/reduce/reference.hpp"

#include "operations/references.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace reference {

using tmajit::ReductionOp, tmajit::Tensor, tmajit::max_view_rank;

namespace {

constexpr std::array<std::pair<std::string_view, ReductionOp>, 8> reductions{
    {{"sum", ReductionOp::sum},
     {"mean", ReductionOp::mean},
     {"min", ReductionOp::min},
     {"max", ReductionOp::max},
     {"any", ReductionOp::any},
     {"all", ReductionOp::all},
     {"arg_min", ReductionOp::arg_min},
     {"arg_max", ReductionOp::arg_max}}};

bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// One assignment, in the order of the text. Values 0 to 7 are x0 to x7, 8 is i, 9 is n, 10 to 17 are the
/// numbers p0 to p7; the steps' values follow.
struct Assignment {
  std::string name;
  Expression expression;
  std::optional<ReductionOp> reduction = {};
  bool by_element = false;
};
constexpr std::size_t index_value = 8;
constexpr std::size_t length_value = 9;
constexpr std::size_t first_number = 10;
constexpr std::size_t first_step = 18;

/// Reads the steps of a rowwise operation. Shares no code with the library's parser.
class Program {
 public:
  static std::optional<Program> parse(const std::string& text) {
    Program program;
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find(';', begin), text.size());
      const std::string step = text.substr(begin, end - begin);
      begin = end + 1;
      if (step.find_first_not_of(' ') == std::string::npos) continue;
      const std::size_t equals = step.find('=');
      if (equals == std::string::npos) return std::nullopt;
      std::string name = step.substr(0, equals);
      std::erase(name, ' ');
      if (!program.add(name, step.substr(equals + 1))) return std::nullopt;
    }
    return program;
  }

  [[nodiscard]] const std::vector<Assignment>& steps() const { return steps_; }
  /// The step that assigns destination `k`.
  [[nodiscard]] std::size_t destination(std::uint32_t k) const {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const std::string& name = steps_[s].name;
      if (name == "y" + std::to_string(k) || (k == 0 && name == "y")) return s;
    }
    return steps_.size();
  }

 private:
  Program() {
    for (int k = 0; k < 8; ++k) names_.push_back("x" + std::to_string(k));
    names_.emplace_back("i");
    names_.emplace_back("n");
    for (int k = 0; k < 8; ++k) names_.push_back("p" + std::to_string(k));
  }

  /// The end of the brackets that open at `open`, and whether they hold one argument.
  static std::pair<std::size_t, bool> brackets(std::string_view text, std::size_t open) {
    int depth = 0;
    bool one = true;
    for (std::size_t at = open; at < text.size(); ++at) {
      if (text[at] == '(') ++depth;
      if (text[at] == ')' && --depth == 0) return {at, one};
      if (text[at] == ',' && depth == 1) one = false;
    }
    return {text.size(), false};
  }

  /// Replaces each reduction within `text` by the name of a step of its own.
  bool hoist(std::string& text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (!is_name_character(text[at]) || (at > 0 && is_name_character(text[at - 1]))) continue;
      for (const auto& [name, op] : reductions) {
        const std::size_t open = at + name.size();
        if (text.compare(at, name.size(), name) != 0 || open >= text.size() || text[open] != '(') continue;
        const auto [close, one] = brackets(text, open);
        if (!one) continue;
        const std::string hidden = "hidden" + std::to_string(steps_.size());
        if (!add_reduction(hidden, op, text.substr(open + 1, close - open - 1))) return false;
        text.replace(at, close + 1 - at, hidden);
        break;
      }
    }
    return true;
  }

  bool add_reduction(const std::string& name, ReductionOp op, std::string inner) {
    if (!add(name, std::move(inner))) return false;
    steps_.back().reduction = op;
    steps_.back().by_element = false;
    return true;
  }

  bool add(const std::string& name, std::string text) {
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    for (const auto& [reduction, op] : reductions) {
      if (!text.starts_with(std::string(reduction) + "(")) continue;
      const auto [close, one] = brackets(text, reduction.size());
      if (one && close + 1 == text.size())
        return add_reduction(name, op, text.substr(reduction.size() + 1, close - reduction.size() - 1));
    }
    if (!hoist(text)) return false;
    std::vector<std::string_view> names(names_.begin(), names_.end());
    const auto expression = Expression::parse(text, names);
    if (!expression || expression->offsets() != 0) return false;
    Assignment step{.name = name, .expression = *expression};
    for (const std::uint32_t read : expression->sources()) {
      const bool is_step = read >= first_step;
      step.by_element =
          step.by_element || read <= index_value || (is_step && steps_[read - first_step].by_element);
    }
    steps_.push_back(std::move(step));
    names_.push_back(name);
    return true;
  }

  std::vector<Assignment> steps_;
  std::vector<std::string> names_;  ///< names of all values
};

const tmajit::Rowwise& rowwise_of(const tmajit::Move& move) {
  return std::get<tmajit::Rowwise>(move.body);
}

/// Computes the destination of a move, row by row.
class RowWalk {
  static constexpr std::size_t max_known_rows = 1 << 16;  // bounds the memory
  /// A kernel may compute the mean of a row of at least so many elements together with the squares of the
  /// differences from it, by steps that round (templates/kernels/online_reducers.cuh).
  static constexpr std::uint64_t online_length = 512;

 public:
  explicit RowWalk(const tmajit::Move& move)
      : move_(move),
        whole_(move.sources.front().view),
        program_(Program::parse(rowwise_of(move).steps).value()),
        result_(program_.destination(rowwise_of(move).result)) {
    for (std::int64_t axis : rowwise_of(move).axes)
      in_row_.at(static_cast<std::size_t>(axis < 0 ? axis + whole_.rank : axis)) = true;
    for (std::uint32_t d = 0; d < whole_.rank; ++d) length_ *= in_row_.at(d) ? whole_.shape.at(d) : 1;
  }

  [[nodiscard]] std::uint64_t length() const { return length_; }
  [[nodiscard]] std::uint64_t steps() const { return program_.steps().size(); }

  /// Calls visit(index, value) for each destination element of a part, in row-major order.
  template <class Visit>
  void each(const Part& part, const Visit& visit) {
    const std::uint32_t rank = move_.destination.view.rank;
    const bool by_element = program_.steps().at(result_).by_element;
    std::map<Index, std::vector<Computed>> rows;  // the values of the rows that the part meets
    for_each_index(rank, part, [&](const Index& index) {
      Index row{};
      std::size_t at = 0;
      for (std::uint32_t d = 0; d < whole_.rank; ++d) {
        if (in_row_.at(d)) {
          if (rank == whole_.rank) ++at;
          continue;
        }
        row.at(d) = index.at(at++);
      }
      auto found = rows.find(row);
      if (found == rows.end()) {
        if (rows.size() == max_known_rows) rows.clear();
        found = rows.emplace(row, values_of_row(row)).first;
      }
      if (by_element) {
        std::vector<Computed> values = found->second;
        visit(index, element_value(values, index, result_));
      } else {
        visit(index, found->second.at(first_step + result_));
      }
    });
  }

 private:
  /// Sets the sources' values and i for the element at `index`.
  void set_element(std::vector<Computed>& values, const Index& index) const {
    for (std::size_t s = 0; s < move_.sources.size(); ++s) {
      const Tensor& source = move_.sources[s];
      if (source.view.is_number) break;
      values[s] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
    }
    std::int64_t i = 0;
    for (std::uint32_t d = 0; d < whole_.rank; ++d) {
      if (in_row_.at(d))
        i = i * static_cast<std::int64_t>(whole_.shape.at(d)) + static_cast<std::int64_t>(index.at(d));
    }
    values[index_value] = Scalar(static_cast<std::int32_t>(i));
  }
  /// The value of step `number` for the element at `index`; `values` has those of the row.
  Computed element_value(std::vector<Computed>& values, const Index& index, std::size_t number) const {
    set_element(values, index);
    for (std::size_t s = 0; s <= number; ++s) {
      const Assignment& step = program_.steps()[s];
      if (step.by_element || (s == number && step.reduction))
        values[first_step + s] = step.expression.evaluate(values);
    }
    return values[first_step + number];
  }

  std::vector<Computed> values_of_row(const Index& row) const {
    std::vector<Computed> values(first_step + program_.steps().size());
    std::size_t numbers = 0;
    for (const Tensor& source : move_.sources) {
      if (source.view.is_number)
        values.at(first_number + numbers++) = decode(source.view.type, element_at(source, 0));
    }
    values[length_value] = Scalar(static_cast<std::int32_t>(length_));
    Part part;
    for (std::uint32_t d = 0; d < whole_.rank; ++d) {
      part.first.at(d) = row.at(d);
      part.count.at(d) = in_row_.at(d) ? whole_.shape.at(d) : 1;
    }
    for (std::size_t s = 0; s < program_.steps().size(); ++s) {
      const Assignment& step = program_.steps()[s];
      if (step.reduction) {
        Reducer reducer(*step.reduction);
        double most = 0;
        double greatest = 0;
        std::uint64_t position = 0;
        std::vector<Computed> of_element = values;
        for_each_index(whole_.rank, part, [&](const Index& index) {
          const Computed value = element_value(of_element, index, s);
          most = std::max(most, value.error);
          greatest = std::max(greatest, std::fabs(as_double(value.value)));
          reducer.add(value, position++);
        });
        Computed result = reducer.result();
        if (*step.reduction == ReductionOp::min || *step.reduction == ReductionOp::max)
          result.error = std::max(result.error, most);
        if (*step.reduction == ReductionOp::mean && length_ >= online_length && std::isfinite(greatest)) {
          const double unit = std::holds_alternative<float>(result.value) ? 0x1p-20 : 0x1p-49;
          result.error = std::max(result.error, unit * greatest);
        }
        values[first_step + s] = result;
      } else if (!step.by_element) {
        values[first_step + s] = step.expression.evaluate(values);
      }
    }
    return values;
  }

  const tmajit::Move& move_;
  const tmajit::TensorView& whole_;
  Program program_;
  std::size_t result_;  ///< number of the step that the move's destination gets
  std::array<bool, max_view_rank> in_row_{};
  std::uint64_t length_ = 1;
};

/// A reduction that selects an element must compare exact values.
bool understands_rows(const tmajit::Move& move) {
  const auto program = Program::parse(rowwise_of(move).steps);
  if (!program || program->destination(rowwise_of(move).result) == program->steps().size()) return false;
  return std::ranges::all_of(program->steps(), [](const Assignment& step) {
    const auto op = step.reduction;
    const bool selects = op == ReductionOp::arg_min || op == ReductionOp::arg_max || op == ReductionOp::any ||
                         op == ReductionOp::all;
    return !selects || step.expression.is_exact();
  });
}

constexpr OperationReference rowwise_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const Tensor& to = move.destination;
          // A source may be the destination: all values are computed before the first is stored.
          std::vector<std::pair<Index, Scalar>> results;
          RowWalk(move).each(part, [&](const Index& index, const Computed& value) {
            results.emplace_back(index, value.value);
          });
          for (const auto& [index, value] : results)
            encode(to.view.type, value, element_at(to, offset_of(to.view, index)));
        },
    .understands = understands_rows,
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          RowWalk(move).each(part, [&](const Index& /*index*/, const Computed& value) {
            errors.push_back(stored_error(move.destination.view.type, value));
          });
          return errors;
        },
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          const RowWalk walk(move);
          return move.sources.size() * element_count(part, move.destination.view.rank) * (walk.length() + 1) *
                 walk.steps();
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Rowwise& /*rowwise*/) noexcept {
  return rowwise_reference;
}

}  // namespace reference
