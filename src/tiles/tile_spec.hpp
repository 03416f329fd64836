#pragma once

#include "kernel/family.hpp"
#include "spec/saturate.hpp"

#include <tmajit/operations/tiles.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// The common part of families whose CTAs move boxes of tensors through rings of tiles in shared memory. The
// caller or the planner chooses the box.

inline constexpr std::uint64_t kib = 1024;  ///< bytes

/// The defaults of a kernel's pipeline, measured on an H200 over 1 GiB (docs/measurements.md). An SM holds
/// several CTAs, each of which processes few tiles and then makes room for the next.
struct TilePipeline {
  std::uint64_t tile_bytes = 8 * kib;        ///< bytes of a tile of all inputs together
  std::uint64_t stages = 2;                  ///< stages of a ring; also the number of tiles of a CTA
  std::uint64_t bytes_in_flight = 64 * kib;  ///< bytes of loads in flight on an SM
};

/// The properties of one of these families.
struct TileTraits {
  std::string_view name;
  std::uint32_t max_rank = max_map_rank;
  std::uint32_t max_inputs = 1;
  bool computes = false;       ///< has an expression, warps that compute and a ring of outputs
  bool by_addresses = false;   ///< bulk copies instead of tensor maps: one dimension, any alignment
  bool writes_images = false;  ///< writes the tiles' images in shared memory, as bytes
  bool combines = false;       ///< combines elements with those of the output
  TilePipeline pipeline = {};
};
extern const TileTraits copy_traits;
extern const TileTraits reduce_into_traits;
extern const TileTraits map_traits;
extern const TileTraits bulk_traits;
extern const TileTraits snapshot_traits;
/// The traits of a family. Throws Error{invalid_argument} that lists the families if the name is unknown.
[[nodiscard]] const TileTraits& tile_traits(std::string_view family);

/// Facts of one operand that a kernel is specialised for. Address and size are not among them.
struct OperandSpec {
  ElementType type = ElementType{};
  Swizzle swizzle = Swizzle::none;
  Interleave interleave = Interleave::none;
  std::array<std::uint8_t, max_map_rank> element_strides{};  ///< row-major, 1 … 8; zero beyond the rank

  friend bool operator==(const OperandSpec&, const OperandSpec&) = default;
};

/// Facts of these families. Shapes, strides and addresses are arguments of the launch.
struct TileFacts {
  std::uint8_t rank = 0;           ///< 1 … 5
  std::uint8_t inputs = 0;         ///< 1 … 8
  std::uint8_t stages = 0;         ///< depth of the ring of input tiles in flight, 1 … 32
  std::uint8_t output_stages = 0;  ///< depth of the ring of output tiles, 2 … 8; 0 where nothing is computed
  std::uint8_t warps = 0;          ///< warps that compute, 1 … 16; 1 if nothing is computed
  std::uint8_t ctas_per_sm = 0;    ///< CTAs that share an SM, 1 … 16
  std::uint8_t tiles_per_cta = 0;  ///< tiles or chunks of a CTA before it exits; 0: a persistent grid
  std::uint8_t row_tails = 0;      ///< 1 if output rows are no multiple of 16 bytes: threads store their ends
  std::uint8_t numbers = 0;        ///< numbers of the launch that the expression may read, 0 … 7
  std::array<ElementType, max_inputs - 1> number_types{};  ///< of p0, p1 …; zero beyond the last number
  std::array<std::uint32_t, max_map_rank> tile{};  ///< elements, row-major; for bulk the elements of a chunk
  std::array<OperandSpec, max_inputs + 1> operands{};  ///< the output, then the inputs
  std::uint32_t combine = 0;                           ///< a CombineOp; also 0 if nothing is combined
};

/// Requested values that the facts cannot hold, for the rules to report; 0 if the facts hold the value. All
/// nonzero values are illegal, except those of `box` and `outer_dimensions`.
struct BeyondFacts {
  // If one of these five is set, the fact of that name is 255.
  std::uint32_t stages = 0;
  std::uint32_t output_stages = 0;
  std::uint32_t warps = 0;
  std::uint32_t ctas_per_sm = 0;
  std::uint32_t tiles_per_cta = 0;
  std::array<std::uint32_t, max_map_rank> element_strides{};
  std::array<std::uint32_t, max_map_rank> box{};  ///< extents that are no multiples of the element strides
  /// Dimensions of the views beyond the five of a tensor map. The facts are those of the innermost five.
  std::uint32_t outer_dimensions = 0;
};

/// A kernel of one of these families.
struct TileSpec : TileFacts {
  const TileTraits* traits = &copy_traits;
  std::string expression = {};
  BeyondFacts asked = {};
  L2Promotion l2_promotion = L2Promotion::none;  ///< promotion and fill of the launch's tensor maps
  OobFill oob_fill = OobFill::zero;

