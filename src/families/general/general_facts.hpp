#pragma once

#include "families/shared/chunks.hpp"

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// How a thread of a `general` kernel loads a chunk of a source (templates/kernels/general.cu). Stored
/// choices contain these numbers, so they must not change.
enum class Access : std::uint32_t {
  run,       ///< elements are contiguous or have a small stride: loads whole words, and extracts the elements
  repeat,    ///< all elements are the same one
  elements,  ///< loads each element separately
  image,     ///< reads shared memory, to which the CTA's threads first copy whole lines of the source
  number,    ///< takes the number that the launch passes
};
[[nodiscard]] std::string_view name(Access) noexcept;

/// One source. Dimensions are those of the nest.
struct SourceFacts {
  std::uint32_t type = 0;  ///< an ElementType
  Access access = Access::elements;
  std::int32_t stride = 0;      ///< stride of a run along the row, in elements
  std::uint32_t alignment = 1;  ///< alignment of loads in bytes; of a run's first: 1, 4, 8 or a whole chunk
  Flag interleaved = 0;         ///< the bytes next to a run's elements may be the destination's
  // For an image in shared memory:
  std::uint32_t offset = 0;   ///< byte offset of the image
  std::uint32_t run = 0;      ///< number of dimensions that a line spans, the last ones of `order`
  std::uint32_t pitch = 0;    ///< bytes from line to line
  std::uint32_t skew = 0;     ///< bytes of padding after each chunk's lines along the row
  Flag row_in_line = 0;       ///< a line spans the last dimension
  PerDimension order{};       ///< dimensions by the source's strides, the largest first
  PerDimension lines{};       ///< lines in each dimension; 1 in those that a line spans
  PerDimension image_step{};  ///< bytes of the image from one index to the next; 0 if repeated

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

/// The facts that a `general` kernel is specialised for.
struct GeneralFacts : ChunkFacts {
  std::uint32_t column = 0;  ///< dimension in which the first source with an image is contiguous
  std::uint32_t sources = 1;
  Flag padded = 0;
  std::array<SourceFacts, max_inputs> source{};

  [[nodiscard]] bool has_image() const noexcept;
  /// Whether any source is read element by element.
  [[nodiscard]] bool reads_elements() const noexcept;
  /// Whether any source is an interleaved run.
  [[nodiscard]] bool is_interleaved() const noexcept;
  /// Bytes of dynamic shared memory.
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
};

/// Facts, and the nest as the kernel walks it: some dimensions are reversed.
struct GeneralKernel {
  GeneralFacts facts;
  CanonicalNest nest;
};

/// Tunable parameters: sides of the tile in bytes if there is an image, else threads and turns.
struct GeneralTuning {
  std::uint32_t destination_run = 256;
  std::uint32_t source_run = 256;
  std::uint32_t threads = 256;
  std::uint32_t turns = 1;
  /// Whether sources that are contiguous in another dimension get an image. If not, threads load their
  /// elements separately, a few each.
  bool images = true;
};

/// Plans a kernel. Every problem has one with every tuning.
[[nodiscard]] GeneralKernel plan_general(const Problem& problem, const GeneralTuning& tuning);

TMAJIT_END
