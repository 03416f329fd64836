#include "ptx/types.hpp"

#include <algorithm>
#include <array>

TMAJIT_BEGIN
namespace ptx {
namespace {

struct TypeRow {
  ScalarType type;
  std::string_view name;
  std::uint32_t bits;
};

// In the order of the enumeration, so that a type is its own index.
constexpr std::array type_rows{
    TypeRow{ScalarType::b8, "b8", 8},          TypeRow{ScalarType::b16, "b16", 16},
    TypeRow{ScalarType::b32, "b32", 32},       TypeRow{ScalarType::b64, "b64", 64},
    TypeRow{ScalarType::b128, "b128", 128},    TypeRow{ScalarType::u8, "u8", 8},
    TypeRow{ScalarType::u16, "u16", 16},       TypeRow{ScalarType::u32, "u32", 32},
    TypeRow{ScalarType::u64, "u64", 64},       TypeRow{ScalarType::s8, "s8", 8},
    TypeRow{ScalarType::s16, "s16", 16},       TypeRow{ScalarType::s32, "s32", 32},
    TypeRow{ScalarType::s64, "s64", 64},       TypeRow{ScalarType::f16, "f16", 16},
    TypeRow{ScalarType::f16x2, "f16x2", 32},   TypeRow{ScalarType::bf16, "bf16", 16},
    TypeRow{ScalarType::bf16x2, "bf16x2", 32}, TypeRow{ScalarType::tf32, "tf32", 32},
    TypeRow{ScalarType::f32, "f32", 32},       TypeRow{ScalarType::f32x2, "f32x2", 64},
    TypeRow{ScalarType::f64, "f64", 64},       TypeRow{ScalarType::u16x2, "u16x2", 32},
    TypeRow{ScalarType::s16x2, "s16x2", 32},   TypeRow{ScalarType::u8x4, "u8x4", 32},
    TypeRow{ScalarType::s8x4, "s8x4", 32},     TypeRow{ScalarType::e4m3, "e4m3", 8},
    TypeRow{ScalarType::e5m2, "e5m2", 8},      TypeRow{ScalarType::e4m3x2, "e4m3x2", 16},
    TypeRow{ScalarType::e5m2x2, "e5m2x2", 16}, TypeRow{ScalarType::b1, "b1", 1},
    TypeRow{ScalarType::u4, "u4", 4},          TypeRow{ScalarType::s4, "s4", 4},
    TypeRow{ScalarType::pred, "pred", 1},
};

struct SpaceRow {
  StateSpace space;
  std::string_view name;
};

constexpr std::array space_rows{
    SpaceRow{StateSpace::reg, "reg"},
    SpaceRow{StateSpace::sreg, "sreg"},
    SpaceRow{StateSpace::constant, "const"},
    SpaceRow{StateSpace::global, "global"},
    SpaceRow{StateSpace::local, "local"},
    SpaceRow{StateSpace::param, "param"},
    SpaceRow{StateSpace::param_entry, "param::entry"},
    SpaceRow{StateSpace::param_func, "param::func"},
    SpaceRow{StateSpace::shared, "shared"},
    SpaceRow{StateSpace::shared_cta, "shared::cta"},
    SpaceRow{StateSpace::shared_cluster, "shared::cluster"},
    SpaceRow{StateSpace::tex, "tex"},
};

constexpr bool in_enumeration_order() {
  for (std::size_t i = 0; i < type_rows.size(); ++i) {
    if (static_cast<std::size_t>(type_rows[i].type) != i) return false;
  }
  for (std::size_t i = 0; i < space_rows.size(); ++i) {
    if (static_cast<std::size_t>(space_rows[i].space) != i) return false;
  }
  return true;
}
static_assert(in_enumeration_order());

}  // namespace

std::string_view name(ScalarType type) noexcept {
  return type_rows[static_cast<std::size_t>(type)].name;
}
std::string_view name(StateSpace space) noexcept {
  return space_rows[static_cast<std::size_t>(space)].name;
}
std::uint32_t bits_of(ScalarType type) noexcept {
  return type_rows[static_cast<std::size_t>(type)].bits;
}

std::optional<ScalarType> parse_scalar_type(std::string_view text) noexcept {
  const auto* row = std::find_if(type_rows.begin(), type_rows.end(),
                                 [&](const TypeRow& candidate) { return candidate.name == text; });
  if (row == type_rows.end()) return std::nullopt;
  return row->type;
}

std::optional<StateSpace> parse_state_space(std::string_view text) noexcept {
  const auto* row = std::find_if(space_rows.begin(), space_rows.end(),
                                 [&](const SpaceRow& candidate) { return candidate.name == text; });
  if (row == space_rows.end()) return std::nullopt;
  return row->space;
}

bool is_signed_integer(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::s4:
    case ScalarType::s8:
    case ScalarType::s16:
    case ScalarType::s32:
    case ScalarType::s64:
    case ScalarType::s16x2:
    case ScalarType::s8x4: return true;
    default: return false;
  }
}

bool is_unsigned_integer(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::u4:
    case ScalarType::u8:
    case ScalarType::u16:
    case ScalarType::u32:
    case ScalarType::u64:
    case ScalarType::u16x2:
    case ScalarType::u8x4: return true;
    default: return false;
  }
}

bool is_float(ScalarType type) noexcept {
  return (type >= ScalarType::f16 && type <= ScalarType::f64) ||
         (type >= ScalarType::e4m3 && type <= ScalarType::e5m2x2);
}

}  // namespace ptx
TMAJIT_END
