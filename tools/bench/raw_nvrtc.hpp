#pragma once

#include <tmajit/compile.hpp>

#include <memory>
#include <string>
#include <vector>

namespace bench {

/// NVRTC without tmajit around it: what compiling is compared with.
class RawNvrtc {
 public:
  /// Loads the library at `path`. Throws tmajit::Error{unavailable}.
  explicit RawNvrtc(const std::string& path);

  struct Result {
    double milliseconds = 0;  ///< from nvrtcCreateProgram until PTX, cubin and log are copied out
    std::string ptx;
    std::vector<char> cubin;
    std::string log;
  };
  /// Compiles with the options that tmajit::compile() passes for default CompileOptions.
  /// Throws tmajit::Error{internal} if NVRTC refuses.
  [[nodiscard]] Result compile(const tmajit::Source& source) const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

}  // namespace bench
