#pragma once

#include "driver/api.hpp"

#include <tmajit/device.hpp>

TMAJIT_BEGIN
namespace driver {

/// Has the driver encode `spec` for the tensor at `address`. Checks nothing itself, whatever the spec holds.
/// Throws Error{illegal_spec} with every argument if the driver refuses.
[[nodiscard]] EncodedTensorMap encode(const Api& api, const TensorMapSpec& spec, DevicePtr address);

}  // namespace driver
TMAJIT_END
