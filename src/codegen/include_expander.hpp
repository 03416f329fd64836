#pragma once

#include "codegen/flags.hpp"

#include <tmajit/version.hpp>

#include <array>
#include <set>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Gathers the device headers that texts include, each once and after those it includes itself, so that the
/// generated text needs no file beside it.
class IncludeExpander {
 public:
  /// For a custom source: of a header everything.
  IncludeExpander() : IncludeExpander(Flags::everything()) {}
  /// For a kernel of ours: keeps the parts of templates that its flags select. Unused parts go when
  /// finished() has seen the whole source.
  explicit IncludeExpander(Flags flags) : flags_(std::move(flags)) {}

  /// Returns `text` with every `#include "tmajit/<name>.cuh"` line empty (line numbers stay), and gathers the
  /// headers that they name, where not yet there. Nothing else in `text` is touched.
  /// Throws Error{invalid_argument} for a header that does not exist.
  [[nodiscard]] std::string strip(std::string_view text);

  /// A file of templates/kernels without its includes, which are gathered: "copy.cu".
  [[nodiscard]] std::string kernel(std::string_view file);

  /// The headers that need nothing of the kernel, in order: parameters, PTX, device.
  [[nodiscard]] std::string headers() const { return parts_[0] + parts_[1] + parts_[2]; }
  /// Those that several kernels share, written against a kernel's facts.
  [[nodiscard]] const std::string& kernel_headers() const noexcept { return parts_[3]; }

 private:
  void add(std::string_view name);

  Flags flags_;
  std::set<std::string, std::less<>> done_;
  std::array<std::string, 4> parts_;  ///< headers of params, ptx, device and kernels
};

TMAJIT_END
