#pragma once

#include "problem.hpp"

#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace jitc {

using Json = nlohmann::ordered_json;

/// Every field of a spec and what follows from it: threads, dynamic shared memory.
[[nodiscard]] Json to_json(const tmajit::KernelSpec& spec);
[[nodiscard]] Json to_json(const tmajit::TensorView& view);
[[nodiscard]] Json to_json(const std::vector<tmajit::Violation>& violations);
[[nodiscard]] Json to_json(const tmajit::CompilerIdentity& compiler);
/// What a launch asks for besides the kernel.
struct LaunchNeeds {
  std::uint32_t threads = 0;               ///< of a CTA
  std::uint32_t dynamic_shared_bytes = 0;  ///< of a CTA
};
[[nodiscard]] LaunchNeeds launch_needs(const tmajit::KernelSpec& spec);

/// Key, cache level, milliseconds a stage, resources, sizes of a compiled kernel.
[[nodiscard]] Json to_json(const tmajit::Kernel& kernel, const LaunchNeeds& needs);
/// Spec, views, notes.
[[nodiscard]] Json to_json(const Problem& problem);

/// Prints one object to standard output.
void print_json(const Json& json);

/// "map f32 -> f32, rank 2, tile 32x64, swizzle none, 4 + 2 stages, 8 warps, 1 CTA an SM"
[[nodiscard]] std::string describe(const tmajit::KernelSpec& spec);
/// "f32 128x64", with strides where they are not dense.
[[nodiscard]] std::string describe(const tmajit::TensorView& view);
/// "compiled in 41.2 ms", "from disk in 0.1 ms"
[[nodiscard]] std::string describe_origin(const tmajit::Kernel& kernel);
/// "32 registers, no spills, 65.2 KiB shared memory (65.0 dynamic), 1 barrier"
[[nodiscard]] std::string describe_resources(const tmajit::Kernel& kernel, const LaunchNeeds& needs);
/// "3.5 MiB"
[[nodiscard]] std::string describe_bytes(std::uint64_t bytes);

/// The table of broken rules for people.
[[nodiscard]] std::string violation_table(const std::vector<tmajit::Violation>& violations,
                                          std::size_t width);

}  // namespace jitc
