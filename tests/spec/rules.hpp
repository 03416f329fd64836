#pragma once

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_tostring.hpp>

/// The broken rules, in the order of the violations.
inline std::vector<std::string> rules(const std::vector<tmajit::Violation>& violations) {
  std::vector<std::string> names;
  names.reserve(violations.size());
  for (const auto& violation : violations) names.push_back(violation.rule);
  return names;
}

/// The first violation of `rule`; one with empty strings if there is none.
inline tmajit::Violation find(const std::vector<tmajit::Violation>& violations, std::string_view rule) {
  const auto at = std::ranges::find(violations, rule, &tmajit::Violation::rule);
  return at == violations.end() ? tmajit::Violation{} : *at;
}

/// Whether no text of any violation is empty.
inline bool complete(const std::vector<tmajit::Violation>& violations) {
  return std::ranges::none_of(violations, [](const auto& v) {
    return v.rule.empty() || v.subject.empty() || v.found.empty() || v.need.empty() || v.legal.empty() ||
           v.source.empty();
  });
}

/// Whether the driver does not check the rule when it encodes a tensor map, because it does not get the field
/// or because only the hardware is affected.
inline bool is_hardware_only(std::string_view rule) noexcept {
  static constexpr std::array<std::string_view, 9> rules{
      "reserved.zero",
      "tail.zero",
      "mode.unused",
      "mode.known",
      "shape.coordinates",
      "strides.innermost",
      "box.shared-bytes",
      "element-strides.image",
      "element-strides.innermost",
  };
  return std::ranges::find(rules, rule) != rules.end();
}

using Rules = std::vector<std::string>;
