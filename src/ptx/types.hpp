#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

TMAJIT_BEGIN
namespace ptx {

/// The types an instruction or a declaration can name (PTX ISA 5.2, "Types").
enum class ScalarType : std::uint8_t {
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  b1,
  u4,
  s4,
  pred,
};

/// State spaces, with the sub-spaces that instructions name (PTX ISA 5.1, "State Spaces").
enum class StateSpace : std::uint8_t {
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cta,
  shared_cluster,
  tex,
};

/// "u32", without the dot.
[[nodiscard]] std::string_view name(ScalarType type) noexcept;
/// "shared::cta", without the dot.
[[nodiscard]] std::string_view name(StateSpace space) noexcept;

[[nodiscard]] std::optional<ScalarType> parse_scalar_type(std::string_view name) noexcept;
[[nodiscard]] std::optional<StateSpace> parse_state_space(std::string_view name) noexcept;

/// Bits of one value: 1 for predicates and b1.
[[nodiscard]] std::uint32_t bits_of(ScalarType type) noexcept;

/// Packed types such as s16x2 and f16x2 count as their elements.
[[nodiscard]] bool is_signed_integer(ScalarType type) noexcept;
[[nodiscard]] bool is_float(ScalarType type) noexcept;

}  // namespace ptx
TMAJIT_END
