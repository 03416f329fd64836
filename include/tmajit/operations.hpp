#pragma once

#include <tmajit/arguments.hpp>
#include <tmajit/list.hpp>
#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

class Runtime;

/// The shape of an operand, which follows from that of the operand `rows`.
enum class OperandShape : std::uint8_t {
  rows,            ///< all rows
  row,             ///< one number for each row: the axis is missing, or has an extent of 1
  block,           ///< one number for each block of a row: the axis has its number of blocks
  axis,            ///< one number for each place of a row: the axis alone
  tile,            ///< one number for each square block of the last two dimensions: their numbers of blocks
  tensor,          ///< one number for the whole tensor: no dimensions
  halves,          ///< all rows; the two halves of a row are operands of the steps
  half,            ///< is broadcast to half of the rows' extent along the axis
  rows_or_halves,  ///< halves if the last source is missing, else rows
};

/// Which types a source may have, or the type of a destination by default.
enum class OperandElements : std::uint8_t {
  floating,   ///< floating point; a destination has the type of the rows
  any,        ///< any type; a destination has the type of the rows
  statistic,  ///< floating point; a destination is f64 if the rows are, else f32
  integer,    ///< integers; i64
  quantised,  ///< e4m3, e5m2 or i8; the type that the argument `to` names
};

/// "rows_or_halves", "statistic".
[[nodiscard]] TMAJIT_API std::string_view name(OperandShape shape) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(OperandElements elements) noexcept;

/// A source or a destination of a recipe (docs/rowwise.md).
struct OperandInfo {
  std::string_view name;
  OperandShape shape = OperandShape::rows;
  OperandElements elements = OperandElements::floating;
  bool required = true;
};

/// An operation as data: its name and its arguments. Each operation is described in its folder of
/// src/operations.
struct OperationInfo {
  std::string_view name;     ///< "reduce"
  std::string_view summary;  ///< one sentence
  std::span<const Argument> arguments = {};
  std::uint32_t min_sources = 1;
  std::uint32_t max_sources = 1;
  bool reads_destination = false;  ///< the result depends on the destination's old elements
  /// Elements are copied bit for bit, between types of equal size, unless the operation takes an expression
  /// and one is given.
  bool moves_bits = false;
  /// Tensor maps describe its tensors without any rewriting, so row strides must be multiples of 16 bytes.
  bool needs_mapped_rows = false;
  bool is_view = false;               ///< a copy of a view of its source
  bool is_batch = false;              ///< copies each source to its own destination, all in one launch
  bool several_destinations = false;  ///< its arguments say how many destinations it has
  bool has_indices = false;           ///< all sources but the first are index tensors, of integers
  bool has_weights = false;           ///< as has_indices, but the third source is a tensor of weights
  bool has_offsets = false;           ///< its argument `ragged` says whether the last source holds offsets
  bool takes_numbers = false;         ///< number() may stand in place of its last sources
  /// The names of sources and destinations whose roles differ; empty for other operations.
  std::span<const std::string_view> source_names = {};
  std::span<const std::string_view> result_names = {};
  /// The sources and destinations of a recipe, in order; empty for other operations.
  std::span<const OperandInfo> sources = {};
  std::span<const OperandInfo> destinations = {};

  /// Whether it may have several destinations: those of a batch or of rows, or the parts of its source.
  [[nodiscard]] TMAJIT_API bool has_many_destinations() const noexcept;
  /// Null if there is no such argument.
  [[nodiscard]] TMAJIT_API const Argument* find_argument(std::string_view name) const noexcept;
};

/// Every operation, in the order of the documentation.
[[nodiscard]] TMAJIT_API std::span<const OperationInfo> operations() noexcept;
/// The operation of that name. Throws Error{invalid_argument} that suggests one.
[[nodiscard]] TMAJIT_API const OperationInfo& find_operation(std::string_view name);

/// The destinations that an operation makes from sources: dense, row-major, with types that follow from the
/// sources' types. Throws Error{invalid_argument} if the sources do not fit the arguments.
[[nodiscard]] TMAJIT_API std::vector<TensorView> destinations_of(std::string_view operation,
                                                                 std::span<const TensorView> sources,
                                                                 const Arguments& arguments);
/// Dense sources of a recipe for rows of this shape and type: `count` of them, the first ones. Throws
/// Error{invalid_argument} for an operation that is no recipe, for a number of sources or an argument that it
/// does not take, and if the shape does not fit the arguments.
[[nodiscard]] TMAJIT_API std::vector<TensorView> sources_of(std::string_view operation,
                                                            const TensorView& rows, std::size_t count,
                                                            const Arguments& arguments);
/// Calls the function of that name in namespace `operation`. Throws Error{invalid_argument} for a number of
/// tensors or an argument that the operation does not take, and the errors of the function.
[[nodiscard]] TMAJIT_API Operation make_operation(std::string_view operation, List<Tensor> destinations,
                                                  List<Tensor> sources, const Arguments& arguments);

/// One call by name: plan(runtime, make_operation(…)) and a launch. A later call of the same thread with
/// equal views and arguments finds its plan, as calls of the operations' functions do. Throws what
/// make_operation() and plan() throw; Error{unavailable} without a device.
TMAJIT_API void run_operation(const Runtime& runtime, std::string_view operation, List<Tensor> destinations,
                              List<Tensor> sources, const Arguments& arguments, Stream stream = nullptr);

TMAJIT_END
