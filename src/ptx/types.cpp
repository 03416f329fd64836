#include "ptx/types.hpp"

#include <algorithm>
#include <array>

TMAJIT_BEGIN
namespace ptx {
namespace {

struct TypeRow {
  std::string_view name;
  std::uint32_t bits;
};

// type_rows and space_names have the order of their enumerations: an enumerator is its own index.
constexpr TypeRow type_rows[] = {
    {"b8", 8},      {"b16", 16},   {"b32", 32},    {"b64", 64},  {"b128", 128}, {"u8", 8},     {"u16", 16},
    {"u32", 32},    {"u64", 64},   {"s8", 8},      {"s16", 16},  {"s32", 32},   {"s64", 64},   {"f16", 16},
    {"f16x2", 32},  {"bf16", 16},  {"bf16x2", 32}, {"tf32", 32}, {"f32", 32},   {"f32x2", 64}, {"f64", 64},
    {"u16x2", 32},  {"s16x2", 32}, {"u8x4", 32},   {"s8x4", 32}, {"e4m3", 8},   {"e5m2", 8},   {"e4m3x2", 16},
    {"e5m2x2", 16}, {"b1", 1},     {"u4", 4},      {"s4", 4},    {"pred", 1},
};
/// A name of at most 8 characters as one number, which is quicker to compare; 0 for other names.
constexpr std::uint64_t key_of(std::string_view name) {
  if (name.size() > 8) return 0;
  std::uint64_t key = 0;
  for (const char c : name) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}
constexpr auto type_keys = [] {
  std::array<std::uint64_t, std::size(type_rows)> keys{};
  std::ranges::transform(type_rows, keys.begin(), [](const TypeRow& row) { return key_of(row.name); });
  return keys;
}();

constexpr std::string_view space_names[] = {"reg",    "sreg",        "const",           "global",
                                            "local",  "param",       "param::entry",    "param::func",
                                            "shared", "shared::cta", "shared::cluster", "tex"};

template <class Enumerator>
constexpr std::size_t index(Enumerator enumerator) {
  return static_cast<std::size_t>(enumerator);
}
static_assert(type_rows[index(ScalarType::s64)].name == "s64" &&
              type_rows[index(ScalarType::f64)].name == "f64");
static_assert(type_rows[index(ScalarType::s8x4)].name == "s8x4" &&
              type_rows[index(ScalarType::e5m2x2)].bits == 16);
static_assert(std::size(type_rows) == index(ScalarType::pred) + 1 &&
              type_rows[index(ScalarType::pred)].name == "pred");
static_assert(std::size(space_names) == index(StateSpace::tex) + 1);

}  // namespace

std::string_view name(ScalarType type) noexcept {
  return type_rows[index(type)].name;
}
std::string_view name(StateSpace space) noexcept {
  return space_names[index(space)];
}
std::uint32_t bits_of(ScalarType type) noexcept {
  return type_rows[index(type)].bits;
}

std::optional<ScalarType> parse_scalar_type(std::string_view text) noexcept {
  const std::uint64_t key = key_of(text);
  const auto* found = std::ranges::find(type_keys, key);
  if (key == 0 || found == std::end(type_keys)) return std::nullopt;
  return static_cast<ScalarType>(found - std::begin(type_keys));
}

std::optional<StateSpace> parse_state_space(std::string_view text) noexcept {
  const auto* name = std::ranges::find(space_names, text);
  if (name == std::end(space_names)) return std::nullopt;
  return static_cast<StateSpace>(name - space_names);
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

bool is_float(ScalarType type) noexcept {
  return (type >= ScalarType::f16 && type <= ScalarType::f64) ||
         (type >= ScalarType::e4m3 && type <= ScalarType::e5m2x2);
}

}  // namespace ptx
TMAJIT_END
