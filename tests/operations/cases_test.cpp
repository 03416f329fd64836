// Random cases of every operation are legal, depend only on their numbers, and have the right expected
// results.
#include "operations/cases.hpp"

#include "operations/list.hpp"
#include "operations/references.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

/// The range of a tensor's elements in its buffer: the lowest byte, and one past the highest.
std::pair<std::int64_t, std::int64_t> reach(const BufferView& tensor) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.view.type));
  auto low = static_cast<std::int64_t>(tensor.offset);
  auto high = low + size;
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    const std::int64_t step =
        tensor.view.strides[d] * size * (static_cast<std::int64_t>(tensor.view.shape[d]) - 1);
    (step < 0 ? low : high) += step;
  }
  return {low, high};
}

/// The properties that occurred among the cases of one operation.
struct Coverage {
  std::set<std::uint32_t> ranks;
  std::set<ElementType> types;
  int backwards = 0;
  int repeated = 0;
  int empty = 0;
};

void check_tensor(const RandomCase& drawn, const BufferView& tensor, Coverage& coverage) {
  coverage.types.insert(tensor.view.type);
  REQUIRE(tensor.buffer < drawn.buffers.size());
  REQUIRE(tensor.offset % size_of(tensor.view.type) == 0);
  if (tensor.view.elements() == 0) {
    ++coverage.empty;
    return;
  }
  const auto [low, high] = reach(tensor);
  // A buffer has 64 bytes of guard at each end (CaseLimits::guard).
  REQUIRE(low >= 64);
  REQUIRE(high + 64 <= static_cast<std::int64_t>(drawn.buffers[tensor.buffer]));
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    coverage.backwards += tensor.view.strides[d] < 0 ? 1 : 0;
    coverage.repeated += tensor.view.strides[d] == 0 && tensor.view.shape[d] > 1 ? 1 : 0;
  }
}

/// Arbitrary addresses for the buffers of a case.
std::vector<DevicePtr> any_addresses(const RandomCase& drawn) {
  std::vector<DevicePtr> addresses;
  for (std::size_t i = 0; i < drawn.buffers.size(); ++i) addresses.push_back((i + 1) << 32);
  return addresses;
}

/// The indices of Python's range(*slice.indices(extent)).
std::vector<std::uint64_t> selected(const Slice& slice, std::uint64_t extent) {
  const auto n = static_cast<std::int64_t>(extent);
  const bool up = slice.step > 0;
  const auto from_end = [n](std::int64_t position) { return position < 0 ? position + n : position; };
  std::int64_t i = slice.start ? from_end(*slice.start) : up ? 0 : n - 1;
  i = up ? std::max<std::int64_t>(i, 0) : std::min(i, n - 1);
  const std::int64_t stop = slice.stop ? from_end(*slice.stop) : up ? n : -1;
  std::vector<std::uint64_t> result;
  for (; up ? i < std::min(stop, n) : i > std::max<std::int64_t>(stop, -1); i += slice.step)
    result.push_back(static_cast<std::uint64_t>(i));
  return result;
}

/// An element of a source: the source's number and the element's index.
struct SourceElement {
  std::size_t source = 0;
  Index index{};
};

/// The source element that the operation moves to `index` of destination `to`. Sources are broadcast along
/// extents of 1 and missing leading dimensions.
SourceElement origin(const RandomCase& drawn, std::size_t to, Index index) {
  const std::uint32_t rank = drawn.destinations[to].view.rank;
  SourceElement from;
  if (drawn.operation == "permute") {
    const Dims axes = drawn.arguments.dims("axes");
    for (std::size_t d = 0; d < rank; ++d) from.index.at(static_cast<std::size_t>(axes[d])) = index.at(d);
    return from;
  }
  if (drawn.operation == "slice") {
    const std::vector<Slice> slices = drawn.arguments.slices("slices");
    for (std::size_t d = 0; d < rank; ++d)
      index.at(d) = selected(slices[d], drawn.sources[0].view.shape.at(d)).at(index.at(d));
  }
  if (drawn.operation == "flip") {
    for (const std::int64_t axis : drawn.arguments.dims("axes")) {
      std::uint64_t& at = index.at(static_cast<std::size_t>(axis));
      at = drawn.sources[0].view.shape.at(static_cast<std::size_t>(axis)) - 1 - at;
    }
  }
  const auto axis = static_cast<std::size_t>(drawn.arguments.axis("axis"));
  if (drawn.operation == "concat" && drawn.arguments.text("new_axis") == "yes") {
    from.source = index.at(axis);
    std::shift_left(index.begin() + static_cast<std::ptrdiff_t>(axis), index.end(), 1);
    for (std::uint32_t d = 0; d + 1 < rank; ++d)
      from.index.at(d) = drawn.sources[from.source].view.shape.at(d) == 1 ? 0 : index.at(d);
    return from;
  }
  if (drawn.operation == "concat") {
    while (index.at(axis) >= drawn.sources[from.source].view.shape.at(axis))
      index.at(axis) -= drawn.sources[from.source++].view.shape.at(axis);
  }
  if (drawn.operation == "split" && drawn.arguments.text("drop_axis") == "yes") {
    std::shift_right(index.begin() + static_cast<std::ptrdiff_t>(axis), index.end(), 1);
    index.at(axis) = to;
    for (std::uint32_t d = 0; d <= rank; ++d)
      from.index.at(d) = drawn.sources[0].view.shape.at(d) == 1 ? 0 : index.at(d);
    return from;
  }
  if (drawn.operation == "split") {
    for (std::size_t i = 0; i < to; ++i) index.at(axis) += drawn.destinations[i].view.shape.at(axis);
  }
  const TensorView& source = drawn.sources[from.source].view;
  for (std::uint32_t d = 0; d < source.rank; ++d)
    from.index.at(d) = source.shape.at(d) == 1 ? 0 : index.at(d + rank - source.rank);
  return from;
}

}  // namespace

