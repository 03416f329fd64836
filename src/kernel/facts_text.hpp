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

// How facts are written into a source.

/// A number for each dimension; entries beyond the rank are unused.
using PerDimension = std::array<std::uint32_t, max_view_rank>;

/// The dimensions in their own order, outermost first.
[[nodiscard]] PerDimension in_order() noexcept;

/// "constexpr u32 stages = 4;  // comment".
[[nodiscard]] std::string number_fact(std::string_view name, std::uint64_t value,
                                      std::string_view comment = {});
/// "constexpr i32 step = -4;".
[[nodiscard]] std::string signed_fact(std::string_view name, std::int64_t value,
                                      std::string_view comment = {});
/// "constexpr bool aligned = true;".
[[nodiscard]] std::string flag_fact(std::string_view name, bool value, std::string_view comment = {});
/// "using Ends = struct EndsAlone;": the template's struct `policy` in the role `name`. The policies of the
/// role that nothing names do not come out.
[[nodiscard]] std::string policy_fact(std::string_view name, std::string_view policy,
                                      std::string_view comment = {}, std::string_view prefix = {});
/// "__device__ constexpr Extent<2> box() { return {{64, 64}}; }": a number for each dimension.
[[nodiscard]] std::string extent_fact(std::string_view name, std::span<const std::uint32_t> values,
                                      std::string_view comment = {}, std::string_view prefix = {});

/// The device type that holds an element: "f32", "bf16". The forms of f32 that differ only in the tensor map
/// are plain f32.
[[nodiscard]] std::string_view device_type(ElementType type) noexcept;
/// The type that such an element computes in: "float", "double", "u8".
[[nodiscard]] std::string_view value_type(ElementType type) noexcept;
/// The type of elements that nothing is computed from, by their size alone: "u32".
[[nodiscard]] std::string bits_type(ElementType type);
/// The unsigned integer of 1, 2, 4 or 8 bytes.
[[nodiscard]] ElementType unsigned_of(std::uint32_t bytes) noexcept;

/// One step of taking a number apart: it takes `count` values, and each stands for `scale` indices of
/// dimension `d`.
struct Digit {
  std::uint32_t d = 0;
  std::uint32_t count = 1;
  std::uint32_t scale = 1;
};
/// Digits of a number whose dimensions have `counts` indices, in `order`, the last varying fastest.
[[nodiscard]] std::vector<Digit> digits_of(const PerDimension& order, const PerDimension& counts,
                                           std::uint32_t rank);
/// A function that takes a number apart into an index of each dimension, straight lines without a loop:
/// "__device__ __forceinline__ void name(u32 n, u32 (&index)[rank]) { … }". `digits` begin with the one that
/// varies fastest.
[[nodiscard]] std::string index_function(std::string_view name, std::span<const Digit> digits,
                                         std::uint32_t rank, std::string_view prefix = {});
/// The statements that take `n` apart: `use(digit, value)` gives the one for a digit whose value is the text
/// `value`. Digits of one value are left out.
[[nodiscard]] std::string take_apart(std::span<const Digit> digits,
                                     const std::function<std::string(const Digit&, std::string_view)>& use,
                                     std::string_view indent = "  ");

TMAJIT_END
