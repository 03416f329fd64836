#include "launch_numbers.hpp"

#include "sim/numeric.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;

bool is_signed(ElementType type) {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

std::uint64_t largest_pattern(ElementType type) {
  return ~std::uint64_t{0} >> (64 - 8 * tmajit::size_of(type));
}

std::uint64_t read_pattern(const JsonNode& node, ElementType type) {
  const std::string_view text = node.string();
  std::uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + 2, end, bits, 16);
  if (error != std::errc() || last != end || bits > largest_pattern(type)) {
    node.refuse(fmt::format("a pattern of {} is 0x and 1 to {} hexadecimal digits", tmajit::name(type),
                            2 * tmajit::size_of(type)));
  }
  return bits;
}

std::uint64_t read_integer(const JsonNode& node, ElementType type) {
  const auto& value = node.value();
  const std::uint64_t all = largest_pattern(type);
  const std::uint64_t most = is_signed(type) ? all >> 1U : all;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= most) return number;
  } else if (value.is_number_integer() && is_signed(type)) {
    const auto number = value.get<std::int64_t>();
    if (number >= -static_cast<std::int64_t>(most) - 1) return static_cast<std::uint64_t>(number) & all;
  }
  node.refuse(is_signed(type)
                  ? fmt::format("{} takes whole numbers from -{} to {}", tmajit::name(type), most + 1, most)
                  : fmt::format("{} takes whole numbers from 0 to {}", tmajit::name(type), most));
}

/// The largest finite value, and whether there are infinities beyond.
struct Range {
  double most;
  bool infinite = true;
};

Range range_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return {std::numeric_limits<double>::max()};
    case ElementType::f16: return {65504};
    case ElementType::bf16: return {0x1.fep127};
    case ElementType::e4m3: return {448, false};
    case ElementType::e5m2: return {57344};
    default: return {static_cast<double>(std::numeric_limits<float>::max())};
  }
}

std::uint64_t encode(double value, ElementType type) {
  using namespace tmajit::sim;
  switch (type) {
    case ElementType::f64: return std::bit_cast<std::uint64_t>(value);
    case ElementType::f16: return encode_small<f16_format>(value, false);
    case ElementType::bf16: return encode_small<bf16_format>(value, false);
    case ElementType::e4m3: return encode_small<e4m3_format>(value, false);
    case ElementType::e5m2: return encode_small<e5m2_format>(value, false);
    default: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
}

std::uint64_t read_float(const JsonNode& node, ElementType type) {
  const auto [most, infinite] = range_of(type);
  if (node.value().is_number()) {
    const auto number = node.value().get<double>();
    if (std::abs(number) <= most) return encode(number, type);
  } else if (node.value().is_string()) {
    const auto& text = node.string();
    if (text == "nan") return encode(std::numeric_limits<double>::quiet_NaN(), type);
    if (infinite && text == "inf") return encode(std::numeric_limits<double>::infinity(), type);
    if (infinite && text == "-inf") return encode(-std::numeric_limits<double>::infinity(), type);
  }
  node.refuse(fmt::format("{} takes numbers up to {:.6g}, \"nan\"{}, and patterns such as \"0x{:0{}x}\"",
                          tmajit::name(type), most, infinite ? ", \"inf\", \"-inf\"" : "", encode(1, type),
                          2 * tmajit::size_of(type)));
}

}  // namespace

std::uint64_t read_number(const JsonNode& node, ElementType type) {
  if (node.value().is_string() && node.string().starts_with("0x")) return read_pattern(node, type);
  return tmajit::is_float(type) ? read_float(node, type) : read_integer(node, type);
}

}  // namespace jitc
