#include "launch/json_node.hpp"

#include "numbers/small_float.hpp"
#include "report/text.hpp"
#include "spec/suggestion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

TMAJIT_BEGIN
namespace {

bool is_signed(ElementType type) {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

std::uint64_t largest_pattern(ElementType type) {
  return ~std::uint64_t{0} >> (64 - 8 * size_of(type));
}

struct FloatRange {
  double most;  ///< the largest finite value
  bool has_infinities = true;
};

FloatRange range_of(ElementType type) {
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
  // Here e5m2 does not saturate: "inf" means infinity.
  constexpr numbers::SmallFloat e5m2_with_infinity{
      .exponent_bits = 5, .mantissa_bits = 2, .has_infinity = true, .saturates = false};
  switch (type) {
    case ElementType::f64: return std::bit_cast<std::uint64_t>(value);
    case ElementType::f16: return numbers::encode(numbers::f16_format, value);
    case ElementType::bf16: return numbers::encode(numbers::bf16_format, value);
    case ElementType::e4m3: return numbers::encode(numbers::e4m3_format, value);
    case ElementType::e5m2: return numbers::encode(e5m2_with_infinity, value);
    default: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
}

}  // namespace

std::string JsonNode::shown(const Value& value) {
  constexpr std::size_t max_text_bytes = 40;
  if (value.is_object()) return value.empty() ? "{}" : "an object";
  if (value.is_array()) return value.empty() ? "[]" : fmt::format("a list of {}", value.size());
  auto text = value.dump(-1, ' ', true, Value::error_handler_t::replace);
  if (text.size() > max_text_bytes) text = text.substr(0, max_text_bytes) + "…";
  return text;
}

/// A key as part of a path.
std::string JsonNode::step(std::string_view key) {
  const bool plain = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain ? fmt::format(".{}", key) : fmt::format("[{}]", shown(Value(key)));
}

void JsonNode::expect_keys(std::span<const std::string_view> keys) const {
  for (const auto& member : members()) {
    if (std::ranges::find(keys, member.key()) != keys.end()) continue;
    member.fail("there is no such key; legal are {}{}", fmt::join(keys, ", "),
                suggestion(member.key(), keys));
  }
}

bool JsonNode::has(std::string_view key) const {
  return value_->is_object() && value_->contains(std::string(key));
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  if (!value_->is_object()) refuse("an object is needed");
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return JsonNode(*found, *this, step(key), std::string(key));
}

JsonNode JsonNode::at(std::string_view key) const {
  auto found = find(key);
  if (!found) fail("\"{}\" is missing", key);
  return *std::move(found);
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!value_->is_array()) refuse("a list is needed");
  std::vector<JsonNode> result;
  for (const auto& element : *value_)
    result.push_back(JsonNode(element, *this, fmt::format("[{}]", result.size())));
  return result;
}

std::vector<JsonNode> JsonNode::members() const {
  if (!value_->is_object()) refuse("an object is needed");
  std::vector<JsonNode> result;
  for (const auto& [key, value] : value_->items()) result.push_back(JsonNode(value, *this, step(key), key));
  return result;
}

const std::string& JsonNode::string() const {
  if (!value_->is_string()) refuse("a string is needed");
  return value_->get_ref<const std::string&>();
}

std::optional<std::int64_t> JsonNode::expression_value() const {
  if (counts_ == nullptr || !value_->is_string()) return std::nullopt;
  try {
    return evaluate_count(string(), *counts_);
  } catch (const Error& error) {
    refuse("a whole number is needed, or an expression of one: {}", error.what());
  }
}

std::uint64_t JsonNode::integer(std::uint64_t least, std::uint64_t most) const {
  if (const auto value = expression_value()) {
    const auto number = static_cast<std::uint64_t>(*value);
    if (*value >= 0 && number >= least && number <= most) return number;
    fail("{} is {}; a whole number from {} to {} is needed", shown(*value_), *value, least, most);
  }
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<std::uint64_t>();
    if (number >= least && number <= most) return number;
  }
  refuse("a whole number from {} to {} is needed", least, most);
}

std::uint64_t JsonNode::number(ElementType type) const {
  if (value_->is_string() && string().starts_with("0x")) return pattern_number(type);
  return is_float(type) ? float_number(type) : whole_number(type);
}

std::uint64_t JsonNode::pattern_number(ElementType type) const {
  const auto bits = parse_number<std::uint64_t>(std::string_view(string()).substr(2), 16);
  if (bits && *bits <= largest_pattern(type)) return *bits;
  refuse("a pattern of {} is 0x and 1 to {} hexadecimal digits", name(type), 2 * size_of(type));
}

std::uint64_t JsonNode::whole_number(ElementType type) const {
  const std::uint64_t all = largest_pattern(type);
  const std::uint64_t most = is_signed(type) ? all >> 1U : all;
  if (const auto value = expression_value()) {
    const auto least = is_signed(type) ? -static_cast<std::int64_t>(most) - 1 : 0;
    if (*value >= least && (*value < 0 || static_cast<std::uint64_t>(*value) <= most))
      return static_cast<std::uint64_t>(*value) & all;
    fail("{} is {}; {} takes whole numbers from {} to {}", shown(*value_), *value, name(type), least, most);
  }
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<std::uint64_t>();
    if (number <= most) return number;
  } else if (value_->is_number_integer() && is_signed(type)) {
    const auto number = value_->get<std::int64_t>();
    if (number >= -static_cast<std::int64_t>(most) - 1) return static_cast<std::uint64_t>(number) & all;
  }
  refuse("{} takes whole numbers from {} to {}", name(type),
         is_signed(type) ? fmt::format("-{}", most + 1) : "0", most);
}

std::uint64_t JsonNode::float_number(ElementType type) const {
  const auto [most, has_infinities] = range_of(type);
  if (value_->is_number()) {
    const auto number = value_->get<double>();
    if (std::abs(number) <= most) return encode(number, type);
  } else if (value_->is_string()) {
    if (string() == "nan") return encode(std::numeric_limits<double>::quiet_NaN(), type);
    if (has_infinities && string() == "inf") return encode(std::numeric_limits<double>::infinity(), type);
    if (has_infinities && string() == "-inf") return encode(-std::numeric_limits<double>::infinity(), type);
  }
  refuse("{} takes numbers up to {:.6g}, \"nan\"{}, and patterns such as \"0x{:0{}x}\"", name(type), most,
         has_infinities ? ", \"inf\", \"-inf\"" : "", encode(1, type), 2 * size_of(type));
}

JsonNode::Value parse_json(std::string_view text) {
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int /*depth*/, JsonNode::Value::parse_event_t event, JsonNode::Value& parsed) {
    using Event = JsonNode::Value::parse_event_t;
    if (event == Event::object_start) seen.emplace_back();
    if (event == Event::object_end) seen.pop_back();
    if (event == Event::key && !seen.back().insert(parsed.get<std::string>()).second) {
      refuse("an object has the key {} twice", JsonNode::shown(parsed));
    }
    return true;
  };
  try {
    return JsonNode::Value::parse(text, watch);
  } catch (const JsonNode::Value::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    refuse("not JSON: {}", what);
  }
}

TMAJIT_END
