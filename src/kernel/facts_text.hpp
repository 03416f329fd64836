#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Facts are the values that a kernel is specialised for. These functions write them into its source, as
// declarations of one line each, in CUDA C++.

/// A number for each dimension; entries beyond the rank are unused.
using PerDimension = std::array<std::uint32_t, max_view_rank>;

/// The dimensions in ascending order, outermost first: {0, 1, 2, …}.
[[nodiscard]] PerDimension in_order() noexcept;

/// "constexpr u32 stages = 4;  // comment".
[[nodiscard]] std::string number_fact(std::string_view name, std::uint64_t value,
                                      std::string_view comment = {});
/// "constexpr i32 step = -4;".
[[nodiscard]] std::string signed_fact(std::string_view name, std::int64_t value,
                                      std::string_view comment = {});
/// "constexpr bool aligned = true;".
[[nodiscard]] std::string flag_fact(std::string_view name, bool value, std::string_view comment = {});
/// "using Ends = struct EndsAlone;": selects the template's struct `policy` for the role `name`. The source
/// omits policies that nothing names.
[[nodiscard]] std::string policy_fact(std::string_view name, std::string_view policy,
                                      std::string_view comment = {}, std::string_view prefix = {});
/// "__device__ constexpr Extent<2> box() { return {{64, 64}}; }": a number for each dimension.
[[nodiscard]] std::string extent_fact(std::string_view name, std::span<const std::uint32_t> values,
                                      std::string_view comment = {}, std::string_view prefix = {});

/// The device type that holds an element: "f32", "bf16". The forms of f32 that differ only in the tensor map
/// are plain f32.
[[nodiscard]] std::string_view device_type(ElementType type) noexcept;
/// The type in which kernels compute on such elements: "float", "double", "u8".
[[nodiscard]] std::string_view value_type(ElementType type) noexcept;
/// The unsigned type of the element's size, for elements that are only moved: "u32".
[[nodiscard]] std::string bits_type(ElementType type);
/// The unsigned integer of 1, 2, 4 or 8 bytes.
[[nodiscard]] ElementType unsigned_of(std::uint32_t bytes) noexcept;

/// A digit of a linear index (mixed radix): it has `count` values, and contributes `scale` times its value to
/// the index of dimension `d`.
struct Digit {
  std::uint32_t d = 0;
  std::uint32_t count = 1;
  std::uint32_t scale = 1;
};
/// The digits of a linear index over dimensions of `counts` indices, the fastest first. The last dimension of
/// `order` varies fastest.
[[nodiscard]] std::vector<Digit> digits_of(const PerDimension& order, const PerDimension& counts,
                                           std::uint32_t rank);
/// The source of a device function that splits a linear index into an index of each dimension, without a
/// loop: "__device__ __forceinline__ void name(u32 n, u32 (&index)[rank]) { … }". The fastest digit comes
/// first.
[[nodiscard]] std::string index_function(std::string_view name, std::span<const Digit> digits,
                                         std::uint32_t rank, std::string_view prefix = {});
/// The statements that split `n` into `digits`. `use(digit, value)` returns the statement for a digit whose
/// value is the expression `value`. Digits that have only one value get no statement.
[[nodiscard]] std::string split_index(std::span<const Digit> digits,
                                      const std::function<std::string(const Digit&, std::string_view)>& use,
                                      std::string_view indent = "  ");

TMAJIT_END
