#include "spec/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

TMAJIT_BEGIN
namespace {

/// The distance in bytes from one index of dimension d to the next.
std::uint64_t stride_bytes(const TensorView& view, std::uint32_t d) noexcept {
  const std::int64_t stride = view.strides[d];
  const auto elements = static_cast<std::uint64_t>(stride);
  return (stride < 0 ? 0 - elements : elements) * size_of(view.type);
}

/// Terms of an equation between addresses.
class Terms {
 public:
  void add(std::uint64_t coefficient, std::uint64_t most) noexcept {
    if (coefficient != 0 && most != 0) terms_[count_++] = {coefficient, most};
  }
  /// Adds a term for each dimension of a tensor: its steps up from the first byte, or down from the last.
  void add(const TensorView& view) noexcept {
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      if (view.shape[d] > 1) add(stride_bytes(view, d), view.shape[d] - 1);
    }
  }
  /// Whether the terms can add up to `target`, which is where the tensors overlap.
  [[nodiscard]] Overlap can_reach(std::uint64_t target) noexcept {
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

__extension__ using Wide = unsigned __int128;

/// The inverse of a modulo m. a and m must have no common divisor.
std::uint64_t inverse(std::uint64_t a, std::uint64_t m) noexcept {
  if (m == 1) return 0;
  // Euclid's algorithm; both coefficients stay below m in size.
  std::int64_t x = 1;
  std::int64_t next_x = 0;
  std::uint64_t r = a % m;
  std::uint64_t next_r = m;
  while (r != 1) {
    const std::uint64_t quotient = next_r / r;
    next_x -= static_cast<std::int64_t>(quotient) * x;
    next_r -= quotient * r;
    std::swap(x, next_x);
    std::swap(r, next_r);
  }
  return x < 0 ? m - (0 - static_cast<std::uint64_t>(x)) : static_cast<std::uint64_t>(x);
}

/// Sorts terms by coefficient, and merges terms whose sum takes the same values as one term: if x reaches k −
/// 1, then c·x + k·c·y takes every multiple of c up to its largest value. Returns the number of remaining
/// terms.
std::size_t merge(std::span<BoundedTerm> terms) noexcept {
  const auto end = std::remove_if(terms.begin(), terms.end(), [](const BoundedTerm& term) {
    return term.coefficient == 0 || term.most == 0;
  });
  // Few terms: an insertion sort is the fastest.
  for (auto i = terms.begin(); i != end; ++i) {
    for (auto j = i; j != terms.begin() && j->coefficient < (j - 1)->coefficient; --j)
      std::swap(*j, *(j - 1));
  }
  std::size_t count = 0;
  for (auto term = terms.begin(); term != end; ++term) {
    bool merged = false;
    for (std::size_t i = count; i-- > 0 && !merged;) {
      BoundedTerm& small = terms[i];
      const std::uint64_t factor = term->coefficient / small.coefficient;
      if (factor - 1 > small.most || term->coefficient % small.coefficient != 0) continue;
      small.most += factor * term->most;
      merged = true;
    }
    if (!merged) terms[count++] = *term;
  }
  return count;
}

class Search {
 public:
  /// Takes merged terms, at least one.
  Search(std::span<const BoundedTerm> terms, std::uint32_t steps) noexcept : steps_(steps) {
    std::uint64_t reach = 0;
    std::uint64_t divisor = 0;
    for (const auto& [coefficient, most] : terms) {
      Level& level = levels_[count_++];
      level = {.coefficient = coefficient, .most = most, .reach_below = reach};
      if (divisor != 0) {
        level.common = std::gcd(coefficient, divisor);
        level.step = divisor / level.common;
        level.inverse = inverse(coefficient / level.common, level.step);
      }
      reach += coefficient * most;
      divisor = std::gcd(divisor, coefficient);
    }
  }

  [[nodiscard]] Solvable solve(std::uint64_t target) noexcept { return solve(count_ - 1, target); }

 private:
  /// A term, coefficient · x, and properties of the terms below it: those with smaller coefficients.
  struct Level {
    std::uint64_t coefficient = 0;
    std::uint64_t most = 0;
    std::uint64_t reach_below = 0;  ///< largest sum of all terms below
    std::uint64_t common = 1;       ///< greatest common divisor of this coefficient and all below
    /// Possible values of x differ by multiples of `step`: terms below add up to multiples of step · common.
    std::uint64_t step = 1;
    std::uint64_t inverse = 0;  ///< inverse of coefficient / common modulo step
  };

  /// Whether terms 0 to `index` can add up to `target`.
  Solvable solve(std::size_t index, std::uint64_t target) noexcept {
    const Level& level = levels_[index];
    const std::uint64_t highest = std::min(level.most, target / level.coefficient);
    if (index == 0) {
      return highest * level.coefficient == target ? Solvable::yes : Solvable::no;
    }
    if (target % level.common != 0) return Solvable::no;
    const std::uint64_t uncovered = target > level.reach_below ? target - level.reach_below : 0;
    const std::uint64_t lowest = uncovered / level.coefficient + (uncovered % level.coefficient != 0 ? 1 : 0);
    const auto residue =
        static_cast<std::uint64_t>(Wide{target / level.common % level.step} * level.inverse % level.step);
    const std::uint64_t ahead = (residue + level.step - lowest % level.step) % level.step;
    if (lowest > highest || ahead > highest - lowest) return Solvable::no;
    if (index == 1) return Solvable::yes;  // the remaining term takes every multiple of its coefficient
    for (std::uint64_t x = lowest + ahead;; x += level.step) {
      if (steps_-- == 0) {
        steps_ = 0;
        return Solvable::undecided;
      }
      const Solvable below = solve(index - 1, target - x * level.coefficient);
      if (below != Solvable::no) return below;
      if (level.step > highest - x) return Solvable::no;
    }
  }

  std::array<Level, max_bounded_terms> levels_{};
  std::size_t count_ = 0;
  std::uint32_t steps_;
};

}  // namespace

std::optional<ByteRange> byte_range(const PlacedView& tensor) noexcept {
  const TensorView& view = tensor.view;
  if (view.rank > max_view_rank || view.elements() == 0 || view.is_number) return std::nullopt;
  std::uint64_t below = 0;
  std::uint64_t above = size_of(view.type) - 1;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 1) continue;
    const std::int64_t stride = view.strides[d];
    const auto elements = static_cast<std::uint64_t>(stride);
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(stride < 0 ? 0 - elements : elements, view.shape[d] - 1, &reach) ||
        __builtin_mul_overflow(reach, std::uint64_t{size_of(view.type)}, &reach) ||
        reach >= max_span_bytes - below - above) {
      return std::nullopt;
    }
    (stride < 0 ? below : above) += reach;
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
  if (!meet(range_a, range_b)) return Overlap::none;
  // A shared byte is one where a walk up from a's first byte meets a walk down from b's last. With the sums
  // of both walks on one side of the equation, all terms are positive.
  const std::uint64_t size_a = size_of(a.view.type);
  const std::uint64_t size_b = size_of(b.view.type);
  std::uint64_t target = range_b.last - range_a.first;
  Terms terms;
  terms.add(a.view);
  terms.add(b.view);
  if (size_a == size_b && (range_b.first - range_a.first) % size_a == 0) {
    target -= size_a - 1;  // elements coincide or are disjoint
  } else {
    terms.add(1, size_a - 1 + size_b - 1);
  }
  return terms.can_reach(target);
}

