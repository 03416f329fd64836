#pragma once

#include <tmajit/c/status.h>
#include <tmajit/error.hpp>

#include <string>
#include <utility>
#include <vector>

struct tmajit_error {
  tmajit_status status = TMAJIT_INTERNAL;
  std::string message;
  std::string log;
  std::vector<tmajit::Violation> violations;
};

struct tmajit_text {
  std::string bytes;
};

TMAJIT_BEGIN
namespace c {

/// The status of the exception that is being handled. Stores its error in `*error` unless `error` is null.
[[nodiscard]] tmajit_status store_current_error(tmajit_error** error) noexcept;

/// Runs the body of a C function. No exception leaves it.
template <class Body>
tmajit_status guarded(tmajit_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    std::forward<Body>(body)();
    return TMAJIT_OK;
  } catch (...) {
    return store_current_error(error);
  }
}

}  // namespace c
TMAJIT_END
