#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace jitc {

/// Adds options of one group of a command's help, or of its first one, which has no name.
class OptionGroup {
 public:
  explicit OptionGroup(CLI::App& command, const char* name = nullptr) : command_(command), name_(name) {}

  /// What `value` holds is the default that the help shows, unless that is empty or 0.
  template <class Value>
  CLI::Option* add(const char* option, Value& value, const char* type, const std::string& description) {
    auto* const added = command_.add_option(option, value, description)->type_name(type);
    if (value != Value{}) added->capture_default_str();
    return in_group(added);
  }
  CLI::Option* add_flag(const char* option, bool& value, const std::string& description) {
    return in_group(command_.add_flag(option, value, description));
  }
  /// One that may be given several times.
  template <class Value>
  void add_list(const char* option, Value& values, const char* type, const std::string& description) {
    add(option, values, type, description)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

 private:
  CLI::Option* in_group(CLI::Option* option) { return name_ == nullptr ? option : option->group(name_); }

  CLI::App& command_;
  const char* name_;
};

}  // namespace jitc
