#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/tiles.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Plans of every family, over tensors at arbitrary addresses.

namespace tests {

/// Every family that plan_tiles() makes kernels of.
[[nodiscard]] std::vector<tmajit::FamilyInfo> tile_families();

/// The operation of a small kernel of a family that combines elements of this type; it varies with the rank.
/// Empty for other families, and for types that the engine does not combine.
[[nodiscard]] std::optional<tmajit::CombineOp> some_combine_op(const tmajit::FamilyInfo& family,
                                                               std::uint32_t rank, tmajit::ElementType type);

/// A small legal kernel of any family of tiles, rank, swizzle and type. With `row_tails` its rows end within
/// 16 bytes; this changes only families whose tensor maps write rows.
[[nodiscard]] tmajit::KernelPlan small_plan(const tmajit::FamilyInfo& family, std::uint32_t rank,
                                            tmajit::Swizzle swizzle, tmajit::ElementType type,
                                            bool row_tails = false, bool persistent = false);

/// A map over [64, 64] in tiles of [16, 32]. types[i] is the type of xi; the last type is the destination's.
[[nodiscard]] tmajit::KernelPlan map_plan(std::string_view expression,
                                          const std::vector<tmajit::ElementType>& types);

struct NamedMove {
  std::string name;
  tmajit::Move move;
};
/// Some sixty moves, of every kind that planners distinguish.
[[nodiscard]] std::vector<NamedMove> broad_moves();

struct NamedPlan {
  std::string name;
  tmajit::KernelPlan plan;
};
/// Kernels that have several destinations: batches, and operations with several results.
[[nodiscard]] std::vector<NamedPlan> joint_plans();
/// Kernels of every family: tiles of every family over ranks, swizzles and types, and every candidate for
/// broad_moves(), and joint_plans(). Names give the operation and the variant; plans are ordered by name.
[[nodiscard]] std::vector<NamedPlan> broad_plans();

/// One plan of broad_plans() for each family.
[[nodiscard]] std::vector<NamedPlan> one_of_each_family();

}  // namespace tests
