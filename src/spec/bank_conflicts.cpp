#include "spec/counted.hpp"
#include "spec/enum_names.hpp"
#include "spec/limits.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_width = 16;  // bytes that a lane accesses at most
// The matrices that ldmatrix and stmatrix access.
constexpr std::uint32_t matrix_rows = 8;
constexpr std::uint32_t matrix_row_bytes = 16;

constexpr EnumNames<AccessPattern, all_access_patterns.size()> patterns{
    "access pattern", {"row", "column", "matrix", "matrix-transposed"}};

void check(const WarpAccess& access) {
  const auto fail = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  if (access.width == 0 || access.width > max_width || (access.width & (access.width - 1)) != 0) {
    fail(fmt::format("{} a lane; an access has 1, 2, 4, 8 or 16", counted(access.width, "byte")));
  }
  if (access.lanes > warp_lanes) fail(fmt::format("{} lanes; a warp has {}", access.lanes, warp_lanes));
  for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
    if (access.offsets[lane] % access.width == 0) continue;
    fail(fmt::format("lane {}: offset {} is no multiple of the {}-byte access", lane, access.offsets[lane],
                     access.width));
  }
}

/// For each bank, the number of distinct words that lanes access in it.
using WordCounts = std::array<std::uint32_t, shared_banks>;

/// Counts the words that lanes `first` to `end` − 1 access.
WordCounts count_words(const WarpAccess& access, std::uint32_t first, std::uint32_t end) {
  std::array<std::uint32_t, warp_lanes> word_indices{};
  std::uint32_t accesses = 0;
  for (auto lane = first; lane < end; ++lane) {
    const auto word = access.offsets[lane] / bank_bytes;
    for (std::uint32_t i = 0; i < std::max(access.width / bank_bytes, 1U); ++i)
      word_indices[accesses++] = word + i;
  }
  const auto accessed = std::span(word_indices).first(accesses);
  std::sort(accessed.begin(), accessed.end());
  const auto distinct_end = std::unique(accessed.begin(), accessed.end());
  WordCounts counts{};
  std::for_each(accessed.begin(), distinct_end, [&](std::uint32_t word) { ++counts[word % shared_banks]; });
  return counts;
}

/// Calls `visit` with the WordCounts of each group of lanes that one wavefront serves if no banks conflict:
/// 32 lanes of up to 4 bytes, 16 of 8 or 8 of 16.
template <typename Visit>
void for_each_group(const WarpAccess& access, const Visit& visit) {
  check(access);
  const auto group_lanes = warp_lanes / std::max(access.width / bank_bytes, 1U);
  for (std::uint32_t first = 0; first < access.lanes; first += group_lanes) {
    visit(count_words(access, first, std::min(first + group_lanes, access.lanes)));
  }
}

bool is_matrix(AccessPattern pattern) noexcept {
  return pattern == AccessPattern::matrix || pattern == AccessPattern::matrix_transposed;
}

/// How a pattern accesses a whole tile: in pieces of `width` bytes, one per lane and instruction. For
/// matrices a piece is a row of one matrix.
struct Sweep {
  std::uint32_t pieces = 0;  ///< 0: the pattern cannot access the tile in pieces of `width` bytes
  std::uint32_t pieces_per_instruction = warp_lanes;
};

Sweep sweep_of(const BoxLayout& box, AccessPattern pattern, std::uint32_t width) noexcept {
  if (is_matrix(pattern)) {
    if (width != matrix_row_bytes) return {};
    if (pattern == AccessPattern::matrix_transposed && box.element_bytes() != 2) return {};
    const auto matrices = box.rows() / matrix_rows * (box.row_bytes() / matrix_row_bytes);
    const auto per_instruction = matrices % 4 == 0 ? 4U : matrices % 2 == 0 ? 2U : 1U;  // .x4, .x2, .x1
    return {.pieces = matrices * matrix_rows, .pieces_per_instruction = per_instruction * matrix_rows};
  }
  const bool legal = width >= box.element_bytes() && width <= max_width && (width & (width - 1)) == 0;
  return {.pieces = legal ? box.rows() * (box.row_bytes() / width) : 0};
}

