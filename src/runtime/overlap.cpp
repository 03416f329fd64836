#include "runtime/overlap.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

/// Bytes from the first to one past the last of what the dimensions with a stride below `modulus` span, or
/// `unbounded` if a larger stride is not a multiple of it: the tensor is then not a repetition at that
/// distance.
std::uint64_t span_within(const TensorView& view, std::uint64_t modulus) noexcept {
  const std::uint64_t size = size_of(view.type);
  std::uint64_t span = size;
  for (std::uint32_t d = 0; d < std::min(view.rank, max_view_rank); ++d) {
    if (view.shape[d] <= 1) continue;
    const std::uint64_t stride = sat_mul(static_cast<std::uint64_t>(view.strides[d]), size);
    if (stride < modulus) {
      span = sat_add(span, sat_mul(stride, view.shape[d] - 1));
    } else if (stride == unbounded || stride % modulus != 0) {
      return unbounded;
    }
  }
  return span;
}

/// Whether both tensors repeat every `modulus` bytes, and do so in residues that are apart.
bool apart_modulo(const PlacedView& a, const PlacedView& b, std::uint64_t modulus) noexcept {
  const std::uint64_t span_a = span_within(a.view, modulus);
  const std::uint64_t span_b = span_within(b.view, modulus);
  if (span_a > modulus || span_b > modulus) return false;
  // Distance from a's start to b's, going up and around.
  const std::uint64_t gap = (b.address % modulus + modulus - a.address % modulus) % modulus;
  return gap >= span_a && span_b <= modulus - gap;
}

bool apart_in_some_dimension(const PlacedView& a, const PlacedView& b,
                             const TensorView& strides_of) noexcept {
  const std::uint64_t size = size_of(strides_of.type);
  for (std::uint32_t d = 0; d < std::min(strides_of.rank, max_view_rank); ++d) {
    const std::uint64_t stride = sat_mul(static_cast<std::uint64_t>(strides_of.strides[d]), size);
    // Below 2^63, so that the sums in apart_modulo() hold.
    if (stride != 0 && stride < unbounded / 2 && apart_modulo(a, b, stride)) return true;
  }
  return false;
}

bool spans_apart(const PlacedView& low, const PlacedView& high) noexcept {
  return high.address >= low.address && high.address - low.address >= low.view.span_bytes();
}

bool is_empty(const TensorView& view) noexcept {
  return view.elements() == 0;
}

}  // namespace

bool may_overlap(const PlacedView& a, const PlacedView& b) noexcept {
  if (is_empty(a.view) || is_empty(b.view)) return false;
  if (spans_apart(a, b) || spans_apart(b, a)) return false;
  return !apart_in_some_dimension(a, b, a.view) && !apart_in_some_dimension(a, b, b.view);
}

TMAJIT_END
