#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Gathers the device headers that texts include, each once and after those it includes itself, so that the
/// generated text needs no file beside it.
class IncludeExpander {
 public:
  /// With a `rank`, "bulk_tensor.cuh" stands for the file of that rank alone.
  explicit IncludeExpander(std::uint32_t rank = 0) : rank_(rank) {}

  /// Returns `text` with every `#include "tmajit/<name>.cuh"` line empty (line numbers stay), and appends the
  /// headers they name, where not yet there, to headers().
  /// Throws Error{invalid_argument} for a header that does not exist.
  [[nodiscard]] std::string strip(std::string_view text);

  [[nodiscard]] const std::string& headers() const noexcept { return headers_; }

 private:
  void add(std::string_view name);

  std::uint32_t rank_;
  std::set<std::string, std::less<>> done_;
  std::string headers_;
};

/// `text` with one blank line where includes and pragmas left several.
[[nodiscard]] std::string close_gaps(std::string text);

TMAJIT_END
