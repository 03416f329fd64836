#pragma once

#include <tmajit/error.hpp>

#include <string>
#include <vector>

namespace tests {

using Rules = std::vector<std::string>;

/// The rules that an action breaks, with what breaks them: "view.shape of source 1: shape". None if it throws
/// nothing; what it throws besides a SpecError passes through.
template <class Action>
[[nodiscard]] Rules broken_rules(Action&& action) {
  Rules rules;
  try {
    static_cast<void>(action());
  } catch (const tmajit::SpecError& error) {
    for (const tmajit::Violation& violation : error.violations()) {
      rules.push_back(violation.rule + " of " + violation.subject);
    }
  }
  return rules;
}

/// The message of what an action throws; empty if it throws nothing.
template <class Action>
[[nodiscard]] std::string refusal(Action&& action) {
  try {
    static_cast<void>(action());
  } catch (const tmajit::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace tests
