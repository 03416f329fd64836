#include "data.hpp"

#include "expressions.hpp"
#include "values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {
namespace {

using tmajit::ElementType;

constexpr std::uint64_t period_words = 2097143;  // the largest prime below 2^21

/// Without its topmost exponent bit a floating-point number is finite and below 2.
std::uint64_t finite_mask(ElementType type) {
  if (!tmajit::is_float(type)) return ~std::uint64_t{0};
  switch (tmajit::size_of(type)) {
    case 1: return 0xBFBFBFBFBFBFBFBF;
    case 2: return 0xBFFFBFFFBFFFBFFF;
    case 4: return 0xBFFFFFFFBFFFFFFF;
    default: return 0xBFFFFFFFFFFFFFFF;
  }
}

/// An element of a source.
struct Place {
  std::size_t array = 0;
  std::vector<std::uint64_t> index;
};

/// Where one element of destination `array` at `index` comes from: one place a source that it needs, none in
/// a padding. The host's own reading of what an operation means.
std::vector<Place> origins(const Case& c, std::size_t array, const std::vector<std::uint64_t>& index) {
  Place from{0, index};
  switch (c.operation) {
    case Operation::permute:
      for (std::size_t d = 0; d < index.size(); ++d) from.index[c.axes[d]] = index[d];
      return {from};
    case Operation::slice:
      for (std::size_t d = 0; d < index.size(); ++d) {
        from.index[d] = static_cast<std::uint64_t>(c.slices[d].start.value_or(0)) +
                        index[d] * static_cast<std::uint64_t>(c.slices[d].step);
      }
      return {from};
    case Operation::flip:
      for (const std::uint32_t d : c.axes) from.index[d] = c.sources[0].shape[d] - 1 - index[d];
      return {from};
    case Operation::pad:
      for (std::size_t d = 0; d < index.size(); ++d) {
        from.index[d] = index[d] - static_cast<std::uint64_t>(c.before[d]);  // wraps in front of the source
        if (from.index[d] >= c.sources[0].shape[d]) return {};
      }
      return {from};
    case Operation::concat: {
      std::uint64_t& along = from.index[c.axes[0]];
      while (along >= c.sources[from.array].shape[c.axes[0]]) {
        along -= c.sources[from.array++].shape[c.axes[0]];
      }
      return {from};
    }
    case Operation::split:
      for (std::size_t i = 0; i < array; ++i) from.index[c.axes[0]] += c.destinations[i].shape[c.axes[0]];
      return {from};
    default: break;
  }
  std::vector<Place> all;
  for (std::size_t i = 0; i < c.sources.size(); ++i) {
    all.push_back({i, index});
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (c.sources[i].shape[d] == 1) all.back().index[d] = 0;
    }
  }
  return all;
}

std::uint64_t flat(const Shape& shape, const std::vector<std::uint64_t>& index) {
  std::uint64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

std::vector<std::uint64_t> unflatten(const Shape& shape, std::uint64_t at) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
  return index;
}

/// What the host puts into one element.
std::array<std::byte, 8> expected(const Case& c, const Pattern& pattern, const Places& sources,
                                  std::size_t array, const std::vector<std::uint64_t>& index) {
  std::array<std::byte, 8> element{};
  const ElementType to = c.destinations[array].type;
  const std::vector<Place> from = origins(c, array, index);
  if (from.empty()) {
    encode(to, c.value, element.data());
    return element;
  }
  std::vector<double> values;
  for (const Place& place : from) {
    const Array& source = c.sources[place.array];
    const std::byte* const bytes = pattern.at(sources.offsets[place.array] +
                                              flat(source.shape, place.index) * tmajit::size_of(source.type));
    if (c.expression.empty()) {
      std::memcpy(element.data(), bytes, tmajit::size_of(to));
      return element;
    }
    values.push_back(decode(source.type, bytes));
  }
  encode(to, find_expression(c.expression).host(values), element.data());
  return element;
}

/// Elements `first` to `first + count` of an array.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

std::vector<Window> windows(std::uint64_t elements, std::uint64_t seed) {
  constexpr std::uint64_t whole = 1ULL << 19;
  constexpr std::uint64_t part = 1ULL << 14;
  constexpr int parts = 14;
  if (elements <= whole) return {{0, elements}};
  std::vector<Window> all{{0, part}, {elements - part, part}};
  std::mt19937_64 random(seed);
  for (int i = 0; i < parts; ++i) all.push_back({random() % (elements - part), part});
  return all;
}

}  // namespace

Pattern::Pattern(ElementType type, std::uint64_t seed)
    // One more word, so that an element at the end is contiguous.
    : bytes_((period_words + 1) * sizeof(std::uint64_t)) {
  const std::uint64_t mask = finite_mask(type);
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < period_words; ++i) {
    const std::uint64_t word = random() & mask;
    std::memcpy(&bytes_[i * sizeof(word)], &word, sizeof(word));
  }
  std::memcpy(&bytes_[period_words * sizeof(std::uint64_t)], bytes_.data(), sizeof(std::uint64_t));
}

const std::byte* Pattern::at(std::uint64_t offset) const {
  return &bytes_[offset % (period_words * sizeof(std::uint64_t))];
}

void Pattern::fill(tmajit::Device& device, tmajit::DevicePtr address, std::uint64_t bytes,
                   tmajit::Stream stream) const {
  constexpr std::uint64_t period = period_words * sizeof(std::uint64_t);
  std::uint64_t filled = std::min(bytes, period);
  device.copy_in(address, std::span(bytes_).first(filled), stream);
  while (filled < bytes) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    device.copy(address + filled, address, more, stream);
    filled += more;
  }
  device.synchronize(stream);
}

std::string check(const Case& c, const Pattern& pattern, tmajit::Device& device,
                  tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream) {
  const Places to = places(c.destinations);
  const Places from = places(c.sources);
  for (std::size_t array = 0; array < c.destinations.size(); ++array) {
    const Array& result = c.destinations[array];
    const std::uint64_t size = tmajit::size_of(result.type);
    const double tolerance = c.expression.empty() ? 0 : find_expression(c.expression).tolerance(result.type);
    for (const Window& window : windows(result.elements(), seed + array)) {
      std::vector<std::byte> got(window.count * size);
      device.copy_out(got, destination + to.offsets[array] + window.first * size, stream);
      device.synchronize(stream);
      for (std::uint64_t i = 0; i < window.count; ++i) {
        const std::vector<std::uint64_t> index = unflatten(result.shape, window.first + i);
        const std::array<std::byte, 8> want = expected(c, pattern, from, array, index);
        const std::byte* const element = &got[i * size];
        if (std::memcmp(element, want.data(), size) == 0) continue;
        if (tolerance > 0) {
          const double is = decode(result.type, element);
          const double should = decode(result.type, want.data());
          if (std::fabs(is - should) <= tolerance * std::max(1.0, std::fabs(should))) continue;
        }
        const auto hex = [&](const std::byte* bytes) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, bytes, size);
          return fmt::format("{:#0{}x}", bits, 2 + 2 * size);
        };
        return fmt::format("element ({}) of destination {} is {} and should be {}", fmt::join(index, ","),
                           array, hex(element), hex(want.data()));
      }
    }
  }
  return {};
}

}  // namespace movement