Overlap self_overlap(const PlacedView& tensor) noexcept {
  // If two indices are one element, the steps between them add up to 0. Let d be the dimension of the largest
  // stride in which they differ. Without loss of generality the step in d is at least 1. Steps in dimensions
  // of smaller strides may be negative. Adding the largest such step to each makes all terms positive.
  const TensorView& view = tensor.view;
  if (view.rank > max_view_rank) return Overlap::undecided;
  if (view.elements() == 0) return Overlap::none;
  if (!byte_range({view, max_span_bytes})) return Overlap::undecided;
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
  std::uint64_t reach = 0;  // sum of the largest steps in smaller dimensions
  for (std::size_t d = 0; d < count; ++d) {
    const auto [stride, most] = dimensions[d];
    if (reach >= stride) {
      Terms terms;
      for (std::size_t i = 0; i < d; ++i) terms.add(dimensions[i].first, 2 * dimensions[i].second);
      terms.add(stride, most - 1);
      const Overlap answer = terms.can_reach(reach - stride);
      if (answer != Overlap::none) return answer;
    }
    reach += stride * most;
  }
  return Overlap::none;
}

Solvable solvable(std::span<BoundedTerm> terms, std::uint64_t target, std::uint32_t max_steps) noexcept {
  if (terms.size() > max_bounded_terms) return Solvable::undecided;
  const std::size_t count = merge(terms);
  if (target == 0) return Solvable::yes;
  if (count == 0) return Solvable::no;
  std::uint64_t reach = 0;
  for (const BoundedTerm& term : terms.first(count)) reach += term.coefficient * term.most;
  if (target > reach) return Solvable::no;
  return Search(terms.first(count), max_steps).solve(target);
}

TMAJIT_END
