#pragma once

#include "calls.hpp"

#include <cstdint>

namespace tmajit::python {

/// An operation that Python code describes for a plan: its tensors, its arguments and its results.
struct PlanRequest {
  /// `out` is None for new dense destinations, which get addresses that no real tensor has. `type` may be
  /// None. Throws Error{invalid_argument} for tensors on different devices.
  PlanRequest(std::uint32_t number, nb::handle sources, nb::handle out, nb::handle type,
              const nb::tuple& values);
  PlanRequest(const PlanRequest&) = delete;
  PlanRequest& operator=(const PlanRequest&) = delete;

  [[nodiscard]] Operation made() const {
    return make_operation(operation, tensors.destinations, tensors.sources, arguments);
  }

  const OperationInfo& operation;
  CallTensors tensors;
  Arguments arguments;
  Results results;
  Backend* backend = nullptr;  ///< never null after construction
};

}  // namespace tmajit::python
