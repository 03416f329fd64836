#include "operations/fusion/fused_body.hpp"

#include "kernel/problem.hpp"
#include "kernel/row_steps.hpp"
#include "operations/list.hpp"
#include "spec/overlap.hpp"
#include "spec/views.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

TMAJIT_BEGIN
namespace {

/// The longest text of a move: steps, an epilogue or an expression. Each text has the same limit.
std::string_view text_of(const Move& move) {
  if (const auto* const rows = std::get_if<Rowwise>(&move.body)) return rows->steps;
  if (const auto* const reduction = std::get_if<Reduction>(&move.body)) {
    if (reduction->epilogue.size() > reduction->expression.size()) return reduction->epilogue;
  }
  return expression_of(move);
}

}  // namespace

std::string_view operation_name(const Move& move) {
  return std::visit([](const auto& body) { return std::string_view(body.operation); }, move.body);
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  const PlacedView one{a.view, a.address};
  const PlacedView other{b.view, b.address};
  const std::optional<ByteRange> range = byte_range(one);
  const std::optional<ByteRange> range_of_other = byte_range(other);
  return range && range_of_other && meet(*range, *range_of_other) &&
         overlap(one, *range, other, *range_of_other) != Overlap::none;
}

std::string_view expression_of(const Move& move) {
  std::string_view text;
  if (const auto* const map = std::get_if<Map>(&move.body)) text = map->expression;
  if (const auto* const reduction = std::get_if<Reduction>(&move.body)) text = reduction->expression;
  if (const auto* const scan = std::get_if<Scan>(&move.body)) text = scan->expression;
  if (const auto* const gather = std::get_if<Gather>(&move.body)) text = gather->expression;
  return text.empty() ? "x" : text;
}

void set_expression(Move& move, std::string expression) {
  if (auto* const map = std::get_if<Map>(&move.body)) map->expression = std::move(expression);
  if (auto* const reduction = std::get_if<Reduction>(&move.body))
    reduction->expression = std::move(expression);
  if (auto* const scan = std::get_if<Scan>(&move.body)) scan->expression = std::move(expression);
}

std::string name_obstacle(const Rowwise& rows, std::span<const Tensor> sources, std::string_view expression) {
  const std::uint32_t numbers = count_numbers(sources);
  std::vector<std::string> names{"i", "n"};
  for (const RowStep& step :
       parse_row_steps(rows.steps, static_cast<std::uint32_t>(sources.size()) - numbers, numbers))
    names.push_back(step.name);
  const auto read =
      std::ranges::find_if(names, [&](const std::string& name) { return reads(expression, name); });
  if (read == names.end()) return {};
  return fmt::format("as {} has another meaning in the steps", *read);
}

FusedMoves checked(std::vector<Move> moves, std::string how) {
  for (const Move& move : moves) {
    if (move.sources.size() > max_inputs)
      return refused("as both have {} sources; at most {} are possible", move.sources.size(), max_inputs);
    const std::string_view text = text_of(move);
    if (text.size() > max_expression)
      return refused("as their expression has {} characters; at most {} are possible", text.size(),
                     max_expression);
  }
  try {
    check_operation(moves);
  } catch (const Error& error) {
    std::string reason = error.what();
    std::ranges::replace(reason, '\n', ' ');
    return refused("as that breaks a rule: {}", reason);
  }
  return {.moves = std::move(moves), .sentence = std::move(how)};
}

TMAJIT_END
