#include "strided_copy.hpp"

#include "walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace jitc {
namespace {

template <class Element>
Element swapped(Element element) {
  std::array<std::byte, sizeof(Element)> bytes{};
  std::memcpy(bytes.data(), &element, sizeof(Element));
  std::reverse(bytes.begin(), bytes.end());
  std::memcpy(&element, bytes.data(), sizeof(Element));
  return element;
}

/// Copies elements of one strided array to another; what they are is of no concern.
template <class Element>
void copy_elements(std::byte* to, std::span<const std::int64_t> to_strides, const std::byte* from,
                   std::span<const std::int64_t> from_strides, std::span<const std::uint64_t> shape,
                   bool swap) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(Element));
  for_each_row<2>(shape, {to_strides, from_strides},
                  [&](const auto& offsets, std::uint64_t count, const auto& steps) {
                    auto* out = to + offsets[0] * size;
                    const auto* in = from + offsets[1] * size;
                    if (!swap && steps[0] == 1 && steps[1] == 1) {
                      std::memcpy(out, in, count * sizeof(Element));
                      return;
                    }
                    for (std::uint64_t i = 0; i < count; ++i, out += steps[0] * size, in += steps[1] * size) {
                      Element element;
                      std::memcpy(&element, in, sizeof element);
                      if (swap) element = swapped(element);
                      std::memcpy(out, &element, sizeof element);
                    }
                  });
}

}  // namespace

void copy_strided(std::uint32_t size, std::byte* to, std::span<const std::int64_t> to_strides,
                  const std::byte* from, std::span<const std::int64_t> from_strides,
                  std::span<const std::uint64_t> shape, bool swap) {
  switch (size) {
    case 1: return copy_elements<std::uint8_t>(to, to_strides, from, from_strides, shape, swap);
    case 2: return copy_elements<std::uint16_t>(to, to_strides, from, from_strides, shape, swap);
    case 4: return copy_elements<std::uint32_t>(to, to_strides, from, from_strides, shape, swap);
    default: return copy_elements<std::uint64_t>(to, to_strides, from, from_strides, shape, swap);
  }
}

}  // namespace jitc