std::uint32_t instructions(const Sweep& sweep) noexcept {
  return (sweep.pieces + sweep.pieces_per_instruction - 1) / sweep.pieces_per_instruction;
}

/// The offset of piece `number` of the sweep.
std::uint32_t offset_of_piece(const BoxLayout& box, AccessPattern pattern, std::uint32_t width,
                              std::uint32_t number) noexcept {
  const auto row_pieces = box.row_bytes() / width;
  const auto at = [&](std::uint32_t row, std::uint32_t piece) {
    return box.offset_of({.row = row, .column = piece * width / box.element_bytes()});
  };
  const auto matrix = number / matrix_rows;
  const auto row = number % matrix_rows;
  const auto matrices_down = std::max(box.rows() / matrix_rows, 1U);
  switch (pattern) {
    case AccessPattern::column: return at(number % box.rows(), number / box.rows());
    case AccessPattern::matrix: return at(matrix / row_pieces * matrix_rows + row, matrix % row_pieces);
    case AccessPattern::matrix_transposed:
      return at(matrix % matrices_down * matrix_rows + row, matrix / matrices_down);
    default: return at(number / row_pieces, number % row_pieces);
  }
}

/// The access of instruction `number` of the sweep.
WarpAccess access_of(const BoxLayout& box, AccessPattern pattern, std::uint32_t width, const Sweep& sweep,
                     std::uint32_t number) noexcept {
  const auto first = number * sweep.pieces_per_instruction;
  WarpAccess access{.width = width, .lanes = std::min(sweep.pieces - first, sweep.pieces_per_instruction)};
  for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
    access.offsets[lane] = offset_of_piece(box, pattern, width, first + lane);
  }
  return access;
}

}  // namespace

Wavefronts wavefronts(const WarpAccess& access) {
  Wavefronts result;
  for_each_group(access, [&](const WordCounts& counts) {
    const auto ways = std::ranges::max(counts);
    result.needed += ways;
    result.ideal += 1;
    result.ways = std::max(result.ways, ways);
  });
  return result;
}

std::array<std::uint32_t, shared_banks> words_of_banks(const WarpAccess& access) {
  WordCounts worst{};
  for_each_group(access, [&](const WordCounts& counts) {
    if (std::ranges::max(counts) > std::ranges::max(worst)) worst = counts;
  });
  return worst;
}

std::string_view name(AccessPattern pattern) noexcept {
  return patterns.of(pattern);
}

template <>
AccessPattern parse<AccessPattern>(std::string_view text) {
  return patterns.parse(text);
}

std::uint32_t instructions(const BoxLayout& box, AccessPattern pattern, std::uint32_t width) noexcept {
  return instructions(sweep_of(box, pattern, width));
}

WarpAccess warp_access(const BoxLayout& box, AccessPattern pattern, std::uint32_t width,
                       std::uint32_t number) {
  const auto sweep = sweep_of(box, pattern, width);
  if (number >= instructions(sweep)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("instruction {} is out of range: the pattern {} with {} a lane accesses this tile in {}",
                    number, name(pattern), counted(width, "byte"),
                    counted(instructions(sweep), "instruction")));
  }
  return access_of(box, pattern, width, sweep, number);
}

Conflicts conflicts(const BoxLayout& box, AccessPattern pattern, std::uint32_t width) {
  const auto sweep = sweep_of(box, pattern, width);
  Conflicts result{.instructions = instructions(sweep)};
  for (std::uint32_t number = 0; number < result.instructions; ++number) {
    const auto cost = wavefronts(access_of(box, pattern, width, sweep, number));
    result.wavefronts += cost.needed;
    result.ideal += cost.ideal;
    if (cost.needed > cost.ideal) ++result.conflicting;
    if (cost.ways > result.ways) {
      result.ways = cost.ways;
      result.worst = number;
    }
  }
  return result;
}

TMAJIT_END
