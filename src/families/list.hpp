#pragma once

#include "kernel/family.hpp"

#include <span>

TMAJIT_BEGIN

// A function for each family, and the list of all families.

[[nodiscard]] const Family& rows_family();
[[nodiscard]] const Family& transpose_family();
[[nodiscard]] const Family& direct_transpose_family();
[[nodiscard]] const Family& engine_rows_family();
[[nodiscard]] const Family& flat_family();
[[nodiscard]] const Family& linear_family();
[[nodiscard]] const Family& general_family();
[[nodiscard]] const Family& fill_family();
[[nodiscard]] const Family& stencil_family();
[[nodiscard]] const Family& reduce_family();
[[nodiscard]] const Family& scan_family();
[[nodiscard]] const Family& rowwise_family();
[[nodiscard]] const Family& cast_transpose_family();
[[nodiscard]] const Family& top_k_family();
[[nodiscard]] const Family& indexed_family();
[[nodiscard]] const Family& ordered_add_family();
[[nodiscard]] const Family& moe_permute_family();
[[nodiscard]] const Family& gathered_sum_family();
[[nodiscard]] const Family& ragged_family();
[[nodiscard]] const Family& im2col_family();
[[nodiscard]] const Family& convolution_family();
[[nodiscard]] const Family& copy_family();
[[nodiscard]] const Family& reduce_into_family();
[[nodiscard]] const Family& map_family();
[[nodiscard]] const Family& bulk_family();
[[nodiscard]] const Family& snapshot_family();

/// All families, in the order in which the planner asks them for candidates.
[[nodiscard]] std::span<const Family* const> all_families() noexcept;
/// The family named `name`. Throws Error{invalid_argument} that lists all names if there is none.
[[nodiscard]] const Family& family_named(std::string_view name);

TMAJIT_END
