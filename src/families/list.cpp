/// The list of kernel families, and functions that find a family by its name. A family is a kernel template
/// with its planner.
#include "families/list.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

std::span<const Family* const> all_families() noexcept {
  static const std::array list{&rows_family(),           &transpose_family(),    &direct_transpose_family(),
                               &engine_rows_family(),    &flat_family(),         &linear_family(),
                               &general_family(),        &fill_family(),         &stencil_family(),
                               &reduce_family(),         &scan_family(),         &rowwise_family(),
                               &cast_transpose_family(), &top_k_family(),        &indexed_family(),
                               &ordered_add_family(),    &gathered_sum_family(), &moe_permute_family(),
                               &ragged_family(),         &im2col_family(),       &convolution_family(),
                               &copy_family(),           &reduce_into_family(),  &map_family(),
                               &bulk_family(),           &snapshot_family()};
  return list;
}

const Family& family_named(std::string_view name) {
  const auto list = all_families();
  const auto found = std::ranges::find(list, name, &Family::name);
  if (found != list.end()) return **found;
  std::vector<std::string_view> names;
  for (const Family* family : list) names.push_back(family->name());
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("there is no kernel family \"{}\"; the families are {}", name, fmt::join(names, ", ")));
}

std::span<const FamilyInfo> families() noexcept {
  // Never destroyed, because threads and static objects may use families while the process ends. If the
  // allocation fails, the program ends: this function is noexcept.
  static const auto& infos = *new auto([] {  // NOLINT(bugprone-unhandled-exception-at-new)
    std::vector<FamilyInfo> result;
    for (const Family* family : all_families()) result.push_back(family->info());
    return result;
  }());
  return infos;
}

const FamilyInfo& find_family(std::string_view name) {
  return family_named(name).info();
}

// Defined here because only the family can describe its choice.
std::string KernelChoice::text() const {
  return fmt::format("{} {}", family, family_named(family).describe(*this));
}

TMAJIT_END
