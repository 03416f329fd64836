#include "families/shared/reducer_name.hpp"

TMAJIT_BEGIN

std::string_view reducer_name(ReductionOp op) noexcept {
  switch (op) {
    case ReductionOp::sum: return "Sum";
    case ReductionOp::mean: return "Mean";
    case ReductionOp::min: return "Least";
    case ReductionOp::max: return "Greatest";
    case ReductionOp::any: return "Any";
    case ReductionOp::all: return "All";
    case ReductionOp::arg_min: return "FirstLeast";
    case ReductionOp::arg_max: return "FirstGreatest";
  }
  return {};
}

TMAJIT_END
