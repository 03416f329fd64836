#pragma once

#include "kernel/row_steps.hpp"
#include "kernel/stencil_calls.hpp"
#include "kernel/window_problem.hpp"
#include "spec/canonical.hpp"

#include <tmajit/operation.hpp>
#include <tmajit/tile_options.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// The names that an expression reads, other than its sources' values.
struct ExpressionReads {
  bool g = false;           ///< the element's coordinates
  bool t = false;           ///< the element's coordinates in its tile
  bool tile_index = false;  ///< the element's linear index in its tile
};

/// Moves bits unchanged.
struct CopyProblem {
  static constexpr std::string_view operation = Copy::operation;
};
/// Moves bits unchanged and fills the rest of the destination; the nest is windowed.
struct PadProblem {
  static constexpr std::string_view operation = Padding::operation;
  double value = 0;  ///< value of destination elements that the source does not cover
};
/// Computes each destination element by an expression of the sources' elements.
struct MapProblem {
  static constexpr std::string_view operation = Map::operation;
  std::string expression;
  ExpressionReads reads = {};  ///< only TileProblem's kernels support t and tile_index
};
/// Computes an expression of neighbouring elements. The nest has the views' dimensions.
struct StencilProblem {
  static constexpr std::string_view operation = Stencil::operation;
  std::string expression;
  ExpressionReads reads = {};
  StencilCalls calls = {};
  std::array<std::uint32_t, max_stencil_dims> dim{};  ///< the views' dimension for each offset of a call
  Boundary boundary = Boundary::zero;
  double value = 0;
};
/// Reduces the dimensions whose destination stride is 0.
struct ReduceProblem {
  static constexpr std::string_view operation = Reduction::operation;
  ReductionOp op = ReductionOp::sum;
  std::string expression;     ///< expression that is reduced
  std::string epilogue = {};  ///< expression of each result; empty: none
};
/// Scans the nest's last dimension, which the nest walks in the scan's direction.
struct ScanProblem {
  static constexpr std::string_view operation = Scan::operation;
  ScanOp op = ScanOp::sum;
  bool exclusive = false;
  std::string expression;  ///< expression that is scanned
};
/// Computes steps over rows. The nest's last `row_dims` dimensions are a row's; CanonicalNest::place gives an
/// element's index in its row.
struct RowwiseProblem {
  static constexpr std::string_view operation = Rowwise::operation;
  std::string expression;  ///< the steps as text
  std::shared_ptr<const std::vector<RowStep>> steps = {};
  std::vector<std::uint32_t> results = {};  ///< for each destination k: it is y_results[k]
  std::uint32_t row_dims = 0;
  std::uint64_t length = 1;  ///< elements of a row
};
/// Scales and converts a matrix. All operands have its dimensions, which are not merged. The scale, source 1
/// if there is one, and the greatest magnitude have stride 0 in all dimensions.
struct CastTransposeProblem {
  static constexpr std::string_view operation = CastTranspose::operation;
  bool amax = false;  ///< the last destination is the greatest magnitude
};
/// Takes the first `count` elements of each row, in order. The nest has the dimensions that count rows.
/// Operands are values, x and, if there are two destinations, the index.
struct TopKProblem {
  static constexpr std::string_view operation = TopK::operation;
  bool largest = true;
  std::uint64_t count = 1;
  std::uint64_t length = 1;              ///< elements of a row
  std::array<std::int64_t, 3> stride{};  ///< of each operand along the row, in elements
};
/// The direction in which index tensors move elements.
enum class IndexedUse : std::uint8_t { gather, scatter, scatter_add, gather_sum };
/// Moves elements between a tensor, which has the nest's shape, and an operand whose elements index tensors
/// select. Operand 2 + k is index tensor k. The selected operand has stride 0 in dimensions that come from an
/// index; the element at the nest's offset plus the sum of index · stride is meant. The operand after the
/// index tensor of a gather_sum has the weights. The last operand of a ragged one has the offset of each bag.
struct IndexedProblem {
  std::string_view operation;
  IndexedUse use = IndexedUse::gather;
  OutOfRange out_of_range = OutOfRange::skip;
  double value = 0;  ///< what a gather stores for an index out of range
  /// The expression of each element that a gather stores; empty if it moves bits. Operands after the index
  /// tensors are its numbers.
  std::string expression = {};
  bool ordered = false;  ///< additions to an element have a fixed order
  struct Axis {
    std::uint64_t extent = 0;
    std::int64_t stride = 0;  ///< of the selected operand, in elements
  };
  /// The axis of each index tensor, or the `flat` axes whose elements one index tensor numbers together, in
  /// row-major order.
  std::array<Axis, max_view_rank> axis{};
  std::uint32_t indices = 1;  ///< index tensors
  std::uint32_t flat = 0;     ///< 0, or at least 2: the number of axes that the one index tensor indexes
  /// The terms that a gather_sum adds for each element, or the indices of all bags if these are ragged.
  /// Strides are those of operands 2, 3 and the last one, in elements.
  struct Terms {
    std::uint64_t count = 1;
    std::int64_t index_stride = 0;
    std::int64_t weight_stride = 0;
    std::int64_t offset_stride = 0;
    bool ragged = false;
    std::uint64_t bags = 0;  ///< if they are ragged
  };
  Terms terms = {};

