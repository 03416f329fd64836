#pragma once

#include <tmajit/arguments.hpp>
#include <tmajit/list.hpp>
#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// An operation as data: what it takes and what it is called. Each is described in its folder of
/// src/operations.
struct OperationInfo {
  std::string_view name;     ///< "reduce"
  std::string_view summary;  ///< one sentence
  std::span<const Argument> arguments = {};
  std::uint32_t least_sources = 1;
  std::uint32_t most_sources = 1;
  bool reads_destination = false;  ///< the destination holds elements before
  bool moves_bits = false;         ///< elements are copied as they are, of types of one size
  /// Tensor maps describe its tensors as they are: their rows lie multiples of 16 bytes apart.
  bool needs_mapped_rows = false;
  bool is_view = false;   ///< a copy of a view of its source
  bool is_batch = false;  ///< copies each source to a destination of its own, in one launch

  /// Null if there is none.
  [[nodiscard]] TMAJIT_API const Argument* find_argument(std::string_view name) const noexcept;
};

/// Every operation, in the order of the documentation.
[[nodiscard]] TMAJIT_API std::span<const OperationInfo> operations() noexcept;
/// The operation of that name. Throws Error{invalid_argument} that suggests one.
[[nodiscard]] TMAJIT_API const OperationInfo& find_operation(std::string_view name);

/// The destinations that an operation makes of sources, dense and row-major, of the types that follow from
/// the sources'. Throws Error{invalid_argument} where sources and arguments do not go together.
[[nodiscard]] TMAJIT_API std::vector<TensorView> destinations_of(std::string_view operation,
                                                                 std::span<const TensorView> sources,
                                                                 const Arguments& arguments);
/// The operation by name: what the function of that name in `operation::` makes. Throws
/// Error{invalid_argument} for a number of tensors or an argument that it does not take, and what that
/// function throws.
[[nodiscard]] TMAJIT_API Operation make_operation(std::string_view operation, List<Tensor> destinations,
                                                  List<Tensor> sources, const Arguments& arguments);

TMAJIT_END
