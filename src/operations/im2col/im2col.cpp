#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "operations/shared/window_moves.hpp"

#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

WindowMistake im2col_mistake(const Move& move) {
  WindowGeometry geometry;
  WindowMistake mistake = read_move_windows(move, std::get<Im2col>(move.body).windows, geometry);
  if (!mistake.rule.empty()) return mistake;
  const ElementType to = move.destination.view.type;
  const ElementType from = move.sources.front().view.type;
  if (size_of(from) != size_of(to)) {
    return {.rule = "view.type",
            .subject = "types",
            .found = fmt::format("{} from {}", name(to), name(from)),
            .need = "types of one size, since bits are moved as they are",
            .legal = "a cast before or after"};
  }
  const auto images = extents(move.sources.front().view);
  return shape_mistake("the destination", move.destination.view,
                       windows_shape(geometry, images.front(), images.back()),
                       "images, windows, taps, channels");
}

void check_im2col(MoveRules& rules) {
  if (check_count(rules, 1)) add(rules, im2col_mistake(rules.move()));
}

Problem im2col_problem(const Move& move) {
  return window_problem(move, Im2colProblem{window_operands(move, std::get<Im2col>(move.body).windows)});
}

constexpr OperationRules im2col_rules{
    .check = check_im2col, .problem = im2col_problem, .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const Im2col&) noexcept {
  return im2col_rules;
}

Operation operation::im2col(const Tensor& destination, const Tensor& source, const Windows& windows) {
  const WindowGeometry geometry = geometry_of(windows, source);
  const std::vector<std::uint64_t> shape =
      windows_shape(geometry, source.view.shape[0], source.view.shape[geometry.dims + 1]);
  Operation made =
      one_move({.destination = separated(destination, shape, "[images · windows, taps · channels]"),
                .sources = {source},
                .body = Im2col{windows}},
               {&source, 1});
  made.destinations = {destination};
  return made;
}

TMAJIT_END
