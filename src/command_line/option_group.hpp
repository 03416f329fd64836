#pragma once

#include "command_line/option_checks.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

/// The type of an option's value, without std::optional.
template <class Value>
struct NumberOf {
  using Type = Value;
};
template <class Value>
struct NumberOf<std::optional<Value>> {
  using Type = Value;
};

/// Adds options to the group `name` of a command's help; without a name, to its first group.
class OptionGroup {
 public:
  explicit OptionGroup(CLI::App& command, const char* name = nullptr) : command_(command), name_(name) {}

  /// `value` holds the default. The help shows it unless it is empty or 0. Empty values are refused.
  template <class Value>
  CLI::Option* add(const char* option, Value& value, const char* type, const std::string& description) {
    using Number = typename NumberOf<Value>::Type;
    if constexpr (std::unsigned_integral<Number>) {
      return add_number(option, value, type, description, 0, std::numeric_limits<Number>::max());
    } else {
      return add_checked(option, value, type, description, not_empty());
    }
  }
  /// A whole number from `least` to `most`.
  template <class Value>
  CLI::Option* add_number(const char* option, Value& value, const char* type, const std::string& description,
                          std::uint64_t least, std::uint64_t most) {
    return add_checked(option, value, type, description, whole_number(least, most));
  }
  CLI::Option* add_flag(const char* option, bool& value, const std::string& description) {
    return in_group(command_.add_flag(option, value, description));
  }
  /// An option that may be given several times.
  template <class Value>
  CLI::Option* add_list(const char* option, Value& values, const char* type, const std::string& description) {
    return add(option, values, type, description)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);  // else it would take the words after its value, too
  }

 private:
  template <class Value>
  CLI::Option* add_checked(const char* option, Value& value, const char* type, const std::string& description,
                           const CLI::Validator& check) {
    auto* const added = command_.add_option(option, value, description)->type_name(type)->check(check);
    if (value != Value{}) added->capture_default_str();
    return in_group(added);
  }
  CLI::Option* in_group(CLI::Option* option) { return name_ == nullptr ? option : option->group(name_); }

  CLI::App& command_;
  const char* name_;
};

}  // namespace command_line
TMAJIT_END
