#pragma once

#include "codegen/flags.hpp"

#include <tmajit/version.hpp>

#include <array>
#include <set>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Gathers the device headers that texts include, each once and after the headers that it includes. The
/// generated text then needs no further file.
class IncludeExpander {
 public:
  /// For a custom source, which gets headers whole.
  IncludeExpander() : IncludeExpander(Flags::everything()) {}
  /// For a generated kernel: keeps the parts of templates that its flags select. finished() later removes
  /// unused parts from the whole source.
  explicit IncludeExpander(Flags flags) : flags_(std::move(flags)) {}

  /// Gathers the headers that `text` includes. Returns `text` with every `#include "tmajit/<name>.cuh"` and
  /// `#pragma once` line emptied, so that line numbers stay. Throws Error{invalid_argument} for a header that
  /// does not exist.
  [[nodiscard]] std::string strip(std::string_view text);

  /// Gathers the headers of a file of templates/kernels, "copy.cu", and returns its text without includes.
  [[nodiscard]] std::string kernel(std::string_view file);

  /// The gathered headers that use no facts of the kernel, in order: parameters, PTX, device.
  [[nodiscard]] std::string headers() const { return parts_[0] + parts_[1] + parts_[2]; }
  /// The gathered headers of templates/kernels, which use a kernel's facts.
  [[nodiscard]] const std::string& kernel_headers() const noexcept { return parts_[3]; }

 private:
  /// Gathers a header, after those that it includes, unless it was gathered before.
  void add(std::string_view name);

  Flags flags_;
  std::set<std::string, std::less<>> added_;
  std::array<std::string, 4> parts_;  ///< headers of params, ptx, device and kernels
};

TMAJIT_END
