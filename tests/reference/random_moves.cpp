#include "reference/random_moves.hpp"

#include "reference/move_expressions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace reference {

using namespace tmajit;

namespace {

using Shape = std::vector<std::uint64_t>;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Draws one move: what kernels depend on from one generator, the rest from the other. The first must be used
/// alike whatever the second gives.
class Draw {
 public:
  Draw(std::uint64_t pattern, std::uint64_t variation, const MoveLimits& limits)
      : pattern_(seeded(pattern, 1)),
        kept_(seeded(pattern, 0)),
        vary_(seeded(pattern, 2 + variation)),
        limits_(limits) {}

  RandomMove move() {
    move_.kind = one_of(pattern_, all_move_kinds);
    aligned_ = !one_in(pattern_, 3);
    type_ = one_of(pattern_, all_element_types);
    shape_ = draw_shape();
    switch (move_.kind) {
      case MoveKind::copy: copy_or_cast(false); break;
      case MoveKind::permute: permute(); break;
      case MoveKind::flip: flip(); break;
      case MoveKind::slice: slice(); break;
      case MoveKind::pad: pad(); break;
      case MoveKind::concat:
      case MoveKind::split: parts(); break;
      case MoveKind::cast: copy_or_cast(true); break;
      case MoveKind::map: map(); break;
    }
    return std::move(move_);
  }

 private:
  static Random seeded(std::uint64_t a, std::uint64_t b) {
    std::seed_seq sequence{a, a >> 32, b, b >> 32};
    return Random(sequence);
  }

  /// Elements that make 16 bytes where everything is to be aligned, else 1.
  [[nodiscard]] std::uint64_t granule() const { return aligned_ ? 16 / size_of(type_) : 1; }

  ElementType same_size_type() {
    std::vector<ElementType> types;
    for (const ElementType type : all_element_types) {
      if (size_of(type) == size_of(type_)) types.push_back(type);
    }
    return one_of(pattern_, types);
  }

  /// An extent near `about`, which the pattern chose: small ones are what they are.
  std::uint64_t vary(std::uint64_t about) {
    if (about <= 12) return about;
    const std::uint64_t extent = between(vary_, about - about / 4, about);
    return about % granule() == 0 ? round_up(extent, granule()) : extent;
  }

  Shape draw_shape() {
    const auto rank = between(pattern_, 0, max_view_rank);
    Shape about(rank);
    const bool large = one_in(pattern_, 8);
    for (auto& extent : about) {
      switch (between(pattern_, 0, 7)) {
        case 0:
        case 1: extent = between(pattern_, 20, 90); break;
        case 2: extent = between(pattern_, 100, large ? 3000 : 600); break;
        case 3: extent = 1; break;
        default: extent = between(pattern_, 2, 9);
      }
    }
    if (rank > 0 && one_in(pattern_, 40)) about[between(pattern_, 0, rank - 1)] = 0;
    if (rank > 0 && aligned_ && about[rank - 1] > 1) about[rank - 1] = round_up(about[rank - 1], granule());
    const std::uint64_t most = large ? limits_.most_elements : limits_.elements;
    while (std::accumulate(about.begin(), about.end(), std::uint64_t{1}, std::multiplies{}) > most) {
      auto& largest = *std::max_element(about.begin(), about.end());
      largest = largest > 2 * granule() ? round_up(largest / 2, granule()) : largest / 2;
    }
    Shape shape;
    for (const std::uint64_t extent : about) shape.push_back(vary(extent));
    return shape;
  }

