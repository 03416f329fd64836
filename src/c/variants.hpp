#pragma once

#include <tmajit/c.h>
#include <tmajit/own_tuning.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct tmajit_variant {
  std::optional<tmajit::OwnLaunch> launch;
  std::exception_ptr why_none;  ///< the last error, or the caller's reason; null if there was neither
};

TMAJIT_BEGIN
namespace c {

/// Constants as names and literals for callers.
class NamedConstants {
 public:
  explicit NamedConstants(std::vector<KernelConstant> constants);
  NamedConstants(NamedConstants&&) noexcept = default;  // the texts refer to elements, which stay in place
  NamedConstants& operator=(NamedConstants&&) noexcept = default;

  [[nodiscard]] const std::vector<KernelConstant>& constants() const noexcept { return constants_; }
  [[nodiscard]] const std::vector<tmajit_named_text>& texts() const noexcept { return texts_; }

 private:
  std::vector<KernelConstant> constants_;
  std::vector<std::string> literals_;
  std::vector<tmajit_named_text> texts_;
};

using Describe = void (*)(void* context, const tmajit_named_text* constants, std::size_t constant_count,
                          tmajit_variant* variant);

/// A kernel, and for each combination of its tuned constants the launch that the caller described. Its
/// functions are thread-safe.
class DescribedVariants {
 public:
  /// Calls `describe` for each combination. Throws Error{invalid_argument} as combinations() does.
  DescribedVariants(OwnKernel kernel, std::vector<ConstantChoices> choices, Describe describe, void* context);

  /// The kernel without the tuned constants.
  [[nodiscard]] const OwnKernel& kernel() const noexcept { return kernel_; }
  /// The launch of a combination. Throws the reason if there is none.
  [[nodiscard]] const OwnLaunch& launch_of(const std::vector<KernelConstant>& constants) const;

 private:
  OwnKernel kernel_;
  std::vector<ConstantChoices> choices_;
  std::vector<tmajit_variant> variants_;  ///< of each combination
};

}  // namespace c
TMAJIT_END
