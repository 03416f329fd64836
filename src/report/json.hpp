#pragma once

#include <tmajit/version.hpp>

#include <string>

#include <nlohmann/json.hpp>

TMAJIT_BEGIN

/// Keys stay in the order in which they are added.
using Json = nlohmann::ordered_json;

/// JSON on one line, or on lines indented by `indent`. Names and expressions come from the user and need not
/// be UTF-8.
[[nodiscard]] inline std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

TMAJIT_END
