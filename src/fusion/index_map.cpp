#include "fusion/index_map.hpp"

#include "operations/shared/shapes.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

TMAJIT_BEGIN
namespace {

std::int64_t extent(const TensorView& view, std::uint32_t d) noexcept {
  return static_cast<std::int64_t>(view.shape[d]);
}

/// The dimensions with more than one element, those with the largest strides first.
std::vector<std::uint32_t> by_stride(const TensorView& view) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t d = 0; d < view.rank; ++d)
    if (view.shape[d] > 1) order.push_back(d);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t d) { return std::abs(view.strides[d]); });
  return order;
}

/// Sets `first` to the index of the element `distance` elements after the whole's element 0. Returns whether
/// there is one.
bool find_first(const TensorView& whole, std::int64_t distance, IndexMap& map) {
  const std::vector<std::uint32_t> order = by_stride(whole);
  for (const std::uint32_t d : order)
    if (whole.strides[d] < 0) distance -= (extent(whole, d) - 1) * whole.strides[d];
  if (distance < 0) return false;
  for (const std::uint32_t d : order) {
    const std::int64_t stride = std::abs(whole.strides[d]);
    if (stride == 0) return false;
    const std::int64_t steps = distance / stride;
    if (steps >= extent(whole, d)) return false;
    map.first[d] = whole.strides[d] < 0 ? extent(whole, d) - 1 - steps : steps;
    distance -= steps * stride;
  }
  return distance == 0;
}

/// Finds the dimension of the whole along which dimension k of the view steps, and sets `step[k]`.
bool find_step(const TensorView& whole, const TensorView& view, std::uint32_t k, IndexMap& map) {
  if (view.shape[k] < 2 || view.strides[k] == 0) return true;
  for (const std::uint32_t d : by_stride(whole)) {
    if (view.strides[k] % whole.strides[d] != 0) continue;
    const std::int64_t steps = view.strides[k] / whole.strides[d];
    if (std::abs(steps) >= extent(whole, d) || extent(view, k) - 1 > (extent(whole, d) - 1) / std::abs(steps))
      continue;
    map.step[k][d] = steps;
    return true;
  }
  return false;
}

/// Whether all indices are within the whole.
bool stays_inside(const IndexMap& map) {
  for (std::uint32_t d = 0; d < map.whole.rank; ++d) {
    std::int64_t low = map.first[d];
    std::int64_t high = low;
    for (std::uint32_t k = 0; k < map.view.rank; ++k) {
      const std::int64_t reach = map.step[k][d] * (extent(map.view, k) - 1);
      low += std::min<std::int64_t>(reach, 0);
      high += std::max<std::int64_t>(reach, 0);
    }
    if (low < 0 || high >= extent(map.whole, d)) return false;
  }
  return true;
}

bool can_join(const TensorView& view, std::uint32_t outer) {
  return view.strides[outer] == view.strides[outer + 1] * extent(view, outer + 1);
}

}  // namespace

bool IndexMap::is_identity() const noexcept {
  if (whole.rank != view.rank || whole.shape != view.shape) return false;
  for (std::uint32_t d = 0; d < whole.rank; ++d) {
    if (whole.shape[d] > 1 && (first[d] != 0 || step[d][d] != 1)) return false;
  }
  return true;
}

std::optional<IndexMap> index_map(const Tensor& whole, const Tensor& view) {
  const auto size = static_cast<std::int64_t>(size_of(whole.view.type));
  const auto bytes = static_cast<std::int64_t>(view.address - whole.address);
  const bool has_elements = whole.view.elements() > 0 && view.view.elements() > 0;
  if (size_of(view.view.type) != size_of(whole.view.type) || bytes % size != 0 || !has_elements)
    return std::nullopt;
  IndexMap map{.whole = whole.view, .view = view.view};
  if (!find_first(whole.view, bytes / size, map)) return std::nullopt;
  for (std::uint32_t k = 0; k < view.view.rank; ++k)
    if (!find_step(whole.view, view.view, k, map)) return std::nullopt;
  return stays_inside(map) ? std::optional(map) : std::nullopt;
}

Tensor pulled(const IndexMap& map, const Tensor& source) {
  Tensor made = source;
  made.view.rank = map.view.rank;
  made.view.shape = map.view.shape;
  made.view.strides = {};
  if (source.view.is_number) return made;
  std::int64_t distance = 0;
  for (std::uint32_t d = 0; d < map.whole.rank; ++d) {
    distance += map.first[d] * source.view.strides[d];
    for (std::uint32_t k = 0; k < map.view.rank; ++k)
      made.view.strides[k] += map.step[k][d] * source.view.strides[d];
  }
  made.address += static_cast<DevicePtr>(distance * static_cast<std::int64_t>(size_of(source.view.type)));
  return made;
}

std::optional<Tensor> pushed(const IndexMap& map, const Tensor& destination) {
  Tensor made = destination;
  made.view.rank = map.whole.rank;
  made.view.shape = map.whole.shape;
  made.view.strides = {};
  std::uint64_t elements = 1;
  std::int64_t distance = 0;
  for (std::uint32_t k = 0; k < map.view.rank; ++k) {
    if (map.view.shape[k] < 2) continue;
    const auto found = std::ranges::find_if(map.step[k], [](std::int64_t step) { return step != 0; });
    if (found == map.step[k].end() || std::abs(*found) != 1) return std::nullopt;
    const auto d = static_cast<std::uint32_t>(found - map.step[k].begin());
    if (map.whole.shape[d] != map.view.shape[k] || made.view.strides[d] != 0) return std::nullopt;
    made.view.strides[d] = *found * destination.view.strides[k];
    if (*found < 0) distance += (extent(map.view, k) - 1) * destination.view.strides[k];
    elements *= map.view.shape[k];
  }
  if (elements != map.whole.elements()) return std::nullopt;
  made.address +=
      static_cast<DevicePtr>(distance * static_cast<std::int64_t>(size_of(destination.view.type)));
  return made;
}

std::vector<Tensor> joined(std::vector<Tensor> tensors) {
  const auto all = [&](const auto& holds) {
    return std::ranges::all_of(tensors,
                               [&](const Tensor& one) { return one.view.is_number || holds(one.view); });
  };
  for (std::uint32_t d = tensors.front().view.rank; d-- > 0;) {
    const bool is_single = tensors.front().view.shape[d] == 1;
    const bool is_outer = d + 1 < tensors.front().view.rank;
    if (!is_single && !(is_outer && all([d](const TensorView& view) { return can_join(view, d); }))) continue;
    for (Tensor& tensor : tensors) {
      if (!is_single) tensor.view.shape[d + 1] *= tensor.view.shape[d];
      tensor.view = without_dimension(tensor.view, d);
    }
  }
  return tensors;
}

TMAJIT_END
