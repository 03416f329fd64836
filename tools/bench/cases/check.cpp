#include "check.hpp"

#include "check_convolution.hpp"
#include "check_reduction.hpp"
#include "expressions.hpp"
#include "operations/reduce_into/reference.hpp"
#include "operations/stencil/reference.hpp"
#include "reference/scalar.hpp"
#include "scan_cases.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using Element = std::array<std::byte, 8>;

/// The host's own reading of what a case means: where elements of its destinations come from. It shares
/// nothing with the library, so that a mistake cannot hide in both.
class Origins {
 public:
  explicit Origins(const Case& c) : case_(c), sources_(places(c.sources)) {
    for (std::size_t i = 0; i < c.sources.size(); ++i) seen_.push_back(c.seen(i));
    if (c.kind == Kind::snapshot) image_.emplace(c.sources.front().type, c.image);
  }

  /// Where an element of a source lies.
  struct Place {
    tmajit::ElementType type;
    std::uint64_t offset;  ///< bytes into the buffer of sources
  };
  /// Where element `index` of destination `array` comes from: one place a source that it needs, none if it
  /// lies in a padding.
  [[nodiscard]] std::vector<Place> of(std::size_t array, const Shape& index) const {
    const Case& c = case_;
    Shape from = index;
    switch (c.kind) {
      case Kind::permute:
        for (std::size_t d = 0; d < index.size(); ++d) from[c.axes[d]] = index[d];
        return {place(0, from)};
      case Kind::slice:
        for (std::size_t d = 0; d < index.size(); ++d) {
          from[d] = static_cast<std::uint64_t>(c.slices[d].start.value_or(0)) +
                    index[d] * static_cast<std::uint64_t>(c.slices[d].step);
        }
        return {place(0, from)};
      case Kind::flip:
        for (const std::uint32_t d : c.axes) from[d] = seen_[0][d] - 1 - index[d];
        return {place(0, from)};
      case Kind::pad:
        for (std::size_t d = 0; d < index.size(); ++d) {
          from[d] = index[d] - static_cast<std::uint64_t>(c.before[d]);  // wraps in front of the source
          if (from[d] >= seen_[0][d]) return {};
        }
        return {place(0, from)};
      case Kind::concat: {
        std::size_t source = 0;
        std::uint64_t& along = from[c.axes[0]];
        while (along >= c.sources[source].shape[c.axes[0]]) along -= c.sources[source++].shape[c.axes[0]];
        return {place(source, from)};
      }
      case Kind::split:
        for (std::size_t i = 0; i < array; ++i) from[c.axes[0]] += c.destinations[i].shape[c.axes[0]];
        return {place(0, from)};
      case Kind::ragged: return {place(array, index)};
      case Kind::snapshot: return of_image(index);
      case Kind::im2col: return of_window(index);
      default: break;
    }
    // One element of each source, those of extent 1 repeated.
    std::vector<Place> all;
    for (std::size_t i = 0; i < c.sources.size(); ++i) {
      for (std::size_t d = 0; d < index.size(); ++d) from[d] = seen_[i][d] == 1 ? 0 : index[d];
      all.push_back(place(i, from));
    }
    return all;
  }

