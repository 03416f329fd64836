#pragma once

#include "cache/levels.hpp"

#include <utility>
#include <vector>

TMAJIT_BEGIN

/// The kernels in the levels on this machine, without a fleet's store, for questions about many kernels. The
/// levels name their compilers once, when the object is made; it must not outlive them.
class NearbyKernels {
 public:
  /// `any_compiler`: also kernels of compilers that may not be installed here, which a process uses that
  /// loads none.
  explicit NearbyKernels(const Levels& levels, bool any_compiler = false);
  /// Whether a level would probably give the kernel. Reads no kernel and loads no compiler.
  [[nodiscard]] bool has(const KeyFor& key_for) const;
  /// The key for the first compiler that a level names; zeros if none names one.
  [[nodiscard]] CacheKey first_key(const KeyFor& key_for) const;

 private:
  std::vector<std::pair<const KernelLevel*, CompilerIdentity>> compilers_;
};

TMAJIT_END
