#pragma once

#include "case.hpp"

#include <tmajit/move.hpp>

#include <span>
#include <vector>

namespace movement {

/// The arrays of one side in its buffer.
std::vector<tmajit::Tensor> tensors(const std::vector<Array>& arrays, tmajit::DevicePtr buffer);

/// The library's plan for a case, by the operation that a user would call.
tmajit::MovePlan plan_case(tmajit::Runtime& runtime, const Case& c, tmajit::DevicePtr destination,
                           tmajit::DevicePtr source);

/// What there is to say of a plan besides its time: kernels, choices, registers, bytes.
nlohmann::ordered_json describe(const tmajit::MovePlan& plan);

}  // namespace movement
