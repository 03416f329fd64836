#pragma once

#include <tmajit/kernel_plan.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// The kernel of a plan: one self-contained CUDA C++ translation unit that needs no header; NVRTC and `nvcc
/// -arch=sm_90a` take it. Deterministic: the same key gives the same bytes. Needs no compiler and no device.
[[nodiscard]] TMAJIT_API Source source(const KernelPlan& plan);

/// A user's own kernel: `#include "tmajit/<name>.cuh"` lines that name device headers are replaced by their
/// text, each once, and the rest is taken as it is under `#line 1 "<label>"`.
/// own_kernel.hpp takes constants and other headers, too. Throws Error{invalid_argument} for an unknown
/// header.
[[nodiscard]] TMAJIT_API Source custom_source(std::string_view text, std::string_view entry,
                                              std::string_view label = "kernel");

/// The device headers that custom_source() knows (docs/device.md), by the name an #include gives:
/// "tmajit/mbarrier.cuh", and their text, which a compiler takes as it is: written to a folder `tmajit`, they
/// are headers for `nvcc -I`.
[[nodiscard]] TMAJIT_API std::vector<std::pair<std::string, std::string>> device_headers();

TMAJIT_END