  /// Strides for `shape`: dimensions in any order, gaps, some backwards; those of a source may be 0, or let
  /// its elements lie on each other.
  TensorView draw_view(ElementType type, const Shape& shape, bool source) {
    TensorView view{.type = type, .rank = static_cast<std::uint32_t>(shape.size())};
    std::copy(shape.begin(), shape.end(), view.shape.begin());
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::reverse(order.begin(), order.end());
    if (one_in(pattern_, 3)) std::shuffle(order.begin(), order.end(), pattern_);
    std::uint64_t stride = one_in(pattern_, 12) ? between(pattern_, 2, 3) : 1;
    const bool on_each_other = source && one_in(pattern_, 12);
    bool inner = true;
    for (const std::size_t d : order) {
      const bool backwards = one_in(pattern_, 10);
      const bool gap = one_in(pattern_, 6);
      const bool repeats = source && one_in(pattern_, 20);
      view.strides[d] = static_cast<std::int64_t>(repeats ? 0 : stride);
      if (backwards) view.strides[d] = -view.strides[d];
      if (shape[d] <= 1) continue;
      if (!repeats) stride *= on_each_other ? (shape[d] + 1) / 2 : shape[d];
      if (inner && !repeats) stride = round_up(stride, granule());
      if (gap) stride += granule() * between(vary_, 1, 5);
      inner = inner && repeats;
    }
    return view;
  }

  /// Puts a view into a buffer of its own.
  BufferView place(const TensorView& view) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool empty = false;
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      empty = empty || view.shape[d] == 0;
      if (view.shape[d] == 0) continue;
      const std::int64_t reach = view.strides[d] * static_cast<std::int64_t>(view.shape[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    if (empty) low = high = 0;
    const std::uint64_t size = size_of(view.type);
    // The alignment of the lowest element, which with aligned extents and gaps is that of all rows.
    const std::uint64_t elements = 16 / size;
    std::uint64_t phase = between(pattern_, 1, elements);
    if (!one_in(pattern_, 4)) phase = 0;
    const auto below = static_cast<std::uint64_t>(-low) * size;
    const auto above = static_cast<std::uint64_t>(high + 1) * size;
    const std::uint64_t offset = limits_.guard + phase * size + below;
    move_.buffers.push_back(offset + above + limits_.guard);
    return {view, move_.buffers.size() - 1, offset};
  }

  BufferView destination(const Shape& shape) { return place(draw_view(type_, shape, false)); }

  /// A shape that repeats to `shape`: some extents 1, some leading dimensions missing.
  Shape repeatable(Shape shape, std::size_t keep = max_view_rank) {
    const bool repeats = one_in(pattern_, 5);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool once = one_in(pattern_, 3);
      if (repeats && once && d != keep) shape[d] = 1;
    }
    const std::uint64_t missing = between(pattern_, 0, shape.size());
    const bool shorter = one_in(pattern_, 8);
    if (shorter && keep == max_view_rank)
      shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(missing));
    return shape;
  }

  void copy_or_cast(bool converts) {
    move_.destinations = {destination(shape_)};
    const ElementType from = converts ? one_of(pattern_, all_element_types) : same_size_type();
    if (!converts && one_in(pattern_, 6)) return interleave(from);
    move_.sources = {place(draw_view(from, repeatable(shape_), true))};
  }

  /// Source and destination beside each other in one buffer: elements of one between those of the other.
  void interleave(ElementType from) {
    BufferView& to = move_.destinations[0];
    to.view = draw_view(type_, shape_, false);
    for (std::uint32_t d = 0; d < to.view.rank; ++d) to.view.strides[d] *= 2;
    move_.buffers.clear();
    to = place(to.view);
    BufferView source = to;
    source.view.type = from;
    source.offset += size_of(type_);
    move_.buffers[0] += size_of(type_);
    move_.sources = {source};
  }

  /// A few elements in the last dimension, which a permutation is to leave there: kernels may move them as
  /// one.
  void draw_kept_shape() {
    aligned_ = false;
    shape_.assign(between(kept_, 3, 4), 0);
    std::uint64_t left = limits_.elements;
    shape_.back() = one_of(kept_, std::array<std::uint64_t, 7>{2, 2, 4, 4, 8, 16, 3});
    for (std::size_t d = shape_.size(); d-- > 0;) {
      if (d + 1 < shape_.size())
        shape_[d] = vary(std::min(between(kept_, 2, 90), std::max(left, std::uint64_t{2})));
      left /= shape_[d];
    }
  }

