#pragma once

#include "machine.hpp"
#include "program.hpp"

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class RawNvrtc;

/// Command line of tmajit-bench: the measurements of a run.
struct Options : ProgramOptions {
  std::vector<std::string> only;           ///< groups of cases; empty: all
  std::vector<std::uint64_t> sizes;        ///< bytes of a case's largest operand
  std::vector<tmajit::ElementType> types;  ///< element types
  std::string sweep;           ///< family whose tiles are measured, instead of all other measurements
  std::string expression;      ///< expression of a sweep
  std::size_t limit = 500;     ///< candidates of a sweep
  std::filesystem::path pack;  ///< the pack of the group cold; empty: those that come with the library
  std::string probe;           ///< internal: what a new process times, such as "tmajit:copy" or "cold:…"

  [[nodiscard]] bool wants(std::string_view group) const;
  [[nodiscard]] bool wants_bandwidth() const;
};

/// Fills `options`. Returns an exit code if there is nothing to run.
std::optional<int> parse(int argc, char** argv, Options& options);

/// Measures the bandwidth of the kernels that take a tile from their caller (tiles()), in every type and size
/// that the options name.
void measure_bandwidth(const Options& options, Machine& machine, Report& report);
/// Measures for every family the time to plan and to compile a kernel, and to take it from the disk cache and
/// from memory. Needs no GPU.
void measure_jit(const Options& options, Report& report);
/// Measures NVRTC's time for representative kernels, as multiples of its time for an empty kernel. Temporary
/// files are written to `folder`.
void measure_compile_time(const Options& options, const RawNvrtc& nvrtc, const std::filesystem::path& folder,
                          Report& report);
/// Measures the host time of a launch.
void measure_launch(const Options& options, Machine& machine, Report& report);
/// For each of the library's ways to launch, measures the host time that it adds to the driver's own launch:
/// on the GPU, and on a device whose calls are no-ops, which needs no GPU.
void measure_dispatch(const Options& options, Machine* gpu, Report& report);
/// Measures first calls whose kernels are on disk, or are served by others (WhenMissing::serve), and the swap
/// to the planned kernel: on a device whose calls are no-ops, and on the GPU, where it also compares the
/// speed of both kernels.
void measure_ready(const Options& options, Machine* gpu, Report& report);
/// Measures the first calls of random operations, each in a new process that has a device and takes kernels
/// from a pack (WhenMissing::serve): on a device whose calls are no-ops, and on the GPU.
void measure_cold(const Options& options, const Machine* gpu, Report& report);
/// Counts the kernels that a program makes when it uses many shapes. It only plans, so it needs no GPU.
void measure_kernels(const Options& options, Report& report);
/// Measures many tiles of one family and reports the fastest.
void sweep(const Options& options, Machine& machine, Report& report);
/// `--probe`: compiles what `probe` names, as the first compile of this process, and prints its wall-clock
/// and CPU milliseconds.
void run_probe(const std::string& probe);
/// `--probe cold:…`: does what `probe` names as the first operation of this process, and prints the
/// microseconds of the call, and how the kernels were found.
void run_cold_probe(const std::string& probe);
inline constexpr std::string_view cold_probe = "cold:";

}  // namespace bench
