#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

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
