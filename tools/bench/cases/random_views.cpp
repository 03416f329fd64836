#include "expressions.hpp"
#include "random_cases.hpp"
#include "random_shapes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;
using tmajit::Slice;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8};
constexpr std::array cast_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::e4m3,
                                ElementType::f64};
constexpr std::size_t most_rank = 5;

/// What a map computes, and of what.
struct Computation {
  const char* expression;
  std::size_t inputs;
  ElementType from, to;
};
constexpr std::array computations{
    Computation{"2a+1", 1, ElementType::f32, ElementType::f32},
    Computation{"2a+1", 1, ElementType::bf16, ElementType::bf16},
    Computation{"2a+1", 1, ElementType::u8, ElementType::u8},
    Computation{"a+b", 2, ElementType::f32, ElementType::f32},
    Computation{"a+b", 2, ElementType::bf16, ElementType::bf16},
    Computation{"a+b", 2, ElementType::u8, ElementType::u8},
    Computation{"a+b+c", 3, ElementType::f32, ElementType::f32},
    Computation{"a+b+c", 3, ElementType::bf16, ElementType::bf16},
    Computation{"a+b+c", 3, ElementType::u8, ElementType::u8},
    Computation{"silu(a)*b+1", 2, ElementType::f32, ElementType::f32},
    Computation{"silu(a)*b+1", 2, ElementType::bf16, ElementType::bf16},
    Computation{"2.5a", 1, ElementType::bf16, ElementType::e4m3},
    Computation{"normalise", 1, ElementType::u8, ElementType::f32},
    Computation{"100a", 1, ElementType::f32, ElementType::u8},
};

std::uint64_t elements_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

/// Draws cases. What they write has up to `most_` elements, and what they read no more than twice that.
class Drawer {
 public:
  Drawer(Random& random, bool tiny)
      : random_(random), least_(tiny ? 64 : 8 * MiB), most_(tiny ? 4096 : 256 * MiB) {}

  Case pad(ElementType type) {
    for (;;) {
      const Shape to = shape();
      Case c = begin("random pad", "pad", {type, to});
      std::vector<std::uint64_t> before_each(to.size());
      std::vector<std::uint64_t> after_each(to.size());
      Shape inner = to;
      for (const std::uint32_t d : some_axes(to.size())) {
        if (to[d] < 4) continue;
        const std::uint64_t before = odd_amount(to[d]);
        const std::uint64_t after = random_.one_in(3) ? 0 : odd_amount(to[d]);
        before_each[d] = before;
        after_each[d] = after;
        inner[d] -= before + after;
      }
      if (inner == to) continue;
      const auto value = static_cast<double>(random_.below(2));
      c.arguments = {{"widths", tmajit::PadWidths{before_each, after_each}}, {"value", value}};
      const std::string source = add_source(c, type, inner);
      c.name = fmt::format("{} at ({}) of ({}), {}", source, fmt::join(before_each, ","), fmt::join(to, ","),
                           value);
      return c;
    }
  }

  Case slice(ElementType type) {
    for (;;) {
      const Shape to = shape();
      Case c = begin("random slice", "slice", {type, to});
      Shape from = to;
      std::vector<Slice> slices;
      for (const std::uint64_t n : to) slices.push_back({0, static_cast<std::int64_t>(n), 1});
      for (const std::uint32_t d : some_axes(to.size())) {
        const std::uint64_t start = random_.one_in(4) ? 0 : odd_amount(to[d]);
        const std::uint64_t step = random_.one_in(4) ? random_.between(2, 3) : 1;
        const std::uint64_t stop = start + (to[d] - 1) * step + 1;
        from[d] = stop + random_.below(std::min<std::uint64_t>(to[d], 64));
        slices[d] = {static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                     static_cast<std::int64_t>(step)};
      }
      if (elements_of(from) > 2 * most_) continue;
      std::vector<std::string> parts;
      for (const Slice& s : slices) {
        parts.push_back(fmt::format("{}:{}", s.start.value_or(0), s.stop.value_or(0)) +
                        (s.step == 1 ? "" : fmt::format(":{}", s.step)));
      }
      c.arguments.set("slices", slices);
      const std::string source = add_source(c, type, from);
      c.name = fmt::format("{}[{}]", source, fmt::join(parts, ","));
      return c;
    }
  }

  Case flip(ElementType type) {
    const Shape to = shape();
    Case c = begin("random flip", "flip", {type, to});
    const std::vector<std::uint32_t> axes = some_axes(to.size());
    c.arguments.set("axes", tmajit::Dims(axes));
    const std::string source = add_source(c, type, to);
    c.name = fmt::format("{} along {}", source, fmt::join(axes, ","));
    return c;
  }

