#pragma once

#include <cstdint>
#include <cstdlib>

namespace tests {

/// The number in the environment variable `name`, such as TMAJIT_SEED or TMAJIT_CASES, or else `fallback`.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? fallback : std::strtoull(text, nullptr, 0);
}

/// The seed of this run: $TMAJIT_SEED, or else `fallback`. Print it with every failure.
[[nodiscard]] inline std::uint64_t seed(std::uint64_t fallback) {
  return from_environment("TMAJIT_SEED", fallback);
}

}  // namespace tests
