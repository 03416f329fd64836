#pragma once

/// What the parts of a launch's description are read with.
#include "json_node.hpp"
#include "report.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace jitc {

/// Runs one of the library's parse functions; what it refuses is refused at the node's path.
template <class Parse>
auto read_name(const JsonNode& node, const Parse& parse) {
  const auto& text = node.string();
  try {
    return parse(text);
  } catch (const tmajit::Error& error) {
    node.fail("{}", error.what());
  }
}

template <class Parse, class Value>
void read_optional(const JsonNode& node, std::string_view key, const Parse& parse, Value& value) {
  if (const auto found = node.find(key)) value = read_name(*found, parse);
}

[[nodiscard]] inline tmajit::ElementType read_type(const JsonNode& node) {
  return read_name(node, [](const std::string& text) { return tmajit::parse_element_type(text); });
}

/// One number a dimension, of which there are `least_entries` to as many as a view has.
template <class Number>
std::vector<Number> read_list(const JsonNode& node, std::size_t least_entries, std::uint64_t least,
                              std::uint64_t most) {
  const auto elements = node.elements();
  if (elements.size() < least_entries || elements.size() > tmajit::max_view_rank) {
    node.refuse("{} to {} numbers are needed, outermost dimension first", least_entries,
                tmajit::max_view_rank);
  }
  std::vector<Number> numbers;
  numbers.reserve(elements.size());
  for (const auto& element : elements) numbers.push_back(static_cast<Number>(element.integer(least, most)));
  return numbers;
}

/// A pattern says every value of every type exactly.
[[nodiscard]] inline Json patterns(const std::vector<std::uint64_t>& values) {
  Json list = Json::array();
  for (const auto bits : values) list.push_back(fmt::format("{:#x}", bits));
  return list;
}

}  // namespace jitc
