#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/window_moves.hpp"
#include "spec/counted.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

WindowMistake convolution_mistake(const Move& move) {
  WindowGeometry geometry;
  WindowMistake mistake = read_move_windows(move, std::get<Convolution>(move.body).windows, geometry);
  if (!mistake.rule.empty()) return mistake;
  const auto is_f32 = [](const Tensor& tensor) { return tensor.view.type == ElementType::f32; };
  if (!is_f32(move.destination) || !std::ranges::all_of(move.sources, is_f32)) {
    return {.rule = "view.type",
            .subject = "types",
            .found = fmt::format("{} from {} and {}", name(move.destination.view.type),
                                 name(move.sources[0].view.type), name(move.sources[1].view.type)),
            .need = "f32, in which convolutions are computed",
            .legal = "casts before and after"};
  }
  const auto images = extents(move.sources.front().view);
  const TensorView& filter = move.sources[1].view;
  const std::uint64_t outputs = filter.rank > 0 ? filter.shape[0] : 0;
  std::vector<std::uint64_t> taps{outputs};
  taps.insert(taps.end(), geometry.filter.begin(), geometry.filter.begin() + geometry.dims);
  taps.push_back(images.back());
  mistake = shape_mistake("the filter", filter, taps, "outputs, taps, channels");
  if (!mistake.rule.empty()) return mistake;
  return shape_mistake("the destination", move.destination.view,
                       outputs_shape(geometry, images.front(), outputs), "images, windows, outputs");
}

void check_convolution(MoveRules& rules) {
  if (check_count(rules, 2)) add(rules, convolution_mistake(rules.move()));
}

Problem convolution_problem(const Move& move) {
  return window_problem(move,
                        ConvolutionProblem{window_operands(move, std::get<Convolution>(move.body).windows)});
}

constexpr OperationRules convolution_rules{.check = check_convolution, .problem = convolution_problem};

}  // namespace

const OperationRules& rules_of(const Convolution&) noexcept {
  return convolution_rules;
}

Operation operation::convolution(const Tensor& destination, const Tensor& images, const Tensor& filter,
                                 const Windows& windows) {
  const auto taps = extents(filter.view, "the filter");
  const std::uint32_t rank = images.view.rank;
  if (taps.size() != rank || rank < 3) {
    refuse(
        "the images have {}, the filter {}; both need the same number, at least 3: "
        "[images, extents…, channels] and [outputs, taps…, channels]",
        counted(rank, "dimension"), taps.size());
  }
  Windows own = windows;
  if (own.filter.empty()) own.filter = taps.subspan(1, rank - 2);
  if (own.filter != Dims(taps.subspan(1, rank - 2)) || taps.back() != images.view.shape[rank - 1]) {
    refuse(
        "the filter has shape {}; it needs [outputs, taps…, channels] with the {} of the images and the taps "
        "{}",
        fmt::join(taps, "x"), counted(images.view.shape[rank - 1], "channel"), fmt::join(own.filter, "x"));
  }
  const WindowGeometry geometry = geometry_of(own, images);
  const std::vector<std::uint64_t> shape = outputs_shape(geometry, images.view.shape[0], taps.front());
  const std::array sources{images, filter};
  Operation made = one_move({.destination = separated(destination, shape, "[images · windows, outputs]"),
                             .sources = {images, filter},
                             .body = Convolution{own}},
                            sources);
  made.destinations = {destination};
  return made;
}

TMAJIT_END