TEST_CASE("random cases of every operation are legal, varied, and equal for equal seed and number") {
  Coverage all;
  for (const std::string_view operation : all_operations()) {
    Coverage coverage;
    for (std::uint64_t n = 0; n < 300; ++n) {
      const RandomCase drawn = random_case(operation, n / 3, n % 3);
      CAPTURE(n, drawn.text());
      REQUIRE(drawn.text() == random_case(operation, n / 3, n % 3).text());
      REQUIRE(drawn.operation == operation);
      const Operation made = operation_of(drawn, any_addresses(drawn));
      REQUIRE_NOTHROW(check_operation(made.moves));
      for (const Move& move : made.moves) REQUIRE(understands(move));
      for (const BufferView& tensor : drawn.destinations) {
        coverage.ranks.insert(tensor.view.rank);
        check_tensor(drawn, tensor, coverage);
      }
      for (const BufferView& tensor : drawn.sources) check_tensor(drawn, tensor, coverage);
    }
    INFO(operation);
    CHECK(coverage.ranks.size() > 1);
    all.ranks.merge(coverage.ranks);
    all.backwards += coverage.backwards;
    all.repeated += coverage.repeated;
    all.empty += coverage.empty;
    all.types.merge(coverage.types);
  }
  CHECK(all.ranks.size() == max_view_rank + 1);
  CHECK(all.types.size() == all_element_types.size());
  CHECK(all.backwards > 500);
  CHECK(all.repeated > 100);
  CHECK(all.empty > 20);
}

TEST_CASE("every operation has random cases") {
  CHECK(std::ranges::equal(all_operations(), operations(), {}, {}, &OperationInfo::name));
}

TEST_CASE("expected() changes only destinations, and difference() finds a change of any byte") {
  for (const std::string_view operation : all_operations()) {
    for (std::uint64_t n = 0; n < 30; ++n) {
      const RandomCase drawn = random_case(operation, n, n, {.elements = 500, .max_elements = 500});
      CAPTURE(n, drawn.text());
      const Buffers before = random_buffers(drawn, n);
      const Expected after = expected(drawn, before);
      REQUIRE(difference(drawn, after, after.buffers).empty());
      std::set<std::size_t> written;
      for (const BufferView& tensor : drawn.destinations) written.insert(tensor.buffer);
      for (std::size_t b = 0; b < before.size(); ++b) {
        if (!written.contains(b)) REQUIRE(before[b] == after.buffers[b]);
        // The guard before the first tensor is unchanged.
        REQUIRE(std::equal(before[b].begin(), before[b].begin() + 64, after.buffers[b].begin()));
        Buffers changed = after.buffers;
        changed[b].back() ^= std::byte{1};
        REQUIRE(difference(drawn, after, changed).find("1 bytes of buffer") == 0);
      }
    }
  }
}

TEST_CASE("expected results take each element from the source element that the arguments determine") {
  for (const std::string_view operation :
       {"copy", "permute", "slice", "flip", "broadcast", "concat", "split"}) {
    for (std::uint64_t n = 0; n < 200; ++n) {
      const RandomCase drawn = random_case(operation, n, n, {.elements = 1000, .max_elements = 4000});
      CAPTURE(n, drawn.text());
      Buffers before = random_buffers(drawn, n);
      Buffers after = expected(drawn, before).buffers;
      const auto element = [](const BufferView& tensor, Buffers& buffers, const Index& index) {
        return element_at(
            {tensor.view, reinterpret_cast<DevicePtr>(buffers[tensor.buffer].data()) + tensor.offset},
            offset_of(tensor.view, index));
      };
      for (std::size_t to = 0; to < drawn.destinations.size(); ++to) {
        const BufferView& destination = drawn.destinations[to];
        const std::uint32_t size = size_of(destination.view.type);
        bool all = true;
        for_each_index(destination.view.rank, whole(destination.view), [&](const Index& index) {
          const SourceElement from = origin(drawn, to, index);
          all = all && std::memcmp(element(destination, after, index),
                                   element(drawn.sources[from.source], before, from.index), size) == 0;
        });
        REQUIRE(all);
      }
    }
  }
}