 private:
  [[nodiscard]] Place place(std::size_t source, const Shape& index) const {
    const Array& array = case_.sources[source];
    Shape lies = index;  // the index in the array
    const std::vector<std::uint32_t> order = case_.order(source);
    for (std::size_t d = 0; d < order.size(); ++d) lies[order[d]] = index[d];
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < array.shape.size(); ++d) at = at * array.shape[d] + lies[d];
    return {array.type, sources_.offsets[source] + at * tmajit::size_of(array.type)};
  }

  /// Column index[1], of taps and channels, of window index[0].
  [[nodiscard]] std::vector<Place> of_window(const Shape& index) const {
    const Shape& images = case_.sources.front().shape;
    const tmajit::Windows& windows = case_.windows;
    const auto counts = tmajit::window_counts(windows, std::span(images).subspan(1, images.size() - 2));
    Shape from(images.size());
    std::uint64_t window = index[0];
    from.back() = index[1] % images.back();
    std::uint64_t tap = index[1] / images.back();
    for (std::size_t d = counts.size(); d-- > 0;) {
      const auto taps = static_cast<std::uint64_t>(windows.filter[d]);
      const auto stride = static_cast<std::uint64_t>(windows.strides.empty() ? 1 : windows.strides[d]);
      const auto before = static_cast<std::uint64_t>(windows.before.empty() ? 0 : windows.before[d]);
      from[d + 1] = window % counts[d] * stride + tap % taps - before;  // wraps in front of the image
      window /= counts[d];
      tap /= taps;
      if (from[d + 1] >= images[d + 1]) return {};
    }
    from.front() = window;
    return {place(0, from)};
  }

  /// Byte index[1] of tile index[0]; tiles come in row-major order of their position, zeros where they leave
  /// the tensor.
  [[nodiscard]] std::vector<Place> of_image(const Shape& index) const {
    const auto byte = static_cast<std::uint32_t>(index[1]);
    const std::optional<tmajit::BoxElement> element = image_->element(byte);
    if (!element) return {};
    const auto within = image_->index(*element);
    const Shape& shape = case_.sources.front().shape;
    Shape from(shape.size());
    std::uint64_t tile = index[0];
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::uint64_t extent = case_.image[d];
      const std::uint64_t tiles = (shape[d] + extent - 1) / extent;
      from[d] = tile % tiles * extent + within.at(d);
      tile /= tiles;
      if (from[d] >= shape[d]) return {};
    }
    return {{tmajit::ElementType::u8, place(0, from).offset + byte - image_->offset_of(*element)}};
  }

  const Case& case_;
  Places sources_;
  std::vector<Shape> seen_{};  ///< shapes of the sources as the case works on them
  std::optional<tmajit::BoxLayout> image_;
};

/// What the host puts into the destinations of a case.
class Expectation {
 public:
  Expectation(const Case& c, const reference::Pattern& pattern)
      : case_(c),
        pattern_(pattern),
        origins_(c),
        expression_(c.expression.empty() ? nullptr : &find_expression(c.expression)),
        stencil_(c.kind == Kind::stencil ? reference::StencilExpression::parse(c.text) : std::nullopt) {}

  [[nodiscard]] Element element(std::size_t array, const Shape& index) const {
    if (stencil_) return of_neighbours(index);
    Element result{};
    const tmajit::ElementType to = case_.destinations[array].type;
    const std::vector<Origins::Place> from = origins_.of(array, index);
    if (case_.kind == Kind::reduce_into) {
      result.fill(poison);
      reference::combine(tmajit::CombineOp::add, to, result.data(), pattern_.at(from.front().offset));
    } else if (from.empty() && expression_ == nullptr) {
      reference::encode(to, case_.value, result.data());
    } else if (expression_ == nullptr) {
      std::memcpy(result.data(), pattern_.at(from.front().offset), tmajit::size_of(to));
    } else {
      std::vector<reference::Scalar> values;
      values.reserve(from.size());
      for (const Origins::Place& place : from) {
        values.push_back(reference::decode(place.type, pattern_.at(place.offset)));
      }
      reference::encode(to, expression_->host(values), result.data());
    }
    return result;
  }

  /// Whether `found` is as good as `wanted`.
  [[nodiscard]] bool allows(tmajit::ElementType type, const std::byte* found, const std::byte* wanted) const {
    if (std::memcmp(found, wanted, tmajit::size_of(type)) == 0) return true;
    if (stencil_)
      return reference::is_close(type, case_.sources.front().type != tmajit::ElementType::f64, found, wanted);
    if (expression_ == nullptr || expression_->exact) return false;
    const double is = as_double(reference::decode(type, found));
    const double should = as_double(reference::decode(type, wanted));
    return std::fabs(is - should) <= expression_->tolerance(type) * std::max(1.0, std::fabs(should));
  }

