#pragma once

#include "case.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>

#include <string_view>
#include <vector>

namespace bench {

/// Plans that are never run need no memory behind them, only addresses that are apart and aligned.
inline constexpr tmajit::DevicePtr some_source = 1ULL << 40;
inline constexpr tmajit::DevicePtr some_destination = 1ULL << 41;

/// The arrays of one side in its buffer.
std::vector<tmajit::Tensor> tensors(const std::vector<Array>& arrays, tmajit::DevicePtr buffer);

/// The sources of a case as it works on them.
std::vector<tmajit::Tensor> source_tensors(const Case& c, tmajit::DevicePtr buffer);

/// A case in the library's words; not for snapshots, which are no operation.
tmajit::Operation operation_of(const Case& c, tmajit::DevicePtr destination = some_destination,
                               tmajit::DevicePtr source = some_source);

/// The kernels of a case: of its tile, or of the planner's choice within its family. Throws what the library
/// throws.
std::vector<tmajit::KernelPlan> plan_case(const Case& c, tmajit::DevicePtr destination = some_destination,
                                          tmajit::DevicePtr source = some_source,
                                          tmajit::PlanOptions options = {});

/// The case done with a tile of the caller's choice. Throws tmajit::SpecError if the tile is not legal.
Case with_tile(Case c, const Tile& tile);

/// Returns everything that is known of a plan's kernel before it is compiled.
nlohmann::ordered_json to_json(const tmajit::KernelPlan& plan);

/// A case of the list that stands for a kernel family.
struct Representative {
  Case example;  ///< case whose `family` this represents

  [[nodiscard]] std::string_view name() const { return example.family; }
  /// The family's kernel for it.
  [[nodiscard]] tmajit::KernelPlan plan() const;
};

/// The first case of the list that is made for the family, for which the planner would choose it, or at least
/// could: a family that is added to the library is found without a change here. Throws
/// tmajit::Error{unsupported} where the list has no case that the family can do.
Representative representative(std::string_view family);

}  // namespace bench
