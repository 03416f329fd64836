#include "move_planning.hpp"

#include "planning_device.hpp"
#include "select_device.hpp"
#include "terminal.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace jitc {

PlanningChoice select_planning_device(const std::string& text) {
  if (text == "h200") return {make_planning_device(), {}};
  if (text != "auto") {
    if (auto gpu = open_named_gpu(text, "--device h200 plans for an H200 without one"))
      return {std::move(gpu), {}};
    throw tmajit::Error(
        tmajit::ErrorCode::invalid_argument,
        fmt::format(
            "--device {}: nothing runs here; legal are auto, gpu, gpu:0, gpu:1 …, and h200 for an H200 that "
            "need not be there",
            text));
  }
  auto search = find_hopper();
  if (search.ordinal) return {tmajit::open_gpu(*search.ordinal), {}};
  return {make_planning_device(), search.why.substr(0, search.why.find(';'))};
}

tmajit::MovePlan make_plan(tmajit::Runtime& runtime, std::span<const tmajit::Move> moves) {
  const Progress progress("planning and compiling");
  return tmajit::plan_moves(runtime, moves);
}

}  // namespace jitc
