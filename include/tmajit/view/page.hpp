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
  /// Reads a file that the PTX names as a source and `artifact.source` and `headers` do not hold; nothing if
  /// it cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read_source = {};
  std::vector<PageRow> rows = {};  ///< further facts about the kernel, for the page's head
  LintResult lint = {};
  /// The kernel's step of its plan, and no other step.
  std::optional<MoveExplanation> explanation = {};
  std::optional<double> measured_us = {};  ///< measured time of the kernel's choice, by `jitc tune`
  std::vector<ViewedTile> tiles = {};      ///< the page has a picture of each
};

/// The kernel of a plan's step, counted from 0: with its lint, its tiles, and the reasons for its choice.
/// `runtime` is the plan's. Throws Error{invalid_argument} if there is no such step.
[[nodiscard]] TMAJIT_API ViewedKernel viewed_kernel(const Runtime& runtime, const Plan& plan,
                                                    std::size_t step = 0);
/// The kernel of a file of CUDA C++: with its lint, and the tiles of its launch if one is described. Illegal
/// maps are left out. Throws as compile_kernel_file() does.
[[nodiscard]] TMAJIT_API ViewedKernel viewed_kernel(const Runtime& runtime, const KernelFile& file);
/// A module of PTX under the name `name`, with its lint. Sources that it names are read from their files,
/// if the files' names end like those of sources (.cu, .h, .py …).
[[nodiscard]] TMAJIT_API ViewedKernel viewed_ptx(std::string ptx, std::string_view name);

/// One HTML file that needs no other: source, PTX and SASS side by side. A line's counterparts in the other
/// texts are marked, together with the calls into which it was inlined. docs/view.md describes the page.
/// SASS needs nvdisasm; without it the page says why there is none. Thread-safe.
[[nodiscard]] TMAJIT_API std::string view_page(const ViewedKernel& kernel);

/// The same for two kernels, as a diff of their texts, resources and instructions.
[[nodiscard]] TMAJIT_API std::string view_page(const ViewedKernel& kernel, const ViewedKernel& other);

TMAJIT_END
