#pragma once

#include <tmajit/codegen.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// Hash of a spec's bytes up to the end of its expression; equal specs have equal hashes.
[[nodiscard]] std::uint64_t hash_of(const KernelSpec& spec) noexcept;

/// A kernel of the user's own, as it is asked of a runtime.
struct CustomKernel {
  Source source;
  std::uint32_t shared_bytes = 0;

  friend bool operator==(const CustomKernel& a, const CustomKernel& b) noexcept {
    return a.shared_bytes == b.shared_bytes && a.source.entry == b.source.entry &&
           a.source.expression == b.source.expression && a.source.text == b.source.text;
  }
};
[[nodiscard]] std::uint64_t hash_of(const CustomKernel& kernel) noexcept;
[[nodiscard]] std::uint64_t hash_of(const std::string& recipe) noexcept;

TMAJIT_END
