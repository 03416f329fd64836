#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// "128x64" or "128,64" as numbers, outermost first. Throws Error{invalid_argument} that names `option`.
[[nodiscard]] std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option);
/// The same, each below 2^32.
[[nodiscard]] std::vector<std::uint32_t> parse_box(std::string_view text, std::string_view option);
/// The same with signs: "4096,1".
[[nodiscard]] std::vector<std::int64_t> parse_strides(std::string_view text, std::string_view option);
/// Every type of a repeatable option that also takes lists: {"f16,f32", "u8"} is f16, f32, u8.
[[nodiscard]] std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts);

/// How many inputs an expression reads: one more than the largest K of its identifiers xK, at least 1.
[[nodiscard]] std::uint32_t inputs_of(std::string_view expression);
/// Whether one of an expression's identifiers is `name`.
[[nodiscard]] bool reads(std::string_view expression, std::string_view name);

/// "100:12100,64:12064:2,:,::-1", a part of Python's slice syntax for each dimension. A single index would
/// drop its dimension, which no view does: it is refused. Throws Error{invalid_argument} that quotes the
/// part.
[[nodiscard]] std::vector<tmajit::Slice> parse_slices(std::string_view text);
/// As parse_slices() reads it.
[[nodiscard]] std::string format(std::span<const tmajit::Slice> slices);

/// What --pad says: elements added (or, if negative, cropped) at the ends of each dimension.
struct PadWidths {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  friend bool operator==(const PadWidths&, const PadWidths&) = default;
};

/// "1,1:2,2": before every dimension, and after. Without a colon both ends get the same.
/// Throws Error{invalid_argument}.
[[nodiscard]] PadWidths parse_padding(std::string_view text);
[[nodiscard]] std::string format(const PadWidths& widths);

/// Dimensions of a tensor of `rank` dimensions, none named twice: "0,2,-1". Negative ones count from the end.
/// Throws Error{invalid_argument} that names `option`.
[[nodiscard]] std::vector<std::uint32_t> parse_axes(std::string_view text, std::uint32_t rank,
                                                    std::string_view option);

}  // namespace jitc