 private:
  [[nodiscard]] Element of_neighbours(const Shape& index) const {
    const auto& [type, shape] = case_.sources.front();
    const tmajit::Stencil& stencil = case_.stencil;
    const auto neighbour = [&](std::uint32_t, std::span<const std::int64_t> offsets) {
      Shape at = index;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        const std::size_t d = stencil.dims.empty() ? shape.size() - offsets.size() + k
                                                   : static_cast<std::size_t>(stencil.dims[k]);
        const auto found = reference::neighbour_index(static_cast<std::int64_t>(index[d]) + offsets[k],
                                                      static_cast<std::int64_t>(shape[d]), stencil.boundary);
        if (!found) {
          Element beyond{};
          reference::encode(type, stencil.value, beyond.data());
          return reference::decode(type, beyond.data());
        }
        at[d] = static_cast<std::uint64_t>(*found);
      }
      std::uint64_t offset = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + at[d];
      return reference::decode(type, pattern_.at(offset * tmajit::size_of(type)));
    };
    Element result{};
    reference::encode(case_.destinations.front().type, stencil_->evaluate(neighbour), result.data());
    return result;
  }

  const Case& case_;
  const reference::Pattern& pattern_;
  Origins origins_;
  const Expression* expression_;
  std::optional<reference::StencilExpression> stencil_;
};

/// Elements `first` to `first + count` of an array.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

std::vector<Window> windows(std::uint64_t elements, std::uint64_t seed, std::uint64_t part) {
  constexpr int parts = 14;
  if (elements <= 32 * part) return {{0, elements}};
  std::vector<Window> all{{0, part}, {elements - part, part}};
  std::mt19937_64 random(seed);
  for (int i = 0; i < parts; ++i) all.push_back({random() % (elements - part), part});
  return all;
}

Shape unflatten(const Shape& shape, std::uint64_t at) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
  return index;
}

}  // namespace

std::string check(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                  tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream,
                  std::uint64_t part) {
  if (!c.text.empty() && c.kind != Kind::stencil) return {};
  if (c.kind == Kind::convolution) return check_convolution(c, pattern, device, destination, seed, stream);
  if (c.kind == Kind::scan) return check_scan(c, pattern, device, destination, seed, stream);
  if (c.kind == Kind::reduce) return check_reduction(c, pattern, device, destination, seed, stream);
  const Expectation expectation(c, pattern);
  const Places to = places(c.destinations);
  for (std::size_t array = 0; array < c.destinations.size(); ++array) {
    const auto& [type, shape] = c.destinations[array];
    const std::uint64_t size = tmajit::size_of(type);
    for (const Window& window : windows(c.destinations[array].elements(), seed + array, part)) {
      std::vector<std::byte> found(window.count * size);
      device.memory().copy_out(found, destination + to.offsets[array] + window.first * size, stream);
      device.streams().synchronize(stream);
      for (std::uint64_t i = 0; i < window.count; ++i) {
        const Shape index = unflatten(shape, window.first + i);
        const Element wanted = expectation.element(array, index);
        if (expectation.allows(type, &found[i * size], wanted.data())) continue;
        return fmt::format("element ({}) of destination {} is {} and should be {}", fmt::join(index, ","),
                           array, reference::bits_text(type, &found[i * size]),
                           reference::bits_text(type, wanted.data()));
      }
    }
  }
  return {};
}

void require_right(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                   tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream,
                   std::uint64_t part) {
  const std::string wrong = check(c, pattern, device, destination, seed, stream, part);
  if (!wrong.empty()) throw tmajit::Error(tmajit::ErrorCode::internal, wrong);
}

}  // namespace bench
