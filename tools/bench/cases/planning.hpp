#pragma once

#include "case.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>

#include <string_view>
#include <vector>

namespace bench {

/// Addresses for plans that are never run: aligned, and so far from each other that tensors do not overlap.
inline constexpr tmajit::DevicePtr some_source = 1ULL << 40;
inline constexpr tmajit::DevicePtr some_destination = 1ULL << 41;

/// The tensors of a case's sources, or of its destinations, in `buffer`.
std::vector<tmajit::Tensor> tensors(const std::vector<Array>& arrays, tmajit::DevicePtr buffer);

/// The sources of a case, with its views applied.
std::vector<tmajit::Tensor> source_tensors(const Case& bench_case, tmajit::DevicePtr buffer);

/// A case as an operation of the library; not for snapshots, which have no operation.
tmajit::Operation operation_of(const Case& bench_case, tmajit::DevicePtr destination = some_destination,
                               tmajit::DevicePtr source = some_source);

/// The kernels of a case: with its tile, or chosen by the planner within its family. Throws tmajit::Error.
std::vector<tmajit::KernelPlan> plan_case(const Case& bench_case,
                                          tmajit::DevicePtr destination = some_destination,
                                          tmajit::DevicePtr source = some_source,
                                          tmajit::PlanOptions options = {});

/// The case with this tile, which its family must let callers choose. Throws tmajit::SpecError if the tile is
/// not legal.
Case with_tile(Case bench_case, const Tile& tile);

/// A plan's kernel, tile and launch parameters as JSON. Compiles nothing.
nlohmann::ordered_json to_json(const tmajit::KernelPlan& plan);

/// A case of the list that represents a kernel family.
struct Representative {
  Case example;  ///< the case; its `family` is the represented family

  [[nodiscard]] std::string_view name() const { return example.family; }
  /// The plan of the family's kernel for the example.
  [[nodiscard]] tmajit::KernelPlan plan() const;
};

/// The first case of the list that is made for the family; if there is none, the first case for which the
/// planner chooses the family, then the first that the family can do. Throws tmajit::Error{unsupported} if
/// the family can do no case of the list.
Representative representative(std::string_view family);

}  // namespace bench
