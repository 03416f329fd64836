#pragma once

#include "kernel/stencil_calls.hpp"
#include "kernel/window_problem.hpp"
#include "spec/canonical.hpp"

#include <tmajit/operation.hpp>
#include <tmajit/tile_options.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// The names that an expression reads beside its sources' values.
struct ExpressionReads {
  bool g = false;           ///< the element's coordinates
  bool t = false;           ///< coordinates in its tile
  bool tile_index = false;  ///< number in its tile
};

/// Bits are moved as they are.
struct CopyProblem {
  static constexpr std::string_view operation = Copy::operation;
};
/// Bits are moved as they are; the nest is windowed.
struct PadProblem {
  static constexpr std::string_view operation = Padding::operation;
  double value = 0;  ///< value of destination elements that the source does not cover
};
/// An expression of each element's sources.
struct MapProblem {
  static constexpr std::string_view operation = Map::operation;
  std::string expression;
  ExpressionReads reads = {};  ///< t and tile_index are known to kernels of tiles alone
};
/// An expression of neighbours. The nest keeps the dimensions of the views.
struct StencilProblem {
  static constexpr std::string_view operation = Stencil::operation;
  std::string expression;
  ExpressionReads reads = {};
  StencilCalls calls = {};
  std::array<std::uint32_t, max_stencil_dims> dim{};  ///< dimension of the views for each offset of a call
  Boundary boundary = Boundary::zero;
  double value = 0;
};
/// A reduction of the dimensions whose destination stride is 0.
struct ReduceProblem {
  static constexpr std::string_view operation = Reduction::operation;
  ReductionOp op = ReductionOp::sum;
  std::string expression;     ///< expression that is reduced
  std::string epilogue = {};  ///< expression of each result; empty: none
};
/// A scan of the nest's last dimension, which is walked in the scan's direction.
struct ScanProblem {
  static constexpr std::string_view operation = Scan::operation;
  ScanOp op = ScanOp::sum;
  bool exclusive = false;
  std::string expression;  ///< expression that is scanned
};
/// The destination's elements are combined with the source's.
struct CombineProblem {
  static constexpr std::string_view operation = ReduceInto::operation;
  CombineOp op = CombineOp::add;
};
/// The nest is window_nest(), and addresses are the views': of the elements with all indices 0.
struct Im2colProblem {
  static constexpr std::string_view operation = Im2col::operation;
  WindowProblem windows;
};
/// As Im2colProblem, with a filter.
struct ConvolutionProblem {
  static constexpr std::string_view operation = Convolution::operation;
  WindowProblem windows;
};
/// A tile of the caller's choice on tensors as they are, which the nest keeps, too.
struct TileProblem {
  static constexpr std::string_view operation = Tiles::operation;
  std::vector<TensorView> views;  ///< the destination, then the sources
  Tiles tiles;
};
using ProblemBody = std::variant<CopyProblem, PadProblem, MapProblem, StencilProblem, ReduceProblem,
                                 ScanProblem, CombineProblem, Im2colProblem, ConvolutionProblem, TileProblem>;

/// A move as families see it: what is accessed, of which types, how it is aligned. Operand 0 is the
/// destination.
struct Problem {
  CanonicalNest nest = {};
  std::array<ElementType, max_operands> type{};
  std::array<DevicePtr, max_operands> address{};  ///< address of the nest's first element
  std::array<DevicePtr, max_operands> low{};      ///< an operand's elements lie in the bytes [low, high)
  std::array<DevicePtr, max_operands> high{};
  /// Sources that reach into the bytes from the destination's first element to its last: some of its elements
  /// lie between their own, or are their own. While a kernel loads what lies beside an element of theirs,
  /// other threads may write it.
  std::array<bool, max_operands> interleaved{};
  TensorView destination = {};   ///< as the move has it; empty for a tile of the caller's choice
  ProblemBody body = {};         ///< the operation
  std::uint32_t joined = 1;      ///< elements of `type` that are one of the nest's (widened())
  std::uint32_t sm_count = 132;  ///< SMs of the chip, which a persistent grid fills