  void permute() {
    const bool keeps = one_in(kept_, 3);
    if (keeps) draw_kept_shape();
    move_.destinations = {destination(shape_)};
    move_.axes.resize(shape_.size());
    std::iota(move_.axes.begin(), move_.axes.end(), 0U);
    std::shuffle(move_.axes.begin(), move_.axes.end() - (keeps ? 1 : 0), pattern_);
    Shape source(shape_.size());
    for (std::size_t d = 0; d < shape_.size(); ++d) source[move_.axes[d]] = shape_[d];
    move_.sources = {place(draw_view(same_size_type(), source, true))};
  }

  void flip() {
    if (shape_.empty()) shape_ = {vary(40)};
    move_.axis = static_cast<std::uint32_t>(between(pattern_, 0, shape_.size() - 1));
    move_.destinations = {destination(shape_)};
    move_.sources = {place(draw_view(same_size_type(), shape_, true))};
  }

  void slice() {
    move_.destinations = {destination(shape_)};
    Shape source;
    std::uint64_t elements = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::uint64_t count = shape_[d];
      auto step = one_of(pattern_, std::array<std::int64_t, 8>{1, 1, 1, 1, 2, 3, -1, -2});
      const std::uint64_t unit = d + 1 == shape_.size() ? granule() : 1;
      std::uint64_t before = unit * between(vary_, 0, 3);
      std::uint64_t after = unit * between(vary_, 0, 3);
      // The source grows with every dimension.
      if (elements * std::max<std::uint64_t>(count, 1) > limits_.elements) {
        step = step < 0 ? -1 : 1;
        before = after = 0;
      }
      const auto width = static_cast<std::uint64_t>(step < 0 ? -step : step);
      const std::uint64_t covered = count == 0 ? 0 : (count - 1) * width + 1;
      source.push_back(before + covered + after);
      elements *= std::max<std::uint64_t>(source.back(), 1);
      Slice slice{.step = step};
      const auto first = static_cast<std::int64_t>(step > 0 ? before : before + covered - 1);
      slice.start = first;
      slice.stop = first + static_cast<std::int64_t>(count) * step;
      if (count == 0) slice.stop = slice.start = static_cast<std::int64_t>(before);
      // A stop before the beginning would count from the end; left out it is the beginning.
      if (*slice.stop < 0) slice.stop = std::nullopt;
      if (step > 0 && after == 0 && count != 0) slice.stop = std::nullopt;
      if (step > 0 && count != 0 && before != 0 && one_in(vary_, 2))
        *slice.start -= static_cast<std::int64_t>(source.back());
      move_.slices.push_back(slice);
    }
    move_.sources = {place(draw_view(same_size_type(), source, true))};
  }

  void pad() {
    move_.destinations = {destination(shape_)};
    Shape source;
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : shape_) {
      const std::uint64_t most =
          elements * extent > limits_.elements ? 0 : std::max<std::uint64_t>(extent / 4, 2);
      const std::int64_t side = one_in(pattern_, 4) ? -1 : 1;
      const std::int64_t other_side = one_in(pattern_, 4) ? -1 : 1;
      const std::int64_t before = side * static_cast<std::int64_t>(between(vary_, 0, most));
      const std::int64_t after = other_side * static_cast<std::int64_t>(between(vary_, 0, most));
      const std::int64_t inside = static_cast<std::int64_t>(extent) - before - after;
      source.push_back(inside < 0 ? 0 : static_cast<std::uint64_t>(inside));
      elements *= std::max<std::uint64_t>(source.back(), 1);
      move_.before.push_back(before);
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    move_.value =
        one_of(vary_, std::array{0.0, 0.0, 1.0, -1.0, 0.3, 1e9, -3.5e38, infinity, std::nan(""), 255.0});
    move_.sources = {place(draw_view(same_size_type(), source, true))};
  }

  void parts() {
    const bool concat = move_.kind == MoveKind::concat;
    if (shape_.empty()) shape_ = {vary(40)};
    move_.axis = static_cast<std::uint32_t>(between(pattern_, 0, shape_.size() - 1));
    auto& whole = concat ? move_.destinations : move_.sources;
    auto& parts = concat ? move_.sources : move_.destinations;
    whole = {place(draw_view(concat ? type_ : same_size_type(), shape_, !concat))};
    const std::uint64_t count = between(pattern_, 1, 5);
    std::uint64_t left = shape_[move_.axis];
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool even = left % granule() == 0;
      std::uint64_t taken = i + 1 == count ? left : between(vary_, 0, left);
      if (even) taken = std::min(round_up(taken, granule()), left);
      left -= taken;
      Shape part = shape_;
      part[move_.axis] = taken;
      // Repeating is for sources: here only a concatenation's parts.
      const Shape repeated = repeatable(part, move_.axis);
      parts.push_back(place(draw_view(concat ? same_size_type() : type_, concat ? repeated : part, concat)));
    }
  }

  void map() {
    move_.destinations = {destination(shape_)};
    const std::uint64_t count = one_in(pattern_, 2) ? 1 : between(pattern_, 2, 8);
    const bool mixed = one_in(pattern_, 3);
    const ElementType from = one_of(pattern_, all_element_types);
    for (std::uint64_t i = 0; i < count; ++i) {
      const ElementType other = one_of(pattern_, all_element_types);
      move_.sources.push_back(place(draw_view(mixed ? other : from, repeatable(shape_), true)));
    }
    auto [text, function] = random_expression(pattern_, count, shape_.size());
    move_.expression = std::move(text);
    move_.function = std::move(function);
    // In place, on top of the destination.
    if (one_in(pattern_, 8)) {
      move_.sources[0] = move_.destinations[0];
      move_.sources[0].view.type = same_size_type();
    }
  }

  Random pattern_;
  Random kept_;  // of permutations that keep elements together; the pattern's, too
  Random vary_;
  MoveLimits limits_;
  bool aligned_ = false;
  ElementType type_{};
  Shape shape_;
  RandomMove move_;
};

