#include "json_node.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <set>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

/// A value as a message shows it: short, and fit to print.
std::string shown(const JsonNode::Value& value) {
  constexpr std::size_t most = 40;
  if (value.is_object()) return value.empty() ? "{}" : "an object";
  if (value.is_array()) return value.empty() ? "[]" : fmt::format("a list of {}", value.size());
  auto text = value.dump(-1, ' ', true, JsonNode::Value::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "…";
  return text;
}

/// A key as a path shows it.
std::string step(std::string_view key) {
  const bool plain = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain ? fmt::format(".{}", key) : fmt::format("[{}]", shown(JsonNode::Value(key)));
}

}  // namespace

void JsonNode::fail(std::string_view message) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", path_, message));
}

void JsonNode::refuse(std::string_view wanted) const {
  fail(fmt::format("{}; {}", shown(*value_), wanted));
}

void JsonNode::expect_keys(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) refuse("an object is needed");
  for (const auto& [key, value] : value_->items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    throw Error(ErrorCode::invalid_argument, fmt::format("{}{}: there is no such key; legal are {}", path_,
                                                         step(key), fmt::join(keys, ", ")));
  }
}

bool JsonNode::has(std::string_view key) const {
  return value_->is_object() && value_->find(std::string(key)) != value_->end();
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  if (!value_->is_object()) refuse("an object is needed");
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return JsonNode(*found, path_ + step(key), std::string(key));
}

JsonNode JsonNode::at(std::string_view key) const {
  auto found = find(key);
  if (!found) fail(fmt::format("\"{}\" is missing", key));
  return *std::move(found);
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!value_->is_array()) refuse("a list is needed");
  std::vector<JsonNode> result;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.push_back(JsonNode((*value_)[i], fmt::format("{}[{}]", path_, i)));
  }
  return result;
}

std::vector<JsonNode> JsonNode::members() const {
  if (!value_->is_object()) refuse("an object is needed");
  std::vector<JsonNode> result;
  for (const auto& [key, value] : value_->items()) result.push_back(JsonNode(value, path_ + step(key), key));
  return result;
}

const std::string& JsonNode::string() const {
  if (!value_->is_string()) refuse("a string is needed");
  return value_->get_ref<const std::string&>();
}

std::uint64_t JsonNode::integer(std::uint64_t least, std::uint64_t most) const {
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<std::uint64_t>();
    if (number >= least && number <= most) return number;
  }
  refuse(fmt::format("a whole number from {} to {} is needed", least, most));
}

JsonNode::Value parse_json(std::string_view text) {
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int /*depth*/, JsonNode::Value::parse_event_t event, JsonNode::Value& parsed) {
    using Event = JsonNode::Value::parse_event_t;
    if (event == Event::object_start) seen.emplace_back();
    if (event == Event::object_end) seen.pop_back();
    if (event == Event::key && !seen.back().insert(parsed.get<std::string>()).second) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the key {} stands twice in one object", shown(parsed)));
    }
    return true;
  };
  try {
    return JsonNode::Value::parse(text, watch);
  } catch (const JsonNode::Value::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    throw Error(ErrorCode::invalid_argument, fmt::format("not JSON: {}", what));
  }
}

}  // namespace jitc
