#pragma once

#include <tmajit/kernel_plan.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// The kernel of a plan: one self-contained CUDA C++ translation unit that needs no header, for NVRTC or
/// `nvcc -arch=sm_90a`. Deterministic: the same key gives the same bytes. Needs no compiler and no device.
[[nodiscard]] TMAJIT_API Source source(const KernelPlan& plan);

/// Identifies everything in this library that source(plan) depends on besides the plan's key. Libraries with
/// equal ids give equal sources for plans with equal keys. Empty if sources may change while the program
/// runs, because `$TMAJIT_TEMPLATES` names a folder of templates.
[[nodiscard]] TMAJIT_API std::string_view generator_id();

/// A user's own kernel. The text of each device header that an `#include "tmajit/<name>.cuh"` line names
/// replaces the line, once; the remaining text follows unchanged under `#line 1 "<label>"`. The source() of
/// own_kernel.hpp also accepts constants and other headers. Throws Error{invalid_argument} for an unknown
/// header.
[[nodiscard]] TMAJIT_API Source custom_source(std::string_view text, std::string_view entry,
                                              std::string_view label = "kernel");

/// The device headers that custom_source() knows (docs/device.md): the name that an #include gives,
/// "tmajit/mbarrier.cuh", and the text. Written to a folder `tmajit`, they are headers for `nvcc -I`.
[[nodiscard]] TMAJIT_API std::vector<std::pair<std::string, std::string>> device_headers();

TMAJIT_END
