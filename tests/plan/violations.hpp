#pragma once

#include <tmajit/error.hpp>

#include <string>
#include <vector>

namespace tests {

using Rules = std::vector<std::string>;

/// The rules that an action breaks, each with its subject, such as "view.shape of source 1: shape". Empty if
/// the action does not throw. Exceptions other than a SpecError propagate.
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

/// The rules that an action breaks, without their subjects.
template <class Action>
[[nodiscard]] Rules broken_rule_names(Action&& action) {
  Rules rules = broken_rules(action);
  for (std::string& rule : rules) rule.resize(rule.find(" of "));
  return rules;
}

/// The message of the exception that an action throws. Empty if it does not throw.
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
