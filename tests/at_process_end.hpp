#pragma once

#include <functional>

#include <unistd.h>

namespace tests {

/// A static object that is destroyed after those that a library makes on first use. Its destructor calls
/// `run`, whose result is the process's exit status.
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
