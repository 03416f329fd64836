#pragma once

#include "launch/count_expression.hpp"
#include "launch/members.hpp"
#include "report/json.hpp"
#include "spec/refuse.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

TMAJIT_BEGIN

/// A value of a JSON text and its path in the text, with which every error message begins: "$.grid[1]: …".
class JsonNode {
 public:
  using Value = nlohmann::json;

  /// The root, "$". Whole numbers may be expressions of `counts`, which must outlive the node, unless
  /// `counts` is null.
  explicit JsonNode(const Value& value, const Counts* counts = nullptr) : value_(&value), counts_(counts) {}

  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// Throws Error{invalid_argument}: path, found value, and `wanted`.
  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> wanted, Values&&... values) const {
    fail("{}; {}", shown(*value_), fmt::format(wanted, std::forward<Values>(values)...));
  }
  /// Throws Error{invalid_argument}: path and message.
  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) const {
    tmajit::refuse("{}: {}", path_, fmt::format(message, std::forward<Values>(values)...));
  }

  /// A value as a message shows it: short, and fit to print.
  [[nodiscard]] static std::string shown(const Value& value);

  // Each of these functions calls refuse() if the value is of another kind.

  /// Checks that this is an object without keys other than these.
  void expect_keys(std::span<const std::string_view> keys) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::optional<JsonNode> find(std::string_view key) const;
  [[nodiscard]] JsonNode at(std::string_view key) const;
  [[nodiscard]] std::vector<JsonNode> elements() const;
  [[nodiscard]] std::vector<JsonNode> members() const;
  [[nodiscard]] const std::string& string() const;
  /// A whole number, or an expression of one: "ceil_div(columns, rows)".
  [[nodiscard]] std::uint64_t integer(std::uint64_t least, std::uint64_t most) const;
  /// The bit pattern of a number of `type`. The value may be a JSON number within the type's range (rounded
  /// to nearest for floats), "nan", "inf" or "-inf", a bit pattern ("0x7fc0"), or an expression whose value
  /// is a whole number.
  [[nodiscard]] std::uint64_t number(ElementType type) const;

 private:
  /// A member of an object, with its `key`, or an element of an array.
  JsonNode(const Value& value, const JsonNode& parent, const std::string& step, std::string key = {})
      : value_(&value), path_(parent.path_ + step), key_(std::move(key)), counts_(parent.counts_) {}

  /// The value of an expression; nullopt if this is not an expression.
  [[nodiscard]] std::optional<std::int64_t> expression_value() const;
  [[nodiscard]] static std::string step(std::string_view key);
  [[nodiscard]] std::uint64_t pattern_number(ElementType type) const;
  [[nodiscard]] std::uint64_t whole_number(ElementType type) const;
  [[nodiscard]] std::uint64_t float_number(ElementType type) const;

  const Value* value_;
  std::string path_ = "$";
  std::string key_ = {};
  const Counts* counts_ = nullptr;
};

/// Parses a text. Throws Error{invalid_argument} with line and column if it is not JSON, or if an object has
/// a key twice.
[[nodiscard]] JsonNode::Value parse_json(std::string_view text);

/// Runs one of the library's parse functions, and reports its errors at the node's path.
template <class Parse>
auto read_name(const JsonNode& node, const Parse& parse) {
  const auto& text = node.string();
  try {
    return parse(text);
  } catch (const Error& error) {
    node.fail("{}", error.what());
  }
}

template <class Parse, class Value>
void read_optional(const JsonNode& node, std::string_view key, const Parse& parse, Value& value) {
  if (const auto found = node.find(key)) value = read_name(*found, parse);
}

[[nodiscard]] inline ElementType read_type(const JsonNode& node) {
  return read_name(node, [](const std::string& text) { return parse<ElementType>(text); });
}

/// Reads one number per dimension, at most max_view_rank.
template <class Number>
std::vector<Number> read_list(const JsonNode& node, const launch_file::Member& member) {
  const auto elements = node.elements();
  if (elements.size() < member.least_entries || elements.size() > max_view_rank) {
    node.refuse("{} to {} numbers are needed, outermost dimension first", member.least_entries,
                max_view_rank);
  }
  std::vector<Number> numbers;
  numbers.reserve(elements.size());
  for (const auto& element : elements)
    numbers.push_back(static_cast<Number>(element.integer(member.least, member.most[0])));
  return numbers;
}

/// Reads a whole number within the limits of the member that the node's key names.
template <class Number>
Number read_whole(const JsonNode& node, std::span<const launch_file::Member> members) {
  const auto& member = launch_file::member_of(members, node.key());
  return static_cast<Number>(node.integer(member.least, member.most[0]));
}

/// Values as bit patterns, which are exact for every type.
[[nodiscard]] inline Json patterns(const std::vector<std::uint64_t>& values) {
  Json list = Json::array();
  for (const auto bits : values) list.push_back(fmt::format("{:#x}", bits));
  return list;
}

TMAJIT_END
