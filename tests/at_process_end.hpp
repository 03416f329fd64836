#pragma once

#include <functional>

#include <unistd.h>

namespace tests {

/// A static object of a program that ends after those that a library makes when it is first used. `run` is
/// called then, and what it returns is the process's exit status.
class AtProcessEnd {
 public:
  std::function<int()> run;
  AtProcessEnd() = default;
  ~AtProcessEnd() {
    if (run) ::_exit(run());
  }
  AtProcessEnd(const AtProcessEnd&) = delete;
  AtProcessEnd& operator=(const AtProcessEnd&) = delete;
};

}  // namespace tests
