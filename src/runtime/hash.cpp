#include "runtime/hash.hpp"

#include <cstddef>
#include <cstring>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

std::uint64_t hash_of(const KernelSpec& spec) noexcept {
  // Most expressions are a few dozen of 1024 characters. What follows the first NUL is compared, not hashed.
  const std::size_t used = strnlen(spec.expression.data(), spec.expression.size());
  return llvm::xxHash64(
      llvm::StringRef(reinterpret_cast<const char*>(&spec), offsetof(KernelSpec, expression) + used));
}

std::uint64_t hash_of(const CustomKernel& kernel) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio: spreads small numbers
  return (llvm::xxHash64(kernel.source.text) ^ llvm::xxHash64(kernel.source.entry) * odd) +
         (kernel.shared_bytes + 1) * odd;
}

std::uint64_t hash_of(const std::string& recipe) noexcept {
  return llvm::xxHash64(recipe);
}

TMAJIT_END
