#include "runtime/overlap.hpp"

#include "runtime/bounded_equation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

TMAJIT_BEGIN
namespace {

// Sums of two ranges stay below 2^63.
constexpr std::uint64_t most_bytes = 1ULL << 62;

/// The distance from one index to the next.
std::uint64_t stride_bytes(const TensorView& view, std::uint32_t d) noexcept {
  const std::int64_t stride = view.strides[d];
  const auto elements = static_cast<std::uint64_t>(stride);
  return (stride < 0 ? 0 - elements : elements) * size_of(view.type);
}

bool is_empty(const TensorView& view) noexcept {
  return view.elements() == 0;
}

/// Terms of an equation between addresses.
class Terms {
 public:
  void add(std::uint64_t coefficient, std::uint64_t most) noexcept {
    if (coefficient != 0 && most != 0) terms_[count_++] = {coefficient, most};
  }
  /// Every step of a tensor from its first byte up, or from its last down.
  void add(const TensorView& view) noexcept {
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      if (view.shape[d] > 1) add(stride_bytes(view, d), view.shape[d] - 1);
    }
  }
  [[nodiscard]] Overlap reach(std::uint64_t target) noexcept {
    switch (solvable(std::span(terms_).first(count_), target)) {
      case Solvable::no: return Overlap::none;
      case Solvable::yes: return Overlap::some;
      default: return Overlap::undecided;
    }
  }

 private:
  std::array<BoundedTerm, max_bounded_terms> terms_{};
  std::size_t count_ = 0;
};

static_assert(2 * max_view_rank + 1 <= max_bounded_terms);

}  // namespace

std::optional<ByteRange> byte_range(const PlacedView& tensor) noexcept {
  const TensorView& view = tensor.view;
  if (view.rank > max_view_rank || is_empty(view)) return std::nullopt;
  std::uint64_t below = 0;
  std::uint64_t above = size_of(view.type) - 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 1) continue;
    const std::int64_t stride = view.strides[d];
    const auto elements = static_cast<std::uint64_t>(stride);
    std::uint64_t& side = stride < 0 ? below : above;
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(stride < 0 ? 0 - elements : elements, view.shape[d] - 1, &reach) ||
        __builtin_mul_overflow(reach, std::uint64_t{size_of(view.type)}, &reach) ||
        __builtin_add_overflow(side, reach, &side) || side >= most_bytes / 2) {
      return std::nullopt;
    }
  }
  ByteRange range;
  if (__builtin_sub_overflow(tensor.address, below, &range.first) ||
      __builtin_add_overflow(tensor.address, above, &range.last)) {
    return std::nullopt;
  }
  return range;
}

Overlap overlap(const PlacedView& a, const ByteRange& range_a, const PlacedView& b,
                const ByteRange& range_b) noexcept {
  if (range_a.last < range_b.first || range_b.last < range_a.first) return Overlap::none;
  // A byte of both is a walk up from a's first byte and one down from b's last that meet: with the sums of
  // both on one side, all terms are positive.
  const std::uint64_t size_a = size_of(a.view.type);
  const std::uint64_t size_b = size_of(b.view.type);
  std::uint64_t target = range_b.last - range_a.first;
  Terms terms;
  terms.add(a.view);
  terms.add(b.view);
  if (size_a == size_b && (range_b.first - range_a.first) % size_a == 0) {
    target -= size_a - 1;  // elements coincide or are apart
  } else {
    terms.add(1, size_a - 1 + size_b - 1);
  }
  return terms.reach(target);
}

Overlap self_overlap(const PlacedView& tensor) noexcept {
  // Two indices of one element differ by a vector of differences whose steps add up to 0. Its dimension of
  // the largest stride, d, can be taken to go up by at least 1; the smaller ones go up or down.
  const TensorView& view = tensor.view;
  if (view.rank > max_view_rank) return Overlap::undecided;
  if (is_empty(view)) return Overlap::none;
  if (!byte_range({view, most_bytes})) return Overlap::undecided;
  std::array<std::pair<std::uint64_t, std::uint64_t>, max_view_rank> dimensions{};  // stride, extent − 1
  std::size_t count = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 1) continue;
    const std::uint64_t stride = stride_bytes(view, d);
    if (stride == 0) return Overlap::some;
    std::size_t at = count++;  // in order of the strides
    for (; at > 0 && dimensions[at - 1].first > stride; --at) dimensions[at] = dimensions[at - 1];
    dimensions[at] = {stride, view.shape[d] - 1};
  }
  std::uint64_t reach = 0;  // of the smaller ones, up from their lowest
  for (std::size_t d = 0; d < count; ++d) {
    const auto [stride, most] = dimensions[d];
    if (reach >= stride) {
      Terms terms;
      for (std::size_t i = 0; i < d; ++i) terms.add(dimensions[i].first, 2 * dimensions[i].second);
      terms.add(stride, most - 1);
      const Overlap answer = terms.reach(reach - stride);
      if (answer != Overlap::none) return answer;
    }
    reach += stride * most;
  }
  return Overlap::none;
}

bool may_overlap(const PlacedView& a, const PlacedView& b) noexcept {
  if (a.view.rank > max_view_rank || b.view.rank > max_view_rank) return true;
  if (is_empty(a.view) || is_empty(b.view)) return false;
  const auto range_a = byte_range(a);
  const auto range_b = byte_range(b);
  return !range_a || !range_b || overlap(a, *range_a, b, *range_b) != Overlap::none;
}

TMAJIT_END
