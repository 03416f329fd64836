#pragma once

#include "fusion/index_map.hpp"
#include "fusion/rules.hpp"

#include <tmajit/tile_options.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// The moves of one kernel as steps over rows.
struct RowProgram {
  struct Result {
    Tensor destination;
    std::uint32_t number = 0;  ///< the steps assign it to y_number
    bool by_row = false;       ///< it has one value for each row, not for each element
  };
  TensorView whole = {};                     ///< its shape is that of all sources
  std::array<bool, max_view_rank> in_row{};  ///< the dimensions of `whole` that a row consists of
  std::vector<Tensor> sources;
  std::string steps;
  std::vector<Result> results;
  bool is_map = false;  ///< a map, whose elements may be cut into any rows: `in_row` does not count
};

/// A program, or the reason why a kernel's moves have none.
struct FoundProgram {
  std::optional<RowProgram> program;
  std::string obstacle;
};
/// The program of a kernel that computes a map, a reduction or rows.
[[nodiscard]] FoundProgram row_program(std::span<const Move> moves);

/// Maps the elements of a consumer to the rows of its producer.
class RowOrder {
 public:
  /// The order of the elements of a consumer of shape `elements`, which reads `result` as `read`. A result
  /// with one value for each row is broadcast along the rows; if `by_row` is set, the consumer has one value
  /// for each row, too. Nothing if no strides describe the order, or if the result is broadcast along other
  /// dimensions.
  static std::optional<RowOrder> find(const RowProgram& rows, const RowProgram::Result& result,
                                      const Tensor& read, const TensorView& elements, bool by_row);

  /// A consumer's tensor in that order; nothing unless the consumer has each element of the rows once.
  [[nodiscard]] std::optional<Tensor> pushed(const Tensor& tensor) const;
  /// A consumer's result with one value for each row in that order, with extents of 1 along the rows.
  [[nodiscard]] std::optional<Tensor> pushed_row(const RowProgram& consumer, const Tensor& tensor) const;
  /// Whether the consumer's source has the elements of a result of the producer.
  [[nodiscard]] bool is_result(const Tensor& source, const RowProgram::Result& result) const;
  /// Whether the rows of both consist of the same elements.
  [[nodiscard]] bool has_rows_of(const RowProgram& consumer) const;
  /// Whether each element has the same index i in the rows of the producer and of the consumer.
  [[nodiscard]] bool keeps_index(const RowProgram& consumer) const;

 private:
  RowOrder(const RowProgram& rows, const IndexMap& map) : rows_(&rows), map_(map) {}
  /// The dimension of the rows along which dimension k of the consumer steps.
  [[nodiscard]] std::optional<std::uint32_t> dimension_of(std::uint32_t k) const;

  const RowProgram* rows_;
  IndexMap map_;
};

/// A result with one value for each row as a tensor with extents of 1 along the rows.
[[nodiscard]] Tensor one_per_row(const RowProgram& rows, const Tensor& destination);
/// The tensor with strides of 0 in dimensions of one element, so that equal elements make equal tensors.
[[nodiscard]] Tensor without_idle_strides(Tensor tensor);

TMAJIT_END
