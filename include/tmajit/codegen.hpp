#pragma once

#include <tmajit/kernel_spec.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// One self-contained CUDA C++ translation unit that needs no header; NVRTC and `nvcc -arch=sm_90a` take it.
struct Source {
  std::string text;
  std::string entry;       ///< the kernel's name, unmangled: "tmajit_copy"
  std::string expression;  ///< the user's expression, if `text` holds one under `#line 1 "expression"`
};

/// The kernel for `spec`. Deterministic: the same spec gives the same bytes.
/// Throws SpecError if validate(spec) finds anything.
[[nodiscard]] TMAJIT_API Source generate(const KernelSpec& spec);

/// A user's own kernel: `#include "tmajit/<name>.cuh"` lines that name device headers are replaced by their
/// text, each once, and the rest is taken as it is under `#line 1 "<label>"`.
/// `entry` must be declared `extern "C" __global__`. Throws Error{invalid_argument} for an unknown header.
[[nodiscard]] TMAJIT_API Source custom_source(std::string_view text, std::string_view entry,
                                              std::string_view label = "kernel");

/// The device headers that custom_source() knows, by the name an #include gives: "tmajit/mbarrier.cuh", and
/// their text. They are the files of templates/ptx and templates/device.
[[nodiscard]] TMAJIT_API std::vector<std::pair<std::string, std::string>> device_headers();

TMAJIT_END