  /// An operand as a view: as it is where the caller chose the tile, else as the nest walks it.
  [[nodiscard]] TensorView view(std::uint32_t operand) const;

  [[nodiscard]] std::uint32_t sources() const noexcept { return nest.operands - 1; }
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
  /// The body of a problem of that operation.
  template <class Body>
  [[nodiscard]] const Body& as() const {
    return std::get<Body>(body);
  }
  /// The expression of the sources' elements; empty where bits are moved or combined.
  [[nodiscard]] std::string_view expression() const noexcept;
  /// The expression of a reduction's results; empty: none.
  [[nodiscard]] std::string_view epilogue() const noexcept;
  [[nodiscard]] ExpressionReads reads() const noexcept;
  /// The value around the source of a padded move; 0 for any other.
  [[nodiscard]] double padding() const noexcept;
  /// The windows of im2col or convolution; null for any other operation.
  [[nodiscard]] const WindowProblem* windows() const noexcept;
  /// Whether bits are moved as they are, all of them from sources.
  [[nodiscard]] bool reads_bits() const noexcept { return expression().empty() && !nest.windowed; }
  /// The largest power of two, at most 16, that every address of an operand is a multiple of where dimension
  /// `along` (or none) has the index 0.
  [[nodiscard]] std::uint32_t alignment(std::uint32_t operand, std::uint32_t along) const noexcept;
  /// Bytes that are read and written, each element once.
  [[nodiscard]] std::uint64_t bytes_read() const noexcept;
  /// Bytes that are read of one source.
  [[nodiscard]] std::uint64_t bytes_read(std::uint32_t operand) const noexcept;
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
};

// The parts of which operations make their problems.

/// The nest of a move's views, its types and the addresses of its first elements.
void set_operands(Problem& problem, const Move& move, const NestOptions& options = {});
/// The bytes that each tensor of a move reaches, and which sources interleave with the destination.
void set_reach(Problem& problem, const Move& move);
/// The problem of a move whose sources have the destination's shape.
[[nodiscard]] Problem elementwise_problem(const Move& move, ProblemBody body,
                                          const NestOptions& options = {});
/// The problem of windows of a filter on images.
[[nodiscard]] Problem window_problem(const Move& move, ProblemBody body);
/// The same copy in wider elements, if that makes a transpose: a last dimension of 2, 4, 8 or 16 bytes that
/// is contiguous in both views is then one element. Any other copy is returned as it is.
[[nodiscard]] Problem widened(Problem problem);

/// How the elements of a problem's operands lie to each other: what decides which families take it.
enum class Layout : std::uint8_t {
  rows,    ///< bits, contiguous in the last dimension of both views, aligned to 16 bytes
  blocks,  ///< bits, contiguous in different dimensions, both long enough for square blocks
  any,     ///< everything else
};
[[nodiscard]] Layout layout_of(const Problem& problem) noexcept;
/// The dimension in which an operand is contiguous; the nest's rank if there is none.
[[nodiscard]] std::uint32_t contiguous_dimension(const Problem& problem, std::uint32_t operand) noexcept;
/// Whether blocks of `bytes` a side are at least half full in `column` and in the last dimension.
[[nodiscard]] bool fills_blocks(const Problem& problem, std::uint32_t column, std::uint32_t bytes) noexcept;
/// Whether a dimension is so short that blocks and chunks along it hold little.
[[nodiscard]] bool is_short(const Problem& problem, std::uint32_t d) noexcept;
/// Whether the elements of some source's rows are all the same one.
[[nodiscard]] bool repeats_row(const Problem& problem) noexcept;
/// Whether the destination's rows are short and begin anywhere: few vectors of 16 bytes in them are whole.
[[nodiscard]] bool has_short_unaligned_rows(const Problem& problem) noexcept;

[[nodiscard]] ExpressionReads reads_of(std::string_view expression) noexcept;
/// Whether an expression names `word`: as a word of its own, not as part of another.
[[nodiscard]] bool reads(std::string_view expression, std::string_view word) noexcept;

TMAJIT_END
