#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The kind of an error; decides `jitc`'s exit code and whether a caller can try again.
enum class ErrorCode {
  invalid_argument,  ///< a value that can never be right here (wrong type name, rank, operand count …)
  illegal_spec,      ///< a spec that breaks a rule of the driver, the PTX ISA or the hardware
  compile_failed,    ///< NVRTC refused the source; mostly a mistake in the user's expression or body
  unavailable,       ///< something this machine lacks: NVRTC, a driver, a Hopper GPU
  io,                ///< a file could not be read or written
  out_of_memory,     ///< device or host memory ran out
  device_failed,     ///< the driver reported an error, or a kernel faulted
  invalid_image,     ///< the driver refused a kernel's code: damaged, for another GPU, or without the entry
  unsupported,       ///< legal, but not something tmajit does
  internal,          ///< a mistake in tmajit itself
  missing_kernel,    ///< no cache has the kernel, and the runtime may not compile it (missing_kernel.hpp)
};

/// The name of `code` as it is written in JSON: "illegal_spec".
[[nodiscard]] TMAJIT_API std::string_view name(ErrorCode code) noexcept;
template <>
[[nodiscard]] TMAJIT_API ErrorCode parse<ErrorCode>(std::string_view name);

/// The base class of tmajit's exceptions. `what()` is a full sentence: what was wrong, where, and what would
/// be legal or what to do about it.
class TMAJIT_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// One broken rule. All strings are ready to print.
struct Violation {
  std::string rule;     ///< stable identifier, "box.inner-bytes"
  std::string subject;  ///< which field of which operand, "input 0: box[1]"
  std::string found;    ///< the offending value, "12 bytes (3 × f32)"
  std::string need;     ///< the rule in words, "a multiple of 16 bytes"
  std::string legal;    ///< the nearest legal value or rewrite, "box[1] = 4"
  std::string source;   ///< origin of the rule, "cuTensorMapEncodeTiled, boxDim"
};

/// A spec was refused; carries every rule it breaks, not only the first.
class TMAJIT_API SpecError : public Error {
 public:
  explicit SpecError(std::vector<Violation> violations);
  [[nodiscard]] const std::vector<Violation>& violations() const noexcept { return violations_; }

 private:
  std::vector<Violation> violations_;
};

/// NVRTC refused a source. `what()` shows the user's own text with a caret where the mistake is.
class TMAJIT_API CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log);
  /// NVRTC's whole log, unchanged.
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

TMAJIT_END
