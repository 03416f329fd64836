#pragma once

#include "families/shared/chunks.hpp"

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// How the threads of a `general` kernel come by the elements of a source (templates/kernels/general.cu).
enum class Access : std::uint32_t {
  run,       ///< they are next to each other, or a small step apart: whole words, from which they are picked
  repeat,    ///< they are all the same one
  elements,  ///< each by itself
  image,     ///< other threads bring them: whole lines of the source's memory go to shared memory first
};
[[nodiscard]] std::string_view name(Access) noexcept;

/// One source. Dimensions are those of the nest.
struct SourceFacts {
  std::uint32_t type = 0;  ///< an ElementType
  Access access = Access::elements;
  std::int32_t stride = 0;      ///< run: elements from one to the next along the row
  std::uint32_t alignment = 1;  ///< bytes; run: of every load but those along the row: 1, 4, 8 or a chunk
  Flag interleaved = 0;         ///< run: what lies beside its elements may be the destination's
  // For an image in shared memory:
  std::uint32_t offset = 0;  ///< bytes
  std::uint32_t run = 0;     ///< dimensions, from the last of `order`, that a line spans
  std::uint32_t pitch = 0;   ///< bytes from line to line
  std::uint32_t skew = 0;    ///< bytes after each chunk's lines along the row
  Flag row_in_line = 0;
  PerDimension order{};       ///< dimensions by the source's strides, the largest first
  PerDimension lines{};       ///< lines in each dimension; 1 in those that a line spans
  PerDimension image_step{};  ///< bytes between indices; 0 where repeated

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

/// The facts that a `general` kernel is specialised for.
struct GeneralFacts : ChunkFacts {
  std::uint32_t column = 0;  ///< the dimension in which the first source of an image is contiguous
  std::uint32_t sources = 1;
  Flag padded = 0;
  std::array<SourceFacts, max_inputs> source{};

  [[nodiscard]] bool has_image() const noexcept;
  /// Whether any source is read element by element.
  [[nodiscard]] bool reads_elements() const noexcept;
  /// Whether any run is.
  [[nodiscard]] bool is_interleaved() const noexcept;
  /// Dynamic shared memory.
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
};

/// Facts, and the nest as the kernel walks it: some dimensions are turned round.
struct GeneralKernel {
  GeneralFacts facts;
  CanonicalNest nest;
};

/// Tunable parameters: sides of the tile in bytes where there is an image, else threads and turns.
struct GeneralTuning {
  std::uint32_t destination_run = 256;
  std::uint32_t source_run = 256;
  std::uint32_t threads = 256;
  std::uint32_t turns = 1;
  /// Where a source's memory runs along another dimension; else it is read by elements, a few a thread.
  bool images = true;
};

/// Always possible.
[[nodiscard]] GeneralKernel plan_general(const Problem& problem, const GeneralTuning& tuning);

TMAJIT_END