HostView host(const BufferView& tensor, Buffers& buffers) {
  return {tensor.view, buffers[tensor.buffer].data() + tensor.offset};
}

std::vector<HostView> host(const std::vector<BufferView>& tensors, Buffers& buffers) {
  std::vector<HostView> views;
  for (const BufferView& tensor : tensors) views.push_back(host(tensor, buffers));
  return views;
}

}  // namespace

RandomMove random_move(std::uint64_t pattern, std::uint64_t variation, const MoveLimits& limits) {
  for (std::uint64_t redrawn = 0;; ++redrawn) {
    RandomMove move = Draw(pattern + (redrawn << 40), variation, limits).move();
    // Many dimensions with gaps in each can reach very far.
    const auto bytes = std::accumulate(move.buffers.begin(), move.buffers.end(), std::uint64_t{0});
    if (bytes <= limits.bytes) return move;
  }
}

Buffers random_buffers(const RandomMove& move, std::uint64_t seed) {
  Random random(seed);
  Buffers buffers;
  for (const std::uint64_t bytes : move.buffers) {
    auto& buffer = buffers.emplace_back(round_up(bytes, 8));
    for (std::size_t i = 0; i < buffer.size(); i += 8) {
      const std::uint64_t bits = random();
      std::copy_n(reinterpret_cast<const std::byte*>(&bits), 8,
                  buffer.begin() + static_cast<std::ptrdiff_t>(i));
    }
    buffer.resize(bytes);
  }
  return buffers;
}

void apply(const RandomMove& move, Buffers& buffers) {
  const auto to = host(move.destinations, buffers);
  const auto from = host(move.sources, buffers);
  switch (move.kind) {
    case MoveKind::copy: return copy(to[0], from[0]);
    case MoveKind::permute: return permute(to[0], from[0], move.axes);
    case MoveKind::flip: return flip(to[0], from[0], move.axis);
    case MoveKind::slice: return slice(to[0], from[0], move.slices);
    case MoveKind::pad: return pad(to[0], from[0], move.before, move.value);
    case MoveKind::concat: return concat(to[0], from, move.axis);
    case MoveKind::split: return split(to, from[0], move.axis);
    case MoveKind::cast: return cast(to[0], from[0]);
    case MoveKind::map: return map(to[0], from, move.function);
  }
}

}  // namespace reference
