#pragma once

#include <tmajit/box_layout.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/launch/description.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/move.hpp>
#include <tmajit/report/plan.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A tile in shared memory that a tensor map loads or stores.
struct ViewedTile {
  std::string name;  ///< the kernel's parameter that is the map: "inputs"
  BoxLayout layout;
};

/// A kernel to show in a page. Only `artifact.ptx` is required; the page says what is missing.
struct ViewedKernel {
  std::string title = {};  ///< "permute --axes 1,0: f32 64x32 -> f32 32x64"
  Artifact artifact = {};
  SourceHeaders headers = {};  ///< headers that the source includes (Source::headers)
  /// Reads a source file that the PTX names, if `artifact.source` is empty and `headers` does not have it.
  /// Returns nullopt if the file cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read_source = {};
  std::vector<PageRow> rows = {};  ///< more facts about the kernel, shown below its title
  LintResult lint = {};
  /// The plan's explanation, with this kernel's step alone.
  std::optional<MoveExplanation> explanation = {};
  std::optional<double> measured_us = {};  ///< time that `jitc tune` measured for the kernel's choice
  std::vector<ViewedTile> tiles = {};      ///< the page shows a picture of each
};

/// The kernel of a plan's step, with lint's findings, its tiles, and the reasons for its choice. Steps are
/// counted from 0. `runtime` is the plan's. Throws Error{invalid_argument} for a step out of range.
[[nodiscard]] TMAJIT_API ViewedKernel viewed_kernel(const Runtime& runtime, const Plan& plan,
                                                    std::size_t step = 0);
/// The kernel of a file of CUDA C++, with lint's findings. If `file.launch` is given, the tiles of its tensor
/// maps are added; illegal maps have none. Throws as compile_kernel_file() does.
[[nodiscard]] TMAJIT_API ViewedKernel viewed_kernel(const Runtime& runtime, const KernelFile& file);
/// A module of PTX with the title `name` and lint's findings. view_page() reads the source files that the
/// module names, if their names end in .cu, .h, .py or another suffix of sources.
[[nodiscard]] TMAJIT_API ViewedKernel viewed_ptx(std::string ptx, std::string_view name);

/// An HTML file that loads no other file: source, PTX and SASS side by side. The page marks a line's
/// counterparts in the other texts, and the calls through which it was inlined. docs/view.md describes it.
/// SASS needs nvdisasm; without it the page says why SASS is missing. Thread-safe.
[[nodiscard]] TMAJIT_API std::string view_page(const ViewedKernel& kernel);

/// The page of two kernels: a diff of their texts, resources and numbers of instructions.
[[nodiscard]] TMAJIT_API std::string view_page(const ViewedKernel& kernel, const ViewedKernel& other);

TMAJIT_END
