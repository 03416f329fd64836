#include "spec/limits.hpp"
#include "spec/map_rules.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

template <typename Enum>
void check_known(Enum value, Enum last, std::string_view field, std::string_view legal,
                 std::string_view parameter, Violations& violations) {
  if (value <= last) return;
  violations.add({.rule = fmt::format("{}.known", field),
                  .subject = std::string(field),
                  .found = fmt::format("{}", static_cast<unsigned>(value)),
                  .need = "one of the enumerators",
                  .legal = std::string(legal),
                  .source = fmt::format("cuTensorMapEncodeTiled, {}", parameter)});
}

void check_enumerators(const TensorMapSpec& map, Violations& violations) {
  check_known(map.type, all_element_types.back(), "type", "an ElementType: u8 … e5m2", "tensorDataType",
              violations);
  check_known(map.interleave, Interleave::b32, "interleave", "none, 16B or 32B", "interleave", violations);
  check_known(map.swizzle, Swizzle::b128, "swizzle", "none, 32B, 64B or 128B", "swizzle", violations);
  check_known(map.l2_promotion, L2Promotion::b256, "l2-promotion", "none, 64B, 128B or 256B", "l2Promotion",
              violations);
  check_known(map.oob_fill, OobFill::nan, "oob-fill", "zero or nan", "oobFill", violations);
}

void check_combinations(const TensorMapSpec& map, Violations& violations) {
  if (map.interleave != Interleave::none && (map.rank == 1 || map.rank == 2)) {
    violations.add({.rule = "rank.interleave",
                    .subject = "rank",
                    .found = fmt::format("{} with interleave {}", map.rank, name(map.interleave)),
                    .need = "at least 3 with an interleaved layout",
                    .legal = "rank 3 with outer dimensions of extent 1, or interleave none",
                    .source = "cuTensorMapEncodeTiled, tensorRank"});
  }
  if (map.oob_fill == OobFill::nan && is_known(map.type) && !can_fill_nan(map.type)) {
    violations.add({.rule = "oob-fill.type",
                    .subject = "oob-fill",
                    .found = fmt::format("nan for {}", name(map.type)),
                    .need = "zero unless the tensor map's type is floating point (fp8 travels as an integer)",
                    .legal = "oob-fill zero",
                    .source = "cuTensorMapEncodeTiled, oobFill"});
  }
}

void check_rank(const TensorMapSpec& map, Violations& violations) {
  if (map.rank >= 1 && map.rank <= max_map_rank) return;
  violations.add({.rule = "rank.range",
                  .subject = "rank",
                  .found = fmt::format("{}", map.rank),
                  .need = fmt::format("1 to {}", max_map_rank),
                  .legal = map.rank == 0
                               ? "rank 1 with shape[0] = 1"
                               : "rank 5; merge dimensions that lie densely, or loop over the outermost",
                  .source = "cuTensorMapEncodeTiled, tensorRank"});
}

template <typename Array>
void check_tail(const Array& values, std::uint32_t rank, std::string_view field, Violations& violations) {
  for (std::uint32_t d = rank; d < values.size(); ++d) {
    if (values[d] == 0) continue;
    violations.add({.rule = "tail.zero",
                    .subject = fmt::format("{}[{}]", field, d),
                    .found = fmt::format("{} beyond rank {}", values[d], rank),
                    .need = "0 beyond the rank, so that equal tensor maps are equal bytes",
                    .legal = fmt::format("{}[{}] = 0", field, d),
                    .source = "tmajit, TensorMapSpec"});
  }
}

void check_unused_bytes(const TensorMapSpec& map, Violations& violations) {
  if (std::ranges::any_of(map.reserved, [](auto byte) { return byte != 0; })) {
    violations.add({.rule = "reserved.zero",
                    .subject = "reserved",
                    .found = fmt::format("{}, {}", map.reserved[0], map.reserved[1]),
                    .need = "0",
                    .legal = "reserved = {0, 0}",
                    .source = "tmajit, TensorMapSpec"});
  }
  if (map.rank < 1 || map.rank > max_map_rank) return;  // where the tail begins is unknown
  check_tail(map.shape, map.rank, "shape", violations);
  check_tail(map.strides, map.rank, "strides", violations);
  check_tail(map.box, map.rank, "box", violations);
  check_tail(map.element_strides, map.rank, "element_strides", violations);
}

}  // namespace

bool is_hardware_only(std::string_view rule) noexcept {
  static constexpr std::array<std::string_view, 6> rules{
      "reserved.zero",    "tail.zero", "shape.coordinates", "strides.innermost", "element-strides.innermost",
      "box.shared-bytes",
  };
  return std::ranges::find(rules, rule) != rules.end();
}

void check_kind(const TensorMapSpec& map, Violations& violations) {
  check_enumerators(map, violations);
  check_combinations(map, violations);
}

void check_form(const TensorMapSpec& map, Violations& violations) {
  check_rank(map, violations);
  check_unused_bytes(map, violations);
}

void check_address(const TensorMapSpec& map, std::uint64_t address, Violations& violations) {
  const std::uint64_t unit = stride_unit(map.interleave);
  if (address % unit == 0) return;
  violations.add(
      {.rule = "address.alignment",
       .subject = "address",
       .found = fmt::format("{:#x}, {} bytes past a multiple of {}", address, address % unit, unit),
       .need = map.interleave == Interleave::b32 ? "a multiple of 32 bytes with interleave 32B"
                                                 : "a multiple of 16 bytes",
       .legal = fmt::format("{:#x}: begin the view there and move the coordinates", address - address % unit),
       .source = "cuTensorMapEncodeTiled, globalAddress"});
}

TMAJIT_END
