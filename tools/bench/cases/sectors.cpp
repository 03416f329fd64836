#include "sectors.hpp"

#include <array>

namespace bench {
namespace {

constexpr std::uint64_t sector_bytes = 32;

/// For each byte of a sector, the number of rows that start there.
using Starts = std::array<std::uint64_t, sector_bytes>;

/// A dimension of a slice: the number of its elements or rows, and their distance in bytes.
struct Walk {
  std::uint64_t count;
  std::uint64_t stride;
};

/// The starts after adding a dimension: each start is repeated `walk.count` times, in steps of `walk.stride`
/// bytes.
Starts repeated(const Starts& starts, const Walk& walk) {
  Starts result{};
  for (std::uint64_t turn = 0; turn < sector_bytes; ++turn) {
    const std::uint64_t times = walk.count / sector_bytes + (turn < walk.count % sector_bytes ? 1 : 0);
    for (std::uint64_t at = 0; at < sector_bytes; ++at)
      result.at((at + turn * walk.stride) % sector_bytes) += times * starts.at(at);
  }
  return result;
}

/// Sectors that a row of elements of `size` bytes accesses. Its first element is at byte `start` of a sector.
std::uint64_t row_sectors(std::uint64_t start, const Walk& row, std::uint64_t size) {
  // Elements are aligned to their size, so each is in one sector.
  if (row.stride > sector_bytes) return row.count;
  return (start + (row.count - 1) * row.stride + size - 1) / sector_bytes + 1;
}

}  // namespace

std::uint64_t sector_bytes_of(const Case& slice) {
  const Array& source = slice.sources.front();
  const Shape& shape = slice.destinations.front().shape;
  const std::uint64_t size = tmajit::size_of(source.type);
  if (slice.destinations.front().elements() == 0) return 0;
  if (shape.empty()) return sector_bytes;

  // Sort the dimensions by their distance in memory: the order of reads does not change the result.
  const std::size_t rank = shape.size();
  const std::vector<std::uint32_t> order = slice.order(0);
  const std::vector<tmajit::Slice> slices = slice.arguments.slices("slices");
  std::vector<Walk> walks(rank);
  std::vector<std::uint64_t> begin(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t at = order.empty() ? d : order[d];
    walks[at] = {shape[d], static_cast<std::uint64_t>(slices[d].step)};
    begin[at] = static_cast<std::uint64_t>(slices[d].start.value_or(0));
  }
  std::uint64_t first = 0;
  std::uint64_t pitch = size;
  for (std::size_t d = rank; d-- > 0; pitch *= source.shape[d]) {
    first += begin[d] * pitch;
    walks[d].stride *= pitch;
  }

  const Walk row = walks.back();
  Starts starts{};
  starts.at(first % sector_bytes) = 1;
  std::uint64_t sectors = 0;
  // A row may end in the sector in which the next row starts, which must be counted once. If the step to
  // the next row advances dimension d, the row that ends is at the last index of every dimension between d
  // and its own.
  for (std::size_t d = 0; d + 1 < rank; ++d) {
    Starts ends = repeated(starts, {walks[d].count - 1, walks[d].stride});
    std::uint64_t next = walks[d].stride;
    for (std::size_t inner = d + 1; inner + 1 < rank; ++inner) {
      const std::uint64_t length = (walks[inner].count - 1) * walks[inner].stride;
      Starts moved{};
      for (std::uint64_t at = 0; at < sector_bytes; ++at)
        moved.at((at + length) % sector_bytes) = ends.at(at);
      ends = moved;
      next -= length;
    }
    const std::uint64_t last = (row.count - 1) * row.stride;
    for (std::uint64_t at = 0; at < sector_bytes; ++at) {
      if ((at + last) / sector_bytes == (at + next) / sector_bytes) sectors -= ends.at(at);
    }
    starts = repeated(starts, walks[d]);
  }
  for (std::uint64_t at = 0; at < sector_bytes; ++at) sectors += starts.at(at) * row_sectors(at, row, size);
  return sectors * sector_bytes;
}

}  // namespace bench
