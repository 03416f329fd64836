#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Whether a runtime may call the compiler for a kernel that no level of the cache has (docs/ready.md).
enum class WhenMissing {
  compile,  ///< the caller waits for the compiler
  /// plan() and operations run a kernel that is there and can do the work, and the better one is made in the
  /// background. If there is none, the caller waits for the compiler. Runtime::kernel() always waits.
  serve,
  refuse,  ///< no compiler is loaded; the request throws MissingKernelError
};
/// "compile", "serve", "refuse".
[[nodiscard]] TMAJIT_API std::string_view name(WhenMissing when) noexcept;
template <>
[[nodiscard]] TMAJIT_API WhenMissing parse<WhenMissing>(std::string_view name);

/// A kernel that no level of the cache has.
struct MissingKernel {
  /// A fact that differs between the missing kernel and the nearest one.
  struct Difference {
    std::string fact;     ///< "vector", a constant of the kernel's source; "family"
    std::string missing;  ///< its value in the missing kernel
    std::string nearest;  ///< its value in the nearest kernel that is there; empty if that has no such fact
    friend bool operator==(const Difference&, const Difference&) = default;
  };
  /// The key for the first compiler that a level names; zeros if no level names one.
  CacheKey key = {};
  std::string family = {};  ///< "transpose"; empty for a user's own source
  /// The planner's choice, "transpose 64x64, 256 threads"; empty for a user's source.
  std::string choice = {};
  MadeFor made_for = {};
  std::vector<std::string> levels = {};  ///< the levels that were searched, for people
  /// The choice of the kernel that is there, can do the same work and has the fewest other facts; without
  /// one, of the kernel that would do it on tensors at aligned addresses. Empty if neither is there.
  std::string nearest = {};
  std::vector<Difference> differences = {};  ///< empty without a nearest kernel
};

/// A kernel is in no level of the cache, and RuntimeOptions::when_missing forbids to compile it.
class TMAJIT_API MissingKernelError : public Error {
 public:
  explicit MissingKernelError(MissingKernel missing);
  [[nodiscard]] const MissingKernel& missing() const noexcept { return missing_; }

 private:
  MissingKernel missing_;
};

TMAJIT_END
