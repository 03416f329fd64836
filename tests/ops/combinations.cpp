#include "ops/combinations.hpp"

#include "operations/reduce_into/reference.hpp"
#include "reference/random_elements.hpp"
#include "reference/random_maps.hpp"
#include "reference/scalar.hpp"

#include <tmajit/move.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <vector>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace tests {
namespace {

/// Dense, or with rows of whole 16 bytes and the outer dimensions in any order.
TensorView random_view(Random& random, ElementType type, const std::vector<std::uint64_t>& shape) {
  if (one_in(random, 3)) return TensorView::contiguous(type, shape);
  const std::size_t rank = shape.size();
  const std::uint64_t size = size_of(type);
  std::vector<std::int64_t> strides(rank, 1);
  std::vector<std::size_t> order(rank - 1);
  std::iota(order.rbegin(), order.rend(), 0);
  if (one_in(random, 2)) std::ranges::shuffle(order, random);
  std::uint64_t bytes = shape.back() * size;
  for (const std::size_t d : order) {
    bytes = std::max<std::uint64_t>((bytes + 15) / 16 * 16, 16) + 16 * between(random, 0, 2);
    strides[d] = static_cast<std::int64_t>(bytes / size);
    bytes *= std::max<std::uint64_t>(shape[d], 1);
  }
  return TensorView::strided(type, shape, strides);
}

/// Whether tensor maps describe it, or what it is with dimensions joined.
bool is_mapped(const TensorView& view) {
  std::int64_t dense = 1;
  bool is_dense = true;
  bool in_steps = true;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    is_dense = is_dense && view.strides[d] == dense;
    dense *= static_cast<std::int64_t>(view.shape[d]);
    if (d + 1 < view.rank) in_steps = in_steps && view.strides[d] * size_of(view.type) % 16 == 0;
  }
  return is_dense || in_steps;
}

struct Placed {
  std::uint64_t before;
  Buffer buffer;
  std::vector<std::byte> host;

  Placed(const Runtime& runtime, const TensorView& view, std::uint64_t shift, std::uint64_t seed)
      : before(shift),
        buffer(runtime.device(), shift + view.span_bytes() + 16),
        host(shift + view.span_bytes() + 16) {
    reference::RandomElements(view.type, seed).fill(host);
    runtime.device()->memory().copy_in(buffer.address(), host, nullptr);
  }
  [[nodiscard]] Tensor on_device(const TensorView& view) const { return {view, buffer.address() + before}; }
  [[nodiscard]] Tensor on_host(const TensorView& view) {
    return {view, reinterpret_cast<DevicePtr>(host.data()) + before};
  }
};

}  // namespace

std::string RandomCombination::text() const {
  std::ostringstream out;
  const auto put = [&](const TensorView& view, std::uint64_t before) {
    out << " " << tmajit::name(view.type) << " [";
    for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ",") << view.shape[d];
    out << "] strides [";
    for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ",") << view.strides[d];
    out << "] at " << before;
  };
  put(destination, before_destination);
  out << " " << tmajit::name(op);
  put(source, before_source);
  return out.str();
}

RandomCombination random_combination(std::uint64_t seed, std::uint64_t most) {
  Random random(seed);
  RandomCombination made;
  made.op = one_of(random, all_combine_ops);
  ElementType type = one_of(random, all_element_types);
  while (!combined_as(made.op, type)) type = one_of(random, all_element_types);
  for (;;) {
    std::vector<std::uint64_t> shape(between(random, 1, max_map_rank));
    std::uint64_t left = most;
    for (std::size_t d = shape.size(); d-- > 0;) {
      shape[d] = one_in(random, 40)
                     ? between(random, 0, 1)
                     : between(random, 1,
                               std::max<std::uint64_t>(
                                   d + 1 == shape.size() ? left / 2 : std::min<std::uint64_t>(left, 40), 1));
      left /= std::max<std::uint64_t>(shape[d], 1);
    }
    made.destination = random_view(random, type, shape);
    made.source = random_view(random, type, shape);
    const bool same = std::ranges::equal(made.destination.strides, made.source.strides);
    // What is dense in one of them alone may have rows that no map takes.
    if (is_mapped(made.destination) && is_mapped(made.source) &&
        (same || (shape.back() * size_of(type) % 16 == 0 && shape.back() > 1)))
      break;
  }
  made.before_destination = 16 * between(random, 0, 3);
  made.before_source = 16 * between(random, 0, 3);
  return made;
}

std::string run_combination(const Runtime& runtime, const RandomCombination& combination, std::uint64_t seed,
                            std::uint32_t times) {
  const auto& [op, to, from, before_to, before_from] = combination;
  Placed destination(runtime, to, before_to, seed);
  Placed source(runtime, from, before_from, seed + 1);
  for (std::uint32_t i = 0; i < times; ++i) {
    reduce_into(runtime, destination.on_device(to), op, source.on_device(from));
    reference::combine(destination.on_host(to), op, source.on_host(from));
  }
  runtime.device()->streams().synchronize(nullptr);
  std::vector<std::byte> found(destination.host.size());
  runtime.device()->memory().copy_out(found, destination.buffer.address(), nullptr);
  runtime.device()->streams().synchronize(nullptr);
  const std::uint32_t size = size_of(to.type);
  // Buffers begin at multiples of every size, and views at multiples of 16: all of it is elements.
  for (std::uint64_t at = 0; at + size <= found.size(); at += size) {
    if (reference::same_value(to.type, &found[at], &destination.host[at])) continue;
    std::ostringstream out;
    out << "the element at byte " << at << " of " << found.size() << " is "
        << reference::bits_text(to.type, &found[at]) << ", not "
        << reference::bits_text(to.type, &destination.host[at]);
    return out.str();
  }
  return {};
}

}  // namespace tests
