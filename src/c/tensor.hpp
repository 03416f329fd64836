#pragma once

#include "c/structs.hpp"

#include <tmajit/arguments.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace c {

/// Throws Error{invalid_argument} for an unknown type.
[[nodiscard]] ElementType to_element_type(tmajit_dtype dtype, std::string_view subject);

/// Converts a caller's tensor. Throws Error{invalid_argument} for null and for members that are illegal.
[[nodiscard]] Tensor to_tensor(const tmajit_tensor* c_tensor, std::string_view subject);
/// Converts a caller's array of tensors. Error messages give the index of the tensor.
[[nodiscard]] std::vector<Tensor> to_tensors(const tmajit_tensor* first, std::size_t count,
                                             std::string_view subject);
/// Fills a caller's tensor, with strides even if it is dense.
void fill(tmajit_tensor* c_tensor, std::string_view subject, const Tensor& tensor);

/// Convert the values of arguments; nullopt is a value that is not given. Each function throws
/// Error{invalid_argument} for illegal members.
[[nodiscard]] Dims to_dims(const tmajit_dims& c_dims, std::string_view subject);
[[nodiscard]] std::optional<double> to_number(const tmajit_number& c_number, std::string_view subject);
[[nodiscard]] std::optional<std::int64_t> to_integer(const tmajit_integer& c_integer,
                                                     std::string_view subject);
[[nodiscard]] std::vector<Slice> to_slices(const tmajit_ranges& c_ranges, std::string_view subject);
[[nodiscard]] PadWidths to_widths(const tmajit_widths& c_widths, std::string_view subject);

}  // namespace c
TMAJIT_END
