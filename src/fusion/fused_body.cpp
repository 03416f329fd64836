#include "fusion/fused_body.hpp"

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

void set_expression(Move& move, std::string_view expression) {
  if (auto* const map = std::get_if<Map>(&move.body)) map->expression = expression;
  if (auto* const reduction = std::get_if<Reduction>(&move.body)) reduction->expression = expression;
  if (auto* const scan = std::get_if<Scan>(&move.body)) scan->expression = expression;
}

std::string name_obstacle(std::string_view steps, std::string_view expression) {
  std::vector<std::string> names = assigned_names(steps);
  names.insert(names.end(), {"i", "n", "y"});
  for (std::uint32_t k = 0; k < max_inputs; ++k) names.push_back(fmt::format("y{}", k));
  const auto read =
      std::ranges::find_if(names, [&](const std::string& name) { return reads(expression, name); });
  if (read == names.end()) return {};
  return fmt::format("as {} has another meaning in the steps", *read);
}

Tensor number_like(Tensor number, const TensorView& like) {
  const ElementType type = number.view.type;
  number.view = like;
  number.view.type = type;
  number.view.strides = {};
  number.view.is_number = true;
  return number;
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
