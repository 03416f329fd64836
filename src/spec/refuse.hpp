#pragma once

/// Errors with messages in fmt's format.
#include "spec/counted.hpp"

#include <tmajit/error.hpp>

#include <filesystem>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// Throws Error{code} with a message in fmt's format.
template <class... Values>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Values...> message, Values&&... values) {
  throw Error(code, fmt::format(message, std::forward<Values>(values)...));
}

/// Throws Error{invalid_argument} with a message in fmt's format.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) {
  fail(ErrorCode::invalid_argument, message, std::forward<Values>(values)...);
}
[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// The path of a file that is read, as messages show it: "-" is standard input.
inline std::string input_name(const std::filesystem::path& file) {
  return file == "-" ? "standard input" : file.string();
}

/// Runs `work`, and puts the file's name before the messages of its errors. A SpecError passes unchanged: its
/// violations name what they are about.
template <class Work>
auto naming(const std::filesystem::path& file, const Work& work) {
  try {
    return work();
  } catch (const SpecError&) {
    throw;
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", input_name(file), error.what());
  }
}

TMAJIT_END
