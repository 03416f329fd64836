/// A transpose's image in shared memory: writes of blocks and reads of rows have few bank conflicts or none.
#include "families/transpose/tile_image.hpp"

#include "plan/moves.hpp"

#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// A transpose of a matrix with tiles of row_bytes by column_bytes.
BlockFacts facts_for(std::uint32_t element_bytes, std::uint32_t vector_bytes, std::uint32_t row_bytes,
                     std::uint32_t column_bytes, bool staggered = false) {
  return {.element_bytes = element_bytes,
          .rank = 2,
          .column = 0,
          .vector = vector_bytes / element_bytes,
          .staggered = staggered ? 1U : 0U,
          .box = {column_bytes / element_bytes, row_bytes / element_bytes},
          .source_order = {1, 0}};
}

/// Sums of the wavefronts of several accesses, and the worst conflict.
struct Counted {
  std::uint32_t needed = 0;
  std::uint32_t ideal = 0;
  std::uint32_t ways = 0;
  void add(const WarpAccess& access) {
    const Wavefronts one = wavefronts(access);
    needed += one.needed;
    ideal += one.ideal;
    ways = std::max(ways, one.ways);
  }
};

/// All writes of blocks to the image.
Counted writing(const TileImage& image, const BlockFacts& facts) {
  Counted all;
  const std::uint32_t swizzle = image.best_swizzle();
  for (std::uint32_t warp = 0; warp < image.writing_warps(); ++warp) {
    for (std::uint32_t line = 0; line < facts.vector; ++line) all.add(image.write(warp, line, swizzle));
  }
  return all;
}

/// All reads of rows from the image.
Counted reading(const TileImage& image) {
  Counted all;
  const std::uint32_t swizzle = image.best_swizzle();
  for (std::uint32_t warp = 0; warp < image.reading_warps(); ++warp) all.add(image.read(warp, swizzle));
  return all;
}

/// Calls visit(facts) for all sizes of elements and vectors, and tiles of several sizes.
void for_each_tile(bool staggered, std::uint32_t shortest_row, const auto& visit) {
  for (const std::uint32_t vector : {8U, 16U}) {
    for (std::uint32_t element = 1; element <= vector; element *= 2) {
      if (staggered && element == 16) continue;
      for (const std::uint32_t row : {32U, 64U, 128U, 256U, 512U}) {
        for (const std::uint32_t column : {32U, 64U, 128U, 256U, 512U}) {
          if (row < shortest_row) continue;
          INFO(element << " bytes by " << vector << ", rows of " << row << " bytes, columns of " << column);
          visit(facts_for(element, vector, row, column, staggered));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("images of transposes that are not staggered have no bank conflicts") {
  for_each_tile(false, 32, [](const BlockFacts& facts) {
    const TileImage image(facts);
    const Counted written = writing(image, facts);
    const Counted read = reading(image);
    CHECK(written.needed == written.ideal);
    CHECK(read.needed == read.ideal);
  });
}

TEST_CASE("images of staggered transposes have at most 2-way conflicts, and none in reads of long rows") {
  for_each_tile(true, 128, [](const BlockFacts& facts) {
    const TileImage image(facts);
    CHECK(reading(image).ways == 1);
    CHECK(writing(image, facts).ways <= 2);
  });
  for_each_tile(true, 32, [](const BlockFacts& facts) {
    const TileImage image(facts);
    CHECK(reading(image).ways <= 2);
    CHECK(writing(image, facts).ways <= 2);
  });
}

TEST_CASE("every line of a block has an address of its own within the image") {
  const auto check = [](const BlockFacts& facts) {
    const TileImage image(facts);
    const std::uint32_t swizzle = image.best_swizzle();
    std::set<std::uint32_t> found;
    std::uint32_t lines = 0;
    for (std::uint32_t warp = 0; warp < image.writing_warps(); ++warp) {
      for (std::uint32_t line = 0; line < facts.vector; ++line) {
        const WarpAccess access = image.write(warp, line, swizzle);
        found.insert(access.offsets.begin(), access.offsets.begin() + access.lanes);
        lines += access.lanes;
      }
    }
    CHECK(found.size() == lines);
    CHECK(*found.rbegin() + facts.vector_bytes() <= image.bytes());
    for (std::uint32_t warp = 0; warp < image.reading_warps(); ++warp) {
      const WarpAccess access = image.read(warp, swizzle);
      for (std::uint32_t lane = 0; lane < access.lanes; ++lane) CHECK(found.contains(access.offsets[lane]));
    }
  };
  for_each_tile(false, 32, check);
  for_each_tile(true, 32, check);
  for (const auto& known : tests::known_moves()) {
    for (const Candidate& candidate : tests::candidates_of(known.move)) {
      if (tests::is_of_family(candidate, "transpose")) check(facts_of<BlockFacts>(candidate));
    }
  }
}
