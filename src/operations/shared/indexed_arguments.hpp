#pragma once

#include "operations/entry.hpp"

#include <tmajit/out_of_range.hpp>

#include <array>
#include <string_view>

TMAJIT_BEGIN

// The arguments of gather, scatter, scatter_add and gather_sum.

inline constexpr std::array<std::string_view, 3> out_of_range_policies{"skip", "clamp", "error"};

inline constexpr Argument indexed_axes_argument{
    .name = "axes",
    .option = "--axes",
    .type = ArgumentType::axes,
    .fallback = "0",
    .sentence = "the neighbouring dimensions that are indexed, one for each index tensor",
    .example = "1,2"};
inline constexpr Argument along_argument{
    .name = "along",
    .option = "--along",
    .type = ArgumentType::choice,
    .fallback = "no",
    .sentence =
        "whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and "
        "put_along_axis",
    .example = "yes",
    .choices = no_or_yes};
inline constexpr Argument out_of_range_argument{
    .name = "out_of_range",
    .option = "--out-of-range",
    .type = ArgumentType::choice,
    .fallback = "skip",
    .sentence =
        "the element that an index outside of its dimension selects: none, the nearest one, or none "
        "after which the kernel stops by a device assertion",
    .example = "clamp",
    .choices = out_of_range_policies};

inline constexpr Argument flat_argument{
    .name = "flat",
    .option = "--flat",
    .type = ArgumentType::choice,
    .fallback = "no",
    .sentence = "whether one index tensor numbers the elements of all axes together, in row-major order",
    .example = "yes",
    .choices = no_or_yes};

/// Reads these arguments into a descriptor.
template <class What>
[[nodiscard]] What indexing_from(const Arguments& given) {
  What what;
  if (const Dims axes = given.dims("axes"); !axes.empty()) what.axes = axes;
  if constexpr (requires { what.along; }) what.along = given.text("along") == "yes";
  what.flat = given.text("flat") == "yes";
  what.out_of_range = parse<OutOfRange>(given.text("out_of_range", "skip"));
  return what;
}

TMAJIT_END
