#pragma once

#include "options.hpp"
#include "report.hpp"

#include <tmajit/device.hpp>

#include <memory>

namespace movement {

/// Measures what the options ask for. Returns whether every target was met.
bool measure(const Options& options, const std::shared_ptr<tmajit::Device>& device, bench::Report& report);

}  // namespace movement
