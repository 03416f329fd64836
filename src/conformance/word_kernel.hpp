#pragma once

#include "conformance/case.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace conformance {

/// A kernel `extern "C" __global__ void words(u32* out, const u32* in)` of one cluster, for tests without
/// tensor maps.
struct WordKernel {
  std::string what;
  std::string text;
  std::uint32_t threads = 128;  ///< threads of a CTA
  std::uint32_t ctas = 1;
  std::uint32_t in = 0;   ///< number of words of `in`, which are random
  std::uint32_t out = 0;  ///< number of words of `out`, which are zero before the launch
  std::uint32_t shared_bytes = 0;
  /// Computes the words of `out` after the launch.
  std::function<void(std::span<std::uint32_t> out, std::span<const std::uint32_t> in)> expect;
};
/// A trial with one random input, and the results that `kernel.expect` computes for it.
[[nodiscard]] Trial trial_of(const WordKernel& kernel, reference::Random& random);

/// A case of one such kernel, with several random inputs.
[[nodiscard]] Case case_of(std::string name, std::vector<std::string> instructions, const WordKernel& kernel);

}  // namespace conformance