  Case broadcast(ElementType type) {
    const Shape to = shape();
    Case c = begin("random broadcast", "broadcast", {type, to});
    c.arguments.set("shape", tmajit::Dims(to));
    const std::string source = add_source(c, type, repeated(to));
    c.name = fmt::format("{} to ({})", source, fmt::join(to, ","));
    return c;
  }

  Case cast(ElementType from, ElementType to) {
    const Shape of = shape();
    Case c = begin("random cast", "cast", {to, of});
    c.expression = "cast";
    c.name = add_source(c, from, of);
    return c;
  }

  Case map(const Computation& computation) {
    const Shape to = shape();
    Case c = begin("random map", "map", {computation.to, to});
    c.expression = computation.expression;
    c.arguments.set("expression", expression_text(c.expression, computation.from));
    std::vector<std::string> of;
    for (std::size_t i = 0; i < computation.inputs; ++i) {
      // The first has every element, so that something is read.
      of.push_back(add_source(c, computation.from, i > 0 && random_.one_in(2) ? repeated(to) : to));
    }
    c.name = fmt::format("{} of {}", c.expression, fmt::join(of, ", "));
    return c;
  }

 private:
  static Case begin(const char* group, const char* operation, Array to) {
    Case c;
    c.group = group;
    c.operation = operation;
    c.destinations = {std::move(to)};
    return c;
  }

  Shape shape() { return random_shape(random_, random_.between(1, most_rank), least_, most_); }

  /// One of `rank` axes or more, in their order.
  std::vector<std::uint32_t> some_axes(std::size_t rank) {
    const std::uint64_t chosen = random_.between(1, (std::uint64_t{1} << rank) - 1);
    std::vector<std::uint32_t> axes;
    for (std::uint32_t d = 0; d < rank; ++d) {
      if ((chosen >> d & 1U) != 0) axes.push_back(d);
    }
    return axes;
  }

  /// An odd number that leaves room beside it, twice, in an extent of 4 or more.
  std::uint64_t odd_amount(std::uint64_t extent) {
    const std::uint64_t most = std::clamp<std::uint64_t>(extent / 3, 1, 129);
    return 1 + 2 * random_.below((most + 1) / 2);
  }

  Shape repeated(Shape shape) {
    for (const std::uint32_t d : some_axes(shape.size())) shape[d] = 1;
    return shape;
  }

  /// Adds a source that is seen as `seen`, of an array that may lie otherwise. Returns what it is:
  /// "(3,5)->(1,0)".
  std::string add_source(Case& c, ElementType type, const Shape& seen) {
    Shape lies = seen;
    std::vector<std::uint32_t> order;
    if (seen.size() > 1 && random_.one_in(3)) {
      order = random_axes(random_, seen.size());
      for (std::size_t d = 0; d < seen.size(); ++d) lies[order[d]] = seen[d];
    }
    c.sources.push_back({type, lies});
    const std::string text = fmt::format("({})", fmt::join(lies, ","));
    if (!order.empty() || !c.orders.empty()) {
      c.orders.resize(c.sources.size());
      c.orders.back() = order;
    }
    return order.empty() ? text : fmt::format("{}->({})", text, fmt::join(order, ","));
  }

  Random& random_;
  std::uint64_t least_;
  std::uint64_t most_;
};

/// Number `k` of the casts between two types.
std::array<ElementType, 2> cast_pair(std::size_t k) {
  constexpr std::size_t others = cast_types.size() - 1;
  const std::size_t from = k % (cast_types.size() * others) / others;
  const std::size_t to = k % others;
  return {cast_types.at(from), cast_types.at(to < from ? to : to + 1)};
}

}  // namespace

std::vector<Case> random_views(const RandomOptions& options) {
  Random random(options.seed);
  Drawer draw(random, options.tiny);
  UniqueCases cases;
  for (std::size_t k = 0; k < options.count; ++k) {
    const ElementType type = types.at(k % types.size());
    const std::array<ElementType, 2> pair = cast_pair(k);
    const Computation& computation = computations.at(k % computations.size());
    cases.add([&] { return draw.pad(type); });
    cases.add([&] { return draw.slice(type); });
    cases.add([&] { return draw.flip(type); });
    cases.add([&] { return draw.broadcast(type); });
    cases.add([&] { return draw.cast(pair[0], pair[1]); });
    cases.add([&] { return draw.map(computation); });
  }
  return cases.take();
}

}  // namespace bench
