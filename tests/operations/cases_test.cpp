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

void check_tensor(const TestCase& test_case, const BufferView& tensor, Coverage& coverage) {
  coverage.types.insert(tensor.view.type);
  REQUIRE(tensor.buffer < test_case.buffers.size());
  REQUIRE(tensor.offset % size_of(tensor.view.type) == 0);
  if (tensor.view.elements() == 0) {
    ++coverage.empty;
    return;
  }
  const auto [low, high] = reach(tensor);
  // A buffer has 64 bytes of guard at each end (CaseLimits::guard).
  REQUIRE(low >= 64);
  REQUIRE(high + 64 <= static_cast<std::int64_t>(test_case.buffers[tensor.buffer]));
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    coverage.backwards += tensor.view.strides[d] < 0 ? 1 : 0;
    coverage.repeated += tensor.view.strides[d] == 0 && tensor.view.shape[d] > 1 ? 1 : 0;
  }
}

/// Arbitrary addresses for the buffers of a case.
std::vector<DevicePtr> any_addresses(const TestCase& test_case) {
  std::vector<DevicePtr> addresses;
  for (std::size_t i = 0; i < test_case.buffers.size(); ++i) addresses.push_back((i + 1) << 32);
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
SourceElement origin(const TestCase& test_case, std::size_t to, Index index) {
  const std::uint32_t rank = test_case.destinations[to].view.rank;
  SourceElement from;
  if (test_case.operation == "permute") {
    const Dims axes = test_case.arguments.dims("axes");
    for (std::size_t d = 0; d < rank; ++d) from.index.at(static_cast<std::size_t>(axes[d])) = index.at(d);
    return from;
  }
  if (test_case.operation == "slice") {
    const std::vector<Slice> slices = test_case.arguments.slices("slices");
    for (std::size_t d = 0; d < rank; ++d)
      index.at(d) = selected(slices[d], test_case.sources[0].view.shape.at(d)).at(index.at(d));
  }
  if (test_case.operation == "flip") {
    for (const std::int64_t axis : test_case.arguments.dims("axes")) {
      std::uint64_t& at = index.at(static_cast<std::size_t>(axis));
      at = test_case.sources[0].view.shape.at(static_cast<std::size_t>(axis)) - 1 - at;
    }
  }
  const auto axis = static_cast<std::size_t>(test_case.arguments.axis("axis"));
  if (test_case.operation == "concat" && test_case.arguments.text("new_axis") == "yes") {
    from.source = index.at(axis);
    std::shift_left(index.begin() + static_cast<std::ptrdiff_t>(axis), index.end(), 1);
    for (std::uint32_t d = 0; d + 1 < rank; ++d)
      from.index.at(d) = test_case.sources[from.source].view.shape.at(d) == 1 ? 0 : index.at(d);
    return from;
  }
  if (test_case.operation == "concat") {
    while (index.at(axis) >= test_case.sources[from.source].view.shape.at(axis))
      index.at(axis) -= test_case.sources[from.source++].view.shape.at(axis);
  }
  if (test_case.operation == "split" && test_case.arguments.text("drop_axis") == "yes") {
    std::shift_right(index.begin() + static_cast<std::ptrdiff_t>(axis), index.end(), 1);
    index.at(axis) = to;
    for (std::uint32_t d = 0; d <= rank; ++d)
      from.index.at(d) = test_case.sources[0].view.shape.at(d) == 1 ? 0 : index.at(d);
    return from;
  }
  if (test_case.operation == "split") {
    for (std::size_t i = 0; i < to; ++i) index.at(axis) += test_case.destinations[i].view.shape.at(axis);
  }
  const TensorView& source = test_case.sources[from.source].view;
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
      const TestCase test_case = random_test_case(operation, n / 3, n % 3);
      CAPTURE(n, test_case.text());
      REQUIRE(test_case.text() == random_test_case(operation, n / 3, n % 3).text());
      REQUIRE(test_case.operation == operation);
      const Operation made = operation_of(test_case, any_addresses(test_case));
      REQUIRE_NOTHROW(check_operation(made.moves));
      for (const Move& move : made.moves) REQUIRE(understands(move));
      for (const BufferView& tensor : test_case.destinations) {
        coverage.ranks.insert(tensor.view.rank);
        check_tensor(test_case, tensor, coverage);
      }
      for (const BufferView& tensor : test_case.sources) check_tensor(test_case, tensor, coverage);
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
      const TestCase test_case = random_test_case(operation, n, n, {.elements = 500, .max_elements = 500});
      CAPTURE(n, test_case.text());
      const Buffers before = random_buffers(test_case, n);
      const Expected after = expected(test_case, before);
      REQUIRE(difference(test_case, after, after.buffers).empty());
      std::set<std::size_t> written;
      for (const BufferView& tensor : test_case.destinations) written.insert(tensor.buffer);
      for (std::size_t b = 0; b < before.size(); ++b) {
        if (!written.contains(b)) REQUIRE(before[b] == after.buffers[b]);
        // The guard before the first tensor is unchanged.
        REQUIRE(std::equal(before[b].begin(), before[b].begin() + 64, after.buffers[b].begin()));
        Buffers changed = after.buffers;
        changed[b].back() ^= std::byte{1};
        REQUIRE(difference(test_case, after, changed).find("1 bytes of buffer") == 0);
      }
    }
  }
}

TEST_CASE("expected results take each element from the source element that the arguments determine") {
  for (const std::string_view operation :
       {"copy", "permute", "slice", "flip", "broadcast", "concat", "split"}) {
    for (std::uint64_t n = 0; n < 200; ++n) {
      const TestCase test_case = random_test_case(operation, n, n, {.elements = 1000, .max_elements = 4000});
      CAPTURE(n, test_case.text());
      Buffers before = random_buffers(test_case, n);
      Buffers after = expected(test_case, before).buffers;
      const auto element = [](const BufferView& tensor, Buffers& buffers, const Index& index) {
        return element_at(
            {tensor.view, reinterpret_cast<DevicePtr>(buffers[tensor.buffer].data()) + tensor.offset},
            offset_of(tensor.view, index));
      };
      for (std::size_t to = 0; to < test_case.destinations.size(); ++to) {
        const BufferView& destination = test_case.destinations[to];
        const std::uint32_t size = size_of(destination.view.type);
        bool all = true;
        for_each_index(destination.view.rank, whole(destination.view), [&](const Index& index) {
          const SourceElement from = origin(test_case, to, index);
          all = all && std::memcmp(element(destination, after, index),
                                   element(test_case.sources[from.source], before, from.index), size) == 0;
        });
        REQUIRE(all);
      }
    }
  }
}
