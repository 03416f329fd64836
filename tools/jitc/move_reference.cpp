#include "move_reference.hpp"

#include "arrays.hpp"
#include "launch/strided.hpp"
#include "reference/scalar.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace jitc {

using tmajit::for_each_row;

Difference compare(const Array& array, std::span<const std::byte> expected, std::span<const std::byte> found,
                   bool makes_values, std::span<const double> allowed) {
  Difference difference;
  difference.elements = array.view.elements();
  if (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size()) == 0) return difference;
  const auto shape = extents(array.view);
  const std::uint32_t size = tmajit::size_of(array.view.type);
  // The loop replaces the elements by the expected ones, so that only stray bytes still differ.
  std::vector<std::byte> without_elements(found.begin(), found.end());
  std::uint64_t number = 0;  // index of the element in C order
  for_each_row<1>(
      shape, {strides(array.view)}, [&](const auto& offsets, std::uint64_t count, const auto& steps) {
        for (std::uint64_t i = 0; i < count; ++i, ++number) {
          const auto at =
              static_cast<std::uint64_t>(static_cast<std::int64_t>(array.memory.first) +
                                         (offsets[0] + static_cast<std::int64_t>(i) * steps[0]) * size);
          const auto* const want = expected.data() + at;
          const auto* const got = found.data() + at;
          std::memcpy(without_elements.data() + at, want, size);
          const double error = allowed.empty() ? 0 : allowed[number];
          if (reference::is_right(array.view.type, makes_values, error, want, got)) continue;
          if (difference.wrong++ != 0) continue;
          difference.expected = reference::bits_text(array.view.type, want);
          difference.found = reference::bits_text(array.view.type, got);
          difference.index.assign(shape.size(), 0);
          auto left = number;
          for (std::size_t d = shape.size(); d-- > 0; left /= shape[d]) difference.index[d] = left % shape[d];
        }
      });
  for (std::size_t at = 0; at < without_elements.size(); ++at)
    difference.stray_bytes += without_elements[at] != expected[at] ? 1 : 0;
  return difference;
}

std::string describe(const Array& array, const Difference& difference) {
  std::string text;
  if (difference.wrong != 0) {
    text = fmt::format("{}: {} of {} {} wrong, first [{}]: {} instead of {}", array.name, difference.wrong,
                       counted(difference.elements, "element"), difference.wrong == 1 ? "is" : "are",
                       fmt::join(difference.index, ", "), difference.found, difference.expected);
  }
  if (difference.stray_bytes != 0) {
    text += fmt::format("{}{} between its elements changed", text.empty() ? array.name + ": " : "; ",
                        counted(difference.stray_bytes, "byte"));
  }
  return text.empty() ? (difference.elements == 1
                             ? fmt::format("{}: its element is right", array.name)
                             : fmt::format("{}: all {} elements are right", array.name, difference.elements))
                      : text;
}

}  // namespace jitc
