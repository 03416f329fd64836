#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace jitc {

/// A value of a JSON text and its path in there, which every complaint begins with: "$.grid[1]: …".
class JsonNode {
 public:
  using Value = nlohmann::json;

  JsonNode(const Value& value, std::string path) : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Throws Error{invalid_argument}: path, what was found, and `wanted`.
  [[noreturn]] void refuse(std::string_view wanted) const;
  /// Throws Error{invalid_argument}: path and `message`.
  [[noreturn]] void fail(std::string_view message) const;

  // Each refuses a value that is something else.

  /// Checks that this is an object of no other keys than these.
  void expect_keys(std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::optional<JsonNode> find(std::string_view key) const;
  [[nodiscard]] JsonNode at(std::string_view key) const;
  [[nodiscard]] std::vector<JsonNode> elements() const;
  [[nodiscard]] std::vector<JsonNode> members() const;
  [[nodiscard]] const std::string& key() const noexcept { return key_; }  ///< of a member
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] std::uint64_t integer(std::uint64_t least, std::uint64_t most) const;

 private:
  JsonNode(const Value& value, std::string path, std::string key)
      : value_(&value), path_(std::move(path)), key_(std::move(key)) {}

  const Value* value_;
  std::string path_;
  std::string key_;
};

/// Parses a text. Throws Error{invalid_argument} with line and column for what is no JSON, and for a key that
/// stands twice in one object.
[[nodiscard]] JsonNode::Value parse_json(std::string_view text);

}  // namespace jitc
