#pragma once

#include "plan/move_problem.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// How a kernel moves elements from views to another; one file each in templates/kernels/.
enum class MoveMethod : std::uint8_t {
  rows,              ///< 16 bytes at a time: both views contiguous in the last dimension
  transpose,         ///< blocks through registers and shared memory: contiguous in different dimensions
  general,           ///< any strides, alignments, types, expressions and paddings
  direct_transpose,  ///< as transpose, through registers alone: whole blocks only
  engine_rows,       ///< as rows, but the copy engine loads and stores
  engine_transpose,  ///< as transpose, but the copy engine loads
  gather,            ///< whole vectors of runs that several short dimensions make up, element by element
};

[[nodiscard]] std::string_view name(MoveMethod) noexcept;

/// The order in which a transpose's CTAs take tiles. Those that run together should touch few places of
/// memory that are far apart.
enum class TileOrder : std::uint32_t {
  destination,  ///< of the destination's memory
  source,       ///< of the source's
  square,       ///< of the destination's, but `column` is the fastest after the last dimension
  grouped,      ///< of the destination's, by eights of `column`'s tiles
};
inline constexpr std::array all_tile_orders{TileOrder::destination, TileOrder::source, TileOrder::square,
                                            TileOrder::grouped};

/// "destination", "source", "square", "grouped".
[[nodiscard]] std::string_view name(TileOrder) noexcept;

/// How a `general` kernel's threads come by the elements of a source (templates/device/views.cuh).
enum class SourceAccess : std::uint32_t { run, repeat, elements, image };

[[nodiscard]] std::string_view name(SourceAccess) noexcept;

/// One source of a `general` kernel. Dimensions are those of the nest.
struct SourcePlan {
  ElementType type = ElementType::u8;
  SourceAccess access = SourceAccess::elements;
  std::int32_t stride = 0;      ///< run: elements from one to the next along the row
  std::uint32_t alignment = 1;  ///< bytes, of every load but those along the row; at most 16
  // Of an image in shared memory:
  std::uint32_t offset = 0;  ///< bytes
  std::uint32_t run = 0;     ///< dimensions, from the last of `order`, that a line spans
  std::uint32_t pitch = 0;   ///< bytes from line to line
  std::uint32_t skew = 0;    ///< bytes after each chunk's lines along the row
  bool row_in_line = false;
  std::array<std::uint32_t, max_view_rank>
      order{};  ///< dimensions by the source's strides, the largest first
  std::array<std::uint32_t, max_view_rank> lines{};       ///< in each dimension; 1 in those that a line spans
  std::array<std::uint32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  friend bool operator==(const SourcePlan&, const SourcePlan&) = default;
};

/// Everything that a kernel which moves a canonical nest is specialised for; extents, steps and addresses are
/// arguments of its launch.
struct MoveKernel {
  MoveMethod method = MoveMethod::general;
  std::uint32_t element_bytes = 1;  ///< of the destination
  std::uint32_t rank = 1;           ///< at least 1
  std::uint32_t column = 0;         ///< the dimension in which the source (of an image) is contiguous
  std::uint32_t threads = 0;
  std::uint32_t stages = 1;   ///< engine: tiles that a CTA does, all of them in flight at once
  bool wide_offsets = false;  ///< offsets in a tile take more than 32 bits
  std::array<std::uint32_t, max_view_rank> box{};           ///< elements of a tile
  std::array<std::uint32_t, max_view_rank> source_order{};  ///< transpose: dimensions by the source's strides
  TileOrder tile_order = TileOrder::destination;            ///< of a transpose

  // general:
  ElementType type = ElementType::u8;  ///< of the destination
  bool whole = false;                  ///< no vector, block or chunk is at an edge that cuts it
  std::uint32_t chunk = 0;             ///< elements along the last dimension that a thread does at a time;
                                       ///< of a transpose a vector's
  std::uint32_t turns = 0;             ///< chunks that it has in flight
  bool contiguous = false;             ///< the destination's last dimension is
  std::uint32_t alignment = 0;         ///< of its chunks, bytes
  bool staggered = false;              ///< its rows begin between boundaries of chunks
  bool padded = false;
  std::uint32_t sources = 1;
  std::array<SourcePlan, max_operands - 1> source{};
  std::uint32_t coordinates = 0;  ///< dimensions of the user's view, if the expression reads them
  bool wide_coordinates = false;  ///< more than 32 bits
  std::array<std::uint32_t, max_view_rank> dimension_of{};
  std::array<bool, max_view_rank> backwards{};

  // gather: its source has an image, whose lines span the last `run` dimensions of `order`.
  std::uint32_t run_dimension = 0;  ///< with those after it one run of the destination's memory
  bool alike = false;               ///< a tile's runs begin equally far from multiples of 16 bytes
  std::uint32_t part = 0;  ///< indices of it in a part of a run: all parts look alike; 0 if runs have none
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes

  friend bool operator==(const MoveKernel&, const MoveKernel&) = default;

  /// Sets `wide_offsets`, for a box that is chosen.
  void choose_offsets(const MoveProblem& problem) noexcept;
  /// Dynamic shared memory, bytes.
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// Static shared memory that the transpose's image takes, bytes.
  [[nodiscard]] std::uint32_t image_bytes() const noexcept;
  /// Of one load or store of a transpose, and of a block's sides.
  [[nodiscard]] std::uint32_t vector_bytes() const noexcept { return chunk * element_bytes; }
  /// Dimensions in the order of `tile_order`, the fastest last.
  [[nodiscard]] std::array<std::uint32_t, max_view_rank> tile_dimensions() const noexcept;
  /// Tiles of `column` that come before all others.
  [[nodiscard]] std::uint32_t tile_group() const noexcept { return tile_order == TileOrder::grouped ? 8 : 1; }
  /// Bytes of loads that a CTA has in flight.
  [[nodiscard]] std::uint64_t bytes_in_flight() const noexcept;
  [[nodiscard]] bool has_image() const noexcept;
  [[nodiscard]] bool transposes() const noexcept;
  [[nodiscard]] bool uses_engine() const noexcept;
  /// What was free to choose: "transpose 64x64, 256 threads", "transpose 64x64 by 8, 64 threads" with vectors
  /// of 8 bytes, or "transpose 64x64, 256 threads, source order".
  [[nodiscard]] std::string choice() const;
};

/// A kernel and the problem as it takes it: a general one may walk dimensions the other way round.
struct MoveCandidate {
  MoveKernel kernel;
  CanonicalNest nest;
};

/// What is free to choose for speed.
struct MoveTuning {
  std::uint32_t destination_run = 256;  ///< bytes of a tile that follow each other in the destination
  std::uint32_t source_run = 256;       ///< and in a source, where it goes on in another dimension
  std::uint32_t vector_bytes = 16;      ///< of a transpose: 16, or 8 for elements of less than that
  std::uint32_t threads = 256;
  std::uint32_t turns =
      2;  ///< vectors or chunks of 16 bytes that a thread has in flight, where tiles are rows
  friend bool operator==(const MoveTuning&, const MoveTuning&) = default;
};

/// The kernels worth considering for a problem; the first is right for most large tensors. The nest is not
/// empty.
[[nodiscard]] std::vector<MoveCandidate> move_candidates(const MoveProblem& problem);

/// Whether transpose kernels take the problem: views that are contiguous in different dimensions, both long
/// enough for blocks.
[[nodiscard]] bool takes_blocks(const MoveProblem& problem) noexcept;

/// What moves have in common whose fastest candidate is likely the same: "transpose 4B rank 2 row 2^14 column
/// 2^14 bytes 2^31". With `doublings` that of moves so many times twice as large.
[[nodiscard]] std::string shape_class(const MoveProblem& problem, const MoveKernel& kernel,
                                      int doublings = 0);

/// The kernel of a method that can take the problem, by these choices.
[[nodiscard]] MoveCandidate rows_candidate(const MoveProblem& problem, const MoveTuning& tuning);
[[nodiscard]] MoveCandidate transpose_candidate(const MoveProblem& problem, std::uint32_t column,
                                                const MoveTuning& tuning);
[[nodiscard]] MoveCandidate general_candidate(const MoveProblem& problem, const MoveTuning& tuning);

/// Its source: a self-contained translation unit. The expression is the problem's.
[[nodiscard]] Source move_source(const MoveKernel& kernel, std::string_view expression = {});
/// What tells its source from others: bytes.
[[nodiscard]] std::string move_recipe(const MoveKernel& kernel, std::string_view expression);

/// A tensor map that a launch takes, to be encoded by its device.
struct MoveMap {
  TensorMapSpec spec;
  DevicePtr address = 0;
};
/// Its first parameters, if it goes through the copy engine: the source's map, then the destination's.
[[nodiscard]] std::vector<MoveMap> move_maps(const MoveKernel& kernel, const MoveProblem& problem);

/// The bytes of its parameters after those, one by one, for the problem and nest that it was made for.
[[nodiscard]] std::vector<std::vector<std::byte>> move_parameters(const MoveKernel& kernel,
                                                                  const CanonicalNest& nest,
                                                                  const MoveProblem& problem);

/// Its grid, block and dynamic shared memory. Throws Error{unsupported} if there are more tiles than a grid
/// has CTAs.
[[nodiscard]] LaunchShape move_shape(const MoveKernel& kernel, const CanonicalNest& nest);

TMAJIT_END