  [[nodiscard]] std::uint32_t axes() const noexcept { return flat != 0 ? flat : indices; }
  /// The number of elements that the first index tensor indexes.
  [[nodiscard]] std::uint64_t first_extent() const noexcept {
    std::uint64_t extent = axis[0].extent;
    for (std::uint32_t k = 1; k < flat; ++k) extent *= axis[k].extent;
    return extent;
  }
  [[nodiscard]] bool gathers() const noexcept {
    return use == IndexedUse::gather || use == IndexedUse::gather_sum;
  }
  /// The operand whose elements indices select.
  [[nodiscard]] std::uint32_t selected() const noexcept { return gathers() ? 1 : 0; }
  /// The operand that has the nest's shape.
  [[nodiscard]] std::uint32_t moved() const noexcept { return gathers() ? 0 : 1; }
};
/// Sorts the rows of tokens by expert. The nest has the dimensions of a row. Operands are rows, x, experts,
/// positions, counts and offsets; the last four have strides of 0 in the nest. Strides are in elements.
struct MoePermuteProblem {
  static constexpr std::string_view operation = MoePermute::operation;
  std::uint64_t tokens = 0;
  std::uint64_t slots = 0;         ///< experts of a token
  std::uint64_t experts = 0;       ///< all experts
  std::uint64_t capacity = 0;      ///< rows of the destination
  std::uint64_t row_elements = 0;  ///< 0 if no row is moved; the nest is then one element
  std::uint32_t alignment = 1;
  std::int64_t row_stride = 0;
  std::int64_t token_stride = 0;
  /// The strides of a tensor with an element for each (token, slot).
  struct Pairs {
    std::int64_t token = 0;
    std::int64_t slot = 0;
  };
  Pairs ids = {};
  Pairs positions = {};
  std::int64_t count_stride = 0;
  std::int64_t offset_stride = 0;

  [[nodiscard]] std::uint64_t pairs() const noexcept { return tokens * slots; }
};
/// Combines the destination's elements with the source's, in place.
struct CombineProblem {
  static constexpr std::string_view operation = ReduceInto::operation;
  CombineOp op = CombineOp::add;
};
/// Moves the pixels of windows. The nest is window_nest(); addresses are those of the elements with all
/// indices 0.
struct Im2colProblem {
  static constexpr std::string_view operation = Im2col::operation;
  WindowProblem windows;
};
/// Multiplies the pixels of windows by a filter and adds them up. Nest and addresses are as in Im2colProblem.
struct ConvolutionProblem {
  static constexpr std::string_view operation = Convolution::operation;
  WindowProblem windows;
};
/// A kernel whose tile the caller chose. Views and nest are not canonicalised.
struct TileProblem {
  static constexpr std::string_view operation = Tiles::operation;
  std::vector<TensorView> views;  ///< the destination, then the sources
  Tiles tiles;
};
using ProblemBody =
    std::variant<CopyProblem, PadProblem, MapProblem, StencilProblem, ReduceProblem, ScanProblem,
                 RowwiseProblem, CastTransposeProblem, TopKProblem, IndexedProblem, MoePermuteProblem,
                 CombineProblem, Im2colProblem, ConvolutionProblem, TileProblem>;

/// A move in the form that families see: accesses, element types, addresses, operation. Operand 0 is the
/// destination, the sources follow, then further destinations of RowwiseProblem, CastTransposeProblem,
/// TopKProblem and MoePermuteProblem.
struct Problem {
  CanonicalNest nest = {};
  std::array<ElementType, max_operands> type{};
  std::array<DevicePtr, max_operands> address{};  ///< address of the nest's first element
  std::array<DevicePtr, max_operands> low{};      ///< an operand's elements are in the bytes [low, high)
  std::array<DevicePtr, max_operands> high{};
  /// Sources whose byte range overlaps a destination's: elements of both alternate in memory, or are the
  /// same. A kernel must not load bytes next to such a source's elements: other threads may be writing them.
  std::array<bool, max_operands> interleaved{};
  TensorView destination = {};  ///< the move's destination; empty if the caller chose the tile
  ProblemBody body = {};        ///< the operation
  std::uint32_t destinations = 1;
  /// Sources that are numbers of the launch: the last of the sources. `address` holds their bits.
  std::uint32_t numbers = 0;
  std::uint32_t joined = 1;      ///< elements of `type` in one element of the nest (widened())
  std::uint32_t sm_count = 132;  ///< SMs of the chip, which a persistent grid fills

  /// An operand's view: the caller's if the caller chose the tile, else the nest's shape and strides.
  [[nodiscard]] TensorView view(std::uint32_t operand) const;

