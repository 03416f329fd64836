#pragma once

#include <tmajit/cache.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// How many of a key's 64 digits tables show; --json prints all.
inline constexpr std::size_t key_digits = 8;

/// A generated kernel is shown as its family, a user's kernel as its entry point.
inline std::string kernel_name(std::string_view entry, const tmajit::MadeFor& made_for) {
  constexpr std::string_view generated_prefix = "tmajit_";
  const bool generated = !made_for.operation.empty() && entry.starts_with(generated_prefix);
  return std::string(generated ? entry.substr(generated_prefix.size()) : entry);
}

/// The first columns of a table of kernels.
inline std::vector<std::string> kernel_headings() {
  return {"KEY", "KERNEL", "OPERATION", "TYPES", "FIRST SHAPE"};
}
inline std::vector<std::string> kernel_cells(const tmajit::CacheKey& key, std::string_view entry,
                                             const tmajit::MadeFor& made_for) {
  const auto& [operation, types, shape] = made_for;
  return {key.hex().substr(0, key_digits), kernel_name(entry, made_for),
          operation.empty() ? "own" : operation, types.empty() ? "–" : types, shape.empty() ? "–" : shape};
}

}  // namespace jitc
