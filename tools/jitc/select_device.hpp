#pragma once

#include <tmajit/device.hpp>

#include <memory>
#include <string>

namespace jitc {

/// The device that --device names: "auto", "gpu", "gpu:N". Throws Error{invalid_argument} for another text
/// and Error{unavailable} that says what this machine lacks.
[[nodiscard]] std::shared_ptr<tmajit::Device> select_device(const std::string& text);

}  // namespace jitc