  [[nodiscard]] std::uint32_t sources() const noexcept { return nest.operands - destinations; }
  [[nodiscard]] bool is_number(std::uint32_t operand) const noexcept {
    return operand <= sources() && operand + numbers > sources();
  }
  /// The operand of destination k.
  [[nodiscard]] std::uint32_t destination_operand(std::uint32_t k) const noexcept {
    return k == 0 ? 0 : sources() + k;
  }
  [[nodiscard]] std::uint32_t element_bytes(std::uint32_t operand) const noexcept {
    return size_of(type[operand]) * joined;
  }
  /// Bytes from one index of a dimension to the next.
  [[nodiscard]] std::int64_t step(std::uint32_t operand, std::uint32_t d) const noexcept {
    return nest.operand[operand].strides[d] * static_cast<std::int64_t>(element_bytes(operand));
  }
  /// The operation's name: one of those in FamilyInfo::operations.
  [[nodiscard]] std::string_view operation() const noexcept {
    return std::visit([](const auto& one) { return one.operation; }, body);
  }
  template <class Body>
  [[nodiscard]] bool is() const noexcept {
    return std::holds_alternative<Body>(body);
  }
  /// The body; it must be a `Body`.
  template <class Body>
  [[nodiscard]] const Body& as() const {
    return std::get<Body>(body);
  }
  /// The expression of the sources' elements; empty if bits are moved or combined.
  [[nodiscard]] std::string_view expression() const noexcept;
  /// The expression of a reduction's results; empty: none.
  [[nodiscard]] std::string_view epilogue() const noexcept;
  [[nodiscard]] ExpressionReads reads() const noexcept;
  /// The value that a padded move writes outside its source; 0 for any other move.
  [[nodiscard]] double padding() const noexcept;
  /// The windows of im2col or convolution; null for any other operation.
  [[nodiscard]] const WindowProblem* windows() const noexcept;
  /// Whether each destination element is an unchanged source element.
  [[nodiscard]] bool reads_bits() const noexcept { return expression().empty() && !nest.windowed; }
  /// The alignment in bytes, at most 16, of the first elements of all rows of an operand along dimension
  /// `row`. With `row` = the nest's rank: of all elements.
  [[nodiscard]] std::uint32_t alignment(std::uint32_t operand, std::uint32_t row) const noexcept;
  /// Bytes of all sources' elements that are read, each once.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;
  /// Bytes of one source's elements that are read, each once.
  [[nodiscard]] std::uint64_t bytes_read(std::uint32_t operand) const noexcept;
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
};

// Operations build their problems with these functions.

/// A move's destination, then its sources.
[[nodiscard]] std::vector<Tensor> operands_of(const Move& move);
/// Sets nest, types and addresses of the first elements from the operands, which are in Problem's order.
void set_operands(Problem& problem, std::span<const Tensor> operands, const NestOptions& options = {});
/// The same for a move, and sets Problem::destination.
void set_operands(Problem& problem, const Move& move, const NestOptions& options = {});
/// Sets the byte range of each operand, and which sources interleave with a destination.
void set_reach(Problem& problem, std::span<const Tensor> operands);
void set_reach(Problem& problem, const Move& move);
/// The problem of a move whose sources have the destination's shape.
[[nodiscard]] Problem elementwise_problem(const Move& move, ProblemBody body,
                                          const NestOptions& options = {});
/// The problem of an im2col or a convolution.
[[nodiscard]] Problem window_problem(const Move& move, ProblemBody body);
/// The same copy in wider elements, if it then becomes a transpose: a last dimension of 2, 4, 8 or 16 bytes
/// becomes one element if it is contiguous in both views. Any other copy is returned unchanged.
[[nodiscard]] Problem widened(Problem problem);

/// How the memory orders of source and destination relate. Families support a problem by its layout.
enum class Layout : std::uint8_t {
  rows,    ///< bits, contiguous in the last dimension of both views, aligned to 16 bytes
  blocks,  ///< bits, contiguous in different dimensions, both long enough for square blocks
  any,     ///< everything else
};
[[nodiscard]] Layout layout_of(const Problem& problem) noexcept;
/// The dimension in which an operand is contiguous; the nest's rank if there is none.
[[nodiscard]] std::uint32_t contiguous_dimension(const Problem& problem, std::uint32_t operand) noexcept;
/// Whether square blocks with sides of `bytes` are more than half full in `column` and in the last dimension.
[[nodiscard]] bool fills_blocks(const Problem& problem, std::uint32_t column, std::uint32_t bytes) noexcept;
/// Whether a dimension is so short that blocks and chunks along it would be mostly empty.
[[nodiscard]] bool is_short(const Problem& problem, std::uint32_t d) noexcept;
/// Whether a source repeats one element along the last dimension (stride 0).
[[nodiscard]] bool repeats_row(const Problem& problem) noexcept;
/// Whether the destination's rows are short and not aligned to 16 bytes, so that they hold few whole vectors.
[[nodiscard]] bool has_short_unaligned_rows(const Problem& problem) noexcept;

[[nodiscard]] ExpressionReads reads_of(std::string_view expression) noexcept;
/// Whether an expression contains the identifier `word`.
[[nodiscard]] bool reads(std::string_view expression, std::string_view word) noexcept;

TMAJIT_END