  [[nodiscard]] const OperandSpec& input(std::uint32_t i) const { return operands[i + 1]; }
  [[nodiscard]] const OperandSpec& output() const { return operands[0]; }
  [[nodiscard]] OperandSpec& output() { return operands[0]; }
  [[nodiscard]] CombineOp combine_op() const { return static_cast<CombineOp>(combine); }
  /// The type of the tensor map of an operand.
  [[nodiscard]] ElementType map_type(const OperandSpec& operand) const noexcept;
  /// Whether operand `index` (the output, then the inputs) goes through a tensor map; else the kernel takes
  /// its address.
  [[nodiscard]] bool has_map(std::uint32_t index) const noexcept;
  /// The views' rank: `rank`, and the dimensions beyond those of a tensor map.
  [[nodiscard]] std::uint32_t view_rank() const noexcept { return rank + asked.outer_dimensions; }
};

/// Builds the spec of a kernel that moves or computes on views like these, the output first, and fills in the
/// defaults. The result may be illegal: check_spec() reports that. Throws Error{invalid_argument} if no
/// spec can be built: ranks differ, there are too many inputs, or lists have wrong lengths.
[[nodiscard]] TileSpec tile_spec(const TileTraits& traits, std::string_view expression,
                                 std::span<const TensorView> views, const TileOptions& options = {},
                                 CombineOp combine = CombineOp::add);

/// Fills in the members that are not `chosen`. Traits, rank, inputs, operands and chosen members of `spec`
/// must be set. `extents` is the shape of the output (for bulk it is empty). The result is legal if the
/// chosen members allow a legal spec.
void fill_defaults(TileSpec& spec, const TileOptions& chosen, std::span<const std::uint64_t> extents);

/// The tensor map of operand `index` (the output, then the inputs) of a kernel over `view`.
[[nodiscard]] TensorMapSpec tensor_map(const TileSpec& spec, std::uint32_t index, const TensorView& view);
/// The tensor map of operand `index` without shape and strides, which only a view has.
[[nodiscard]] TensorMapSpec partial_map(const TileSpec& spec, std::uint32_t index);

/// A view with its shape divided by element strides, rounded up: the extents that tiles cover.
[[nodiscard]] TensorView over_strides(TensorView view, const Dims& strides);
/// A view of operand `index` with its shape divided by the operand's element strides, rounded up.
[[nodiscard]] TensorView walked_view(const TileSpec& spec, std::uint32_t index, TensorView view);
/// The dimensions of a view that a tensor map describes: all, or the innermost five.
[[nodiscard]] TensorView innermost(const TileSpec& spec, const TensorView& view);
/// The dense view of the output for a source: its shape divided by the element strides, rounded up; for a
/// snapshot u8 [tiles, bytes of a tile].
[[nodiscard]] TensorView output_view(const TileSpec& spec, const TensorView& source);

/// The layout of a kernel's dynamic shared memory; offsets are from a 1024-byte-aligned base.
struct SharedLayout {
  struct Ring {
    std::uint32_t offset = 0;       ///< offset of stage 0
    std::uint32_t stage_bytes = 0;  ///< bytes from one stage to the next, with padding for alignment
    std::uint32_t tile_bytes = 0;   ///< bytes of a stage that a tile occupies
  };
  std::array<Ring, max_inputs> inputs{};
  Ring output{};               ///< empty if stores read the input ring
  std::uint32_t barriers = 0;  ///< offset of the mbarriers: full[stages], then empty[stages]
  std::uint64_t bytes = 0;     ///< total bytes, with slack for aligning the base
};

/// Lays shared memory out for `spec`. Defined for every value of its fields: nothing is read out of range.
[[nodiscard]] SharedLayout shared_layout(const TileSpec& spec) noexcept;
/// Dynamic shared memory of a launch: the layout's. If the grid is not persistent, padding is added so that
/// no more than ctas_per_sm CTAs fit an SM.
[[nodiscard]] std::uint32_t launch_shared_bytes(const TileSpec& spec) noexcept;
/// Threads of a CTA: 32 · (warps + 1) if the kernel computes, since one warp issues loads; else 32.
[[nodiscard]] std::uint32_t threads(const TileSpec& spec) noexcept;
/// The layout of a tile of `operand` in shared memory.
[[nodiscard]] TileLayout operand_layout(const TileSpec& spec, const OperandSpec& operand) noexcept;
/// Bytes that the loads of one stage add to its mbarrier.
[[nodiscard]] std::uint64_t stage_transaction_bytes(const TileSpec& spec) noexcept;
/// Whether the shared memory and threads of an SM suffice for spec.ctas_per_sm CTAs, and a transaction count
/// can hold the bytes of a stage.
[[nodiscard]] bool fits(const TileSpec& spec) noexcept;

TMAJIT_END
