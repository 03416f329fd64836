#pragma once

#include "operations/entry.hpp"

#include <tmajit/out_of_range.hpp>

#include <array>
#include <string_view>

TMAJIT_BEGIN

// The arguments of gather, scatter and scatter_add.

inline constexpr std::array<std::string_view, 2> out_of_range_policies{"skip", "clamp"};

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
    .sentence = "the element that an index outside of its dimension selects: none, or the nearest one",
    .example = "clamp",
    .choices = out_of_range_policies};

/// Reads these arguments into a descriptor.
template <class What>
[[nodiscard]] What indexing_from(const Arguments& given) {
  What what;
  if (const Dims axes = given.dims("axes"); !axes.empty()) what.axes = axes;
  what.along = given.text("along") == "yes";
  what.out_of_range = parse<OutOfRange>(given.text("out_of_range", "skip"));
  return what;
}

TMAJIT_END
