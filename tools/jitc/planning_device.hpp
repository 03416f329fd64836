#pragma once

#include <tmajit/device.hpp>

#include <memory>

namespace jitc {

/// An H200 that is not there: plans can be made for it, and their kernels compiled, but nothing runs.
/// Whatever would need its memory throws Error{unavailable}.
[[nodiscard]] std::shared_ptr<tmajit::Device> make_planning_device();

}  // namespace jitc
