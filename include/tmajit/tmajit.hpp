#pragma once

/// The whole public API.
#include <tmajit/bank_conflicts.hpp>
#include <tmajit/box_layout.hpp>
#include <tmajit/cache.hpp>
#include <tmajit/chip.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/device.hpp>
#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/logging.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/tensor_map_spec.hpp>
#include <tmajit/tensor_view.hpp>
#include <tmajit/tile_options.hpp>
#include <tmajit/tiles.hpp>
#include <tmajit/tuning.hpp>
#include <tmajit/validate.hpp>
#include <tmajit/version.hpp>
