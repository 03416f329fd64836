#pragma once

#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

TMAJIT_BEGIN

// JSON is one value on one line.

/// A plan's family, choice, expected resources, parameters and launch.
[[nodiscard]] TMAJIT_API std::string plan_json(const KernelPlan& plan);
/// A compiled kernel with its launch shape: key, cache level, milliseconds of each stage, resources, sizes.
[[nodiscard]] TMAJIT_API std::string kernel_json(const Kernel& kernel, const LaunchShape& launch);
/// A view's type, shape and strides.
[[nodiscard]] TMAJIT_API std::string view_json(const TensorView& view);
/// The compiler's name, version, build and path.
[[nodiscard]] TMAJIT_API std::string compiler_json(const CompilerIdentity& compiler);
/// A list of broken rules.
[[nodiscard]] TMAJIT_API std::string violations_json(const std::vector<Violation>& violations);
/// Every field of an explanation.
[[nodiscard]] TMAJIT_API std::string explanation_json(const MoveExplanation& explanation);
/// "sentences", and the explanation of each operation, "plans".
[[nodiscard]] TMAJIT_API std::string explanation_json(const ChainPlan& chain);

/// "transpose 64x64, 256 threads: 1024 tiles, 1024 CTAs of 256 threads"
[[nodiscard]] TMAJIT_API std::string describe(const KernelPlan& plan);
/// "f32 128x64", with strides where they are not dense.
[[nodiscard]] TMAJIT_API std::string describe(const TensorView& view);
/// "f32 64x32 <- f32 32x64: transpose 64x64, 256 threads (1.9 us)": what a plan computes from what, and its
/// kernels with their predicted times.
[[nodiscard]] TMAJIT_API std::string describe(const Plan& plan);

/// Writes the text of describe(). <tmajit/report/fmt.hpp> formats it by fmt.
TMAJIT_API std::ostream& operator<<(std::ostream& out, const KernelPlan& plan);
TMAJIT_API std::ostream& operator<<(std::ostream& out, const TensorView& view);
TMAJIT_API std::ostream& operator<<(std::ostream& out, const Plan& plan);

/// "compiled in 41.2 ms", "from the disk cache in 0.10 ms"
[[nodiscard]] TMAJIT_API std::string describe_origin(const Kernel& kernel);
/// "32 registers, no spills, 65.2 KiB shared memory, 1 barrier", for a launch with `shared_bytes` of dynamic
/// shared memory.
[[nodiscard]] TMAJIT_API std::string describe_resources(const Kernel& kernel, std::uint32_t shared_bytes);

/// A table of broken rules, at most `width` columns wide.
[[nodiscard]] TMAJIT_API std::string violations_text(const std::vector<Violation>& violations,
                                                     std::size_t width);

/// A heading on the left and a text on the right of a page.
struct PageRow {
  std::string heading;
  std::string text;
};

/// An explanation as a page, at most `width` columns wide, under `title` and the rows `first`; with ANSI
/// colours if `colour`.
[[nodiscard]] TMAJIT_API std::string explanation_text(const std::string& title,
                                                      const std::vector<PageRow>& first,
                                                      const MoveExplanation& explanation, std::size_t width,
                                                      bool colour);

TMAJIT_END
