#pragma once

#include <functional>

#include <unistd.h>

namespace tests {

/// Runs a check while the process exits. Declare it as a static object: it is then destroyed after the static
/// objects that a library makes on first use. Its destructor calls `run`, which returns the exit status.
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
