#pragma once

#include "families/rowwise/online_forms.hpp"
#include "kernel/problem.hpp"

#include <span>
#include <string>

TMAJIT_BEGIN

/// The user's steps as the device function run_steps() (templates/kernels/rowwise.cu). `types` are the value
/// types of the tensors, such as "float"; `numbers` are those of the launch's numbers. The kernel stores the
/// destinations y_k of each k in `results`. Bit s of `once` is set if source s has one element for each row.
/// If `keeps` is set, threads keep the values of kept_steps() in registers. One pass computes both reductions
/// of each of `pairs`.
[[nodiscard]] std::string row_steps_text(std::span<const RowStep> steps,
                                         std::span<const std::string_view> types,
                                         std::span<const std::string_view> numbers,
                                         std::span<const std::uint32_t> results, std::uint32_t once,
                                         bool keeps, std::span<const OnlinePair> pairs);

/// The steps whose values are worth a register: they have a value for each element, call a function other
/// than an intrinsic, and are read more than once, by steps or by a store.
[[nodiscard]] std::vector<bool> kept_steps(std::span<const RowStep> steps,
                                           std::span<const std::uint32_t> results);

/// The steps that the destinations `results` need, including the steps that are stored to them.
[[nodiscard]] std::vector<bool> needed_steps(std::span<const RowStep> steps,
                                             std::span<const std::uint32_t> results);
/// The sources (bit s: source s) that a thread must hold before it stores results: those of the values that
/// are reduced or kept.
[[nodiscard]] std::uint32_t early_sources(std::span<const RowStep> steps,
                                          std::span<const std::uint32_t> results);
/// The number of reductions among needed_steps().
[[nodiscard]] std::uint32_t reductions_of(std::span<const RowStep> steps,
                                          std::span<const std::uint32_t> results);
/// Bytes of a thread's states of all these reductions, at most.
[[nodiscard]] std::uint32_t state_bytes_of(std::span<const RowStep> steps,
                                           std::span<const std::uint32_t> results);

TMAJIT_END
