#pragma once

#include <tmajit/error.hpp>

#include <stdexcept>

namespace tests {

/// The error that `action` throws.
template <class Action>
[[nodiscard]] tmajit::Error error_of(const Action& action) {
  try {
    static_cast<void>(action());
  } catch (const tmajit::Error& error) {
    return error;
  }
  throw std::logic_error("no error was thrown");
}

}  // namespace tests
