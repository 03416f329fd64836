#include "reference/random_moves.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

/// The lowest and one past the highest byte that a tensor's elements reach in its buffer.
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

bool empty(const TensorView& view) {
  return std::find(view.shape.begin(), view.shape.begin() + view.rank, 0U) != view.shape.begin() + view.rank;
}

}  // namespace

TEST_CASE("random moves are legal, of every kind, and the same for the same numbers") {
  std::map<MoveKind, int> kinds;
  std::set<std::uint32_t> ranks;
  int backwards = 0;
  int repeated = 0;
  int nothing = 0;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    const RandomMove move = random_move(n / 3, n % 3);
    CAPTURE(n, describe(move));
    REQUIRE(describe(move) == describe(random_move(n / 3, n % 3)));
    ++kinds[move.kind];
    ranks.insert(move.destinations[0].view.rank);
    auto tensors = move.destinations;
    tensors.insert(tensors.end(), move.sources.begin(), move.sources.end());
    for (const BufferView& tensor : tensors) {
      REQUIRE(tensor.buffer < move.buffers.size());
      REQUIRE(tensor.offset % size_of(tensor.view.type) == 0);
      if (empty(tensor.view)) {
        ++nothing;
        continue;
      }
      const auto [low, high] = reach(tensor);
      REQUIRE(low >= 64);
      REQUIRE(high + 64 <= static_cast<std::int64_t>(move.buffers[tensor.buffer]));
      for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
        backwards += tensor.view.strides[d] < 0 ? 1 : 0;
        repeated += tensor.view.strides[d] == 0 && tensor.view.shape[d] > 1 ? 1 : 0;
      }
    }
  }
  CHECK(kinds.size() == all_move_kinds.size());
  CHECK(ranks.size() == max_view_rank + 1);
  CHECK(backwards > 500);
  CHECK(repeated > 100);
  CHECK(nothing > 20);
}

TEST_CASE("apply() writes destinations only, and difference() sees every byte") {
  for (std::uint64_t n = 0; n < 300; ++n) {
    const RandomMove move = random_move(n, n, {.elements = 500, .most_elements = 500});
    CAPTURE(n, describe(move));
    const Buffers before = random_buffers(move, n);
    Buffers after = before;
    apply(move, after);
    REQUIRE(difference(move, after, after).empty());
    std::set<std::size_t> written;
    for (const BufferView& tensor : move.destinations) written.insert(tensor.buffer);
    for (std::size_t b = 0; b < before.size(); ++b) {
      if (!written.contains(b)) REQUIRE(before[b] == after[b]);
      // The guards.
      REQUIRE(std::equal(before[b].begin(), before[b].begin() + 64, after[b].begin()));
      Buffers changed = after;
      changed[b].back() ^= std::byte{1};
      REQUIRE(difference(move, after, changed).find("1 bytes of buffer") == 0);
    }
  }
}
