#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

TMAJIT_BEGIN

/// The kernel families; one file each in templates/kernels/.
enum class Family : std::uint8_t {
  copy,      ///< tile by tile through shared memory; source and destination strides may differ
  map,       ///< out = f(in₀ … in₇), a user's expression, tile by tile
  bulk,      ///< 1-D out = f(in) through cp.async.bulk; any length, any alignment, in place or not
  snapshot,  ///< the raw shared-memory image of every tile, written out as bytes
};

inline constexpr std::array all_families{Family::copy, Family::map, Family::bulk, Family::snapshot};

[[nodiscard]] TMAJIT_API std::string_view name(Family) noexcept;
/// Throws Error{invalid_argument} that lists the legal names.
[[nodiscard]] TMAJIT_API Family parse_family(std::string_view);

inline constexpr std::uint32_t max_inputs = 8;
inline constexpr std::uint32_t max_expression = 1023;  ///< characters of an expression

/// What a kernel must know of one operand when it is compiled: nothing about where or how large it is.
struct OperandSpec {
  ElementType type = ElementType::f32;
  Swizzle swizzle = Swizzle::none;
  Interleave interleave = Interleave::none;
  std::array<std::uint8_t, max_map_rank> element_strides{};  ///< row-major, 1 … 8; zero beyond the rank

  friend bool operator==(const OperandSpec&, const OperandSpec&) = default;
};

/// Everything a kernel is specialised for. Plain data without padding: two specs are the same kernel exactly
/// if they are the same bytes. Shapes, strides and pointers are arguments of the launch, not of the kernel.
struct KernelSpec {
  Family family = Family::copy;
  std::uint8_t rank = 0;           ///< 1 … 5; 1 for bulk
  std::uint8_t inputs = 0;         ///< 1 … 8 for map, else 1
  std::uint8_t stages = 0;         ///< depth of the ring of input tiles in flight, 2 … 32 (1 allowed)
  std::uint8_t output_stages = 0;  ///< depth of the ring of output tiles (map, bulk), 2 … 8; else 0
  std::uint8_t warps = 0;          ///< warps that compute (map, bulk), 1 … 16; else 1
  std::uint8_t ctas_per_sm = 0;    ///< CTAs that share an SM, 1 … 16
  std::uint8_t tiles_per_cta = 0;  ///< tiles or chunks that a CTA does and then exits; 0: a persistent grid
  std::array<std::uint32_t, max_map_rank> tile{};  ///< elements, row-major; for bulk the elements of a chunk
  std::uint32_t reserved = 0;
  std::array<OperandSpec, max_inputs + 1> operands{};  ///< the inputs, then the output
  std::array<char, max_expression + 1> expression{};   ///< zero-padded; empty for copy and snapshot

  [[nodiscard]] const OperandSpec& input(std::uint32_t i) const { return operands[i]; }
  [[nodiscard]] const OperandSpec& output() const { return operands[inputs]; }
  [[nodiscard]] OperandSpec& output() { return operands[inputs]; }
  [[nodiscard]] std::string_view expression_text() const { return expression.data(); }

  friend bool operator==(const KernelSpec& a, const KernelSpec& b) noexcept {
    return std::memcmp(&a, &b, sizeof(KernelSpec)) == 0;
  }
};
static_assert(std::has_unique_object_representations_v<KernelSpec>, "a spec has no padding");

/// How tiles are moved; what a caller may choose beyond the operands. Zero or empty means "the default".
struct TileOptions {
  std::span<const std::uint32_t> box = {};              ///< of the first input, in elements, row-major
  std::span<const std::uint32_t> element_strides = {};  ///< of the inputs, row-major
  Swizzle swizzle = Swizzle::none;                      ///< of every operand
  Interleave interleave = Interleave::none;             ///< of every operand
  std::uint32_t stages = 0;
  std::uint32_t output_stages = 0;
  std::uint32_t warps = 0;
  std::uint32_t ctas_per_sm = 0;
  std::optional<std::uint32_t> tiles_per_cta = std::nullopt;  ///< 0 is a persistent grid
};

/// Builds the spec of a kernel that moves or computes on views like these; fills the defaults in. Does not
/// validate: validate() reports every rule that the result breaks.
/// Throws Error{invalid_argument} where no spec can be built: ranks differ, too many inputs, the expression
/// is too long.
[[nodiscard]] TMAJIT_API KernelSpec copy_spec(const TensorView& source, const TensorView& destination,
                                              const TileOptions& = {});
[[nodiscard]] TMAJIT_API KernelSpec map_spec(std::string_view expression, std::span<const TensorView> inputs,
                                             const TensorView& output, const TileOptions& = {});
/// `box` has one element: the elements of a chunk.
[[nodiscard]] TMAJIT_API KernelSpec bulk_spec(std::string_view expression, ElementType input,
                                              ElementType output, const TileOptions& = {});
[[nodiscard]] TMAJIT_API KernelSpec snapshot_spec(const TensorView& source, const TileOptions& = {});

/// The tensor map of operand `index` (inputs, then the output) of a kernel over `view`.
[[nodiscard]] TMAJIT_API TensorMapSpec tensor_map(const KernelSpec& spec, std::uint32_t index,
                                                  const TensorView& view, L2Promotion = L2Promotion::none,
                                                  OobFill = OobFill::zero);

/// What the output of `copy` and `snapshot` looks like for a source of this shape: its shape over the
/// element strides (rounded up), dense; or u8 [tiles, bytes of a tile].
[[nodiscard]] TMAJIT_API TensorView output_view(const KernelSpec& spec, const TensorView& source);

/// Where a kernel keeps what in dynamic shared memory; offsets from a 1024-byte-aligned base.
struct SharedLayout {
  struct Ring {
    std::uint32_t offset = 0;       ///< of stage 0
    std::uint32_t stage_bytes = 0;  ///< from one stage to the next, alignment included
    std::uint32_t tile_bytes = 0;   ///< bytes of a stage that a tile occupies
  };
  std::array<Ring, max_inputs> inputs{};
  Ring output{};               ///< empty where the input ring is stored from
  std::uint32_t barriers = 0;  ///< offset of the mbarriers: full[stages], then empty[stages]
  std::uint64_t bytes = 0;     ///< in all, the slack for aligning the base included
};

/// Lays shared memory out for `spec`. Total over every value of its fields: nothing is read out of range.
[[nodiscard]] TMAJIT_API SharedLayout shared_layout(const KernelSpec& spec) noexcept;
/// Dynamic shared memory of a launch: the layout's, and as much more as keeps others than the first
/// ctas_per_sm CTAs off an SM where the grid is not persistent.
[[nodiscard]] TMAJIT_API std::uint32_t launch_shared_bytes(const KernelSpec& spec) noexcept;
/// Threads of a CTA: 32 · (warps + 1) for map and bulk (one warp issues loads), 32 otherwise.
[[nodiscard]] TMAJIT_API std::uint32_t threads(const KernelSpec& spec) noexcept;

TMAJIT_END
