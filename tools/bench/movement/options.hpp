#pragma once

#include "case.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace movement {

/// The command line.
struct Options {
  std::vector<std::string> only;  ///< parts of labels; empty for all cases
  std::string device = "auto";    ///< auto, gpu, gpu:N; sim to test the benchmark itself
  unsigned rounds = 15;
  bool list = false;
  bool quick = false;
  bool jit = false;      ///< the cost of planning, too
  bool targets = false;  ///< exit code 1 if one is missed
  bool tiny = false;     ///< for tests
  double limit_s = 0;    ///< no case is begun after that long; 0: no limit
  std::uint64_t seed = 1;
  std::string json;  ///< file to write; empty for none

  [[nodiscard]] bool wants(const Case& c) const;
};

struct Parsed {
  Options options;
  std::optional<int> exit_code;  ///< where there is nothing to run: 0 after --help, 2 after wrong usage
};
Parsed parse(int argc, char** argv);

}  // namespace movement
