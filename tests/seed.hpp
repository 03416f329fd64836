#pragma once

#include <cstdint>
#include <cstdlib>

namespace tests {

/// A number from the environment, or `otherwise`: TMAJIT_SEED, TMAJIT_CASES.
[[nodiscard]] inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 0);
}

/// The seed of this run: $TMAJIT_SEED, or `otherwise`. Print it with every failure.
[[nodiscard]] inline std::uint64_t seed(std::uint64_t otherwise) {
  return from_environment("TMAJIT_SEED", otherwise);
}

}  // namespace tests
