#pragma once

#include "spec/refuse.hpp"
#include "spec/views.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Helpers of the functions that make operations.

inline constexpr std::string_view the_source = "the source";

/// The extents of the destination. Throws Error{invalid_argument} for more than `max_view_rank`.
[[nodiscard]] std::span<const std::uint64_t> shape_of(const Tensor& destination);

/// The operation that consists of one move; `sources` are the caller's.
[[nodiscard]] Operation one_move(Move move, std::span<const Tensor> sources);

/// Throws the error of a call with `given` destinations in place of those that are needed.
[[noreturn]] void refuse_destinations(std::string_view operation, std::size_t given,
                                      std::span<const std::string_view> needed);

/// Throws unless `whole` has the dimension `given_axis`, all parts have its rank, and their extents along the
/// axis add up to that of `whole`. Returns the axis, counted from the front.
[[nodiscard]] std::uint32_t check_parts(const Tensor& whole, std::string_view whole_name,
                                        std::span<const Tensor> parts, std::string_view part_name,
                                        std::int64_t given_axis);
/// The parts with a further dimension `axis`, of extent 1. Throws unless each part has one dimension fewer
/// than the `rank` of the whole tensor. `rule` says why, for the error: "with a new axis a source".
[[nodiscard]] std::vector<Tensor> with_axis(std::span<const Tensor> parts, std::string_view part_name,
                                            std::uint32_t axis, std::size_t rank, std::string_view whole_name,
                                            std::string_view rule);
/// The `count` elements of `whole` from `first` on along `axis`.
[[nodiscard]] Tensor part_of(const Tensor& whole, std::uint32_t axis, std::uint64_t first,
                             std::uint64_t count);

TMAJIT_END
