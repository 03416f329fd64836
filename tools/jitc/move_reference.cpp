#include "move_reference.hpp"

#include "arrays.hpp"
#include "launch/strided.hpp"
#include "operations/stencil/reference.hpp"
#include "reference/scalar.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using reference::as_double, reference::Rounding;
using tmajit::for_each_row;

/// What rounding to a type may change of a number, relative to it.
double rounding(tmajit::ElementType type) {
  switch (type) {
    case tmajit::ElementType::f64: return 0x1p-51;
    case tmajit::ElementType::f16:
    case tmajit::ElementType::tf32:
    case tmajit::ElementType::tf32_ftz: return 0x1p-10;
    case tmajit::ElementType::bf16: return 0x1p-7;
    case tmajit::ElementType::e4m3: return 0x1p-3;
    case tmajit::ElementType::e5m2: return 0x1p-2;
    default: return 0x1p-22;
  }
}

bool is_near(tmajit::ElementType type, const std::byte* want, const std::byte* got, double allowed) {
  const double wanted = as_double(reference::decode(type, want));
  const double found = as_double(reference::decode(type, got));
  return std::fabs(wanted - found) <= allowed + rounding(type) * std::fabs(wanted);
}

}  // namespace

Difference compare(const Array& array, std::span<const std::byte> expected, std::span<const std::byte> found,
                   Rounding rounding, std::span<const double> allowed) {
  Difference difference;
  difference.elements = array.view.elements();
  if (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size()) == 0) return difference;
  const auto shape = extents(array.view);
  const std::uint32_t size = tmajit::size_of(array.view.type);
  std::vector<std::byte> rest(found.begin(), found.end());
  std::uint64_t number = 0;  // of the element, in C order
  for_each_row<1>(
      shape, {strides(array.view)}, [&](const auto& offsets, std::uint64_t count, const auto& steps) {
        for (std::uint64_t i = 0; i < count; ++i, ++number) {
          const auto at =
              static_cast<std::uint64_t>(static_cast<std::int64_t>(array.memory.first) +
                                         (offsets[0] + static_cast<std::int64_t>(i) * steps[0]) * size);
          const auto* const want = expected.data() + at;
          const auto* const got = found.data() + at;
          std::memcpy(rest.data() + at, want, size);
          if (std::memcmp(want, got, size) == 0) continue;
          if (rounding == Rounding::once && reference::same_value(array.view.type, want, got)) continue;
          if ((rounding == Rounding::in_f32 || rounding == Rounding::in_f64) &&
              reference::is_close(array.view.type, rounding == Rounding::in_f32, want, got)) {
            continue;
          }
          if (!allowed.empty() && is_near(array.view.type, want, got, allowed[number])) continue;
          if (difference.wrong++ != 0) continue;
          difference.expected = reference::bits_text(array.view.type, want);
          difference.found = reference::bits_text(array.view.type, got);
          difference.index.assign(shape.size(), 0);
          auto left = number;
          for (std::size_t d = shape.size(); d-- > 0; left /= shape[d]) difference.index[d] = left % shape[d];
        }
      });
  for (std::size_t at = 0; at < rest.size(); ++at) difference.stray_bytes += rest[at] != expected[at] ? 1 : 0;
  return difference;
}

std::string describe(const Array& array, const Difference& difference) {
  std::string text;
  if (difference.wrong != 0) {
    text = fmt::format("{}: {} of {} elements {} wrong, first [{}]: {} instead of {}", array.name,
                       difference.wrong, difference.elements, difference.wrong == 1 ? "is" : "are",
                       fmt::join(difference.index, ", "), difference.found, difference.expected);
  }
  if (difference.stray_bytes != 0) {
    text += fmt::format("{}{} between its elements changed", text.empty() ? array.name + ": " : "; ",
                        counted(difference.stray_bytes, "byte"));
  }
  return text.empty() ? fmt::format("{}: all {} elements are right", array.name, difference.elements) : text;
}

}  // namespace jitc
