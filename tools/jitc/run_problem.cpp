// Runs an operation on a device: `jitc run OPERATION`. `json` asks for a report in JSON instead of text.
#include "arrays.hpp"
#include "commands.hpp"
#include "device_arrays.hpp"
#include "files.hpp"
#include "move_reference.hpp"
#include "plan_kernels.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Kernel;
using tmajit::KernelPlan;

/// The files that --out names, one for each output, or none. They are opened before anything is run.
class OutputFiles {
 public:
  /// Throws Error{invalid_argument} if the number of files is wrong, or if a file is also another output or
  /// an input.
  OutputFiles(const std::vector<std::string>& paths, const Problem& problem) {
    if (!paths.empty() && paths.size() != problem.outputs.size()) {
      refuse("--out is given {}, but {} has {}", counted(paths.size(), "time"), problem.word,
             counted(problem.outputs.size(), "output"));
    }
    const std::vector<std::filesystem::path> written_files(paths.begin(), paths.end());
    std::vector<std::filesystem::path> read_files;
    for (const auto& input : problem.files) read_files.push_back(input.path());
    if (problem.into) read_files.push_back(problem.into->path());
    require_distinct(written_files, read_files);
    if (std::ranges::count(paths, tmajit::standard_stream) != 0 && is_terminal(STDOUT_FILENO))
      refuse("--out -: arrays are binary and would garble the terminal; send them to a file, by > or a pipe");
    for (const auto& path : paths) files_.push_back(std::make_unique<OutputArray>(path));
  }

  /// Reserves the files' space on the disk.
  void reserve(const Problem& problem) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& view = problem.outputs[i].view;
      elements_.push_back(
          files_[i]->reserve(problem.descr(problem.outputs[i]), tmajit::size_of(view.type), extents(view)));
    }
  }

  /// Copies the outputs from the device to the files, and adds the files' paths to the report.
  void write(const Problem& problem, const DeviceArrays& arrays, Json& report, bool json) {
    const Progress progress("writing");
    for (std::size_t i = 0; i < files_.size(); ++i) {
      arrays.read_elements(i, elements_[i]);
      files_[i]->commit();
      const auto path = files_[i]->path().string();
      report["outputs"].push_back(path);
      const auto& output = problem.outputs[i];
      if (!json)
        say("output", "{}: {} [{}]", path, problem.descr(output), fmt::join(extents(output.view), ", "));
    }
  }

 private:
  std::vector<std::unique_ptr<OutputArray>> files_;
  std::vector<std::span<std::byte>> elements_;  ///< each file's elements, mapped by reserve()
};

/// Throws Error{invalid_argument} if the CPU reference cannot compute the operation, as --check requires.
void require_checkable(const Problem& problem) {
  if (problem.request.family != nullptr && problem.request.family->writes_images) {
    refuse("--check: {} writes tiles in the layout of shared memory, which the CPU does not compute",
           problem.word);
  }
  for (const auto& move : problem.operation(problem.planning_addresses()).moves) {
    if (reference::understands(move)) continue;
    refuse(
        "--check has nothing to compare '{}' with: the CPU evaluates expressions of numbers, sources, + - * "
        "/, comparisons, ?:, casts and functions such as expf; in a reduction or a scan other than sum, the "
        "expression must be exact",
        problem.given.text("expression"));
  }
}

/// Compares the outputs with the CPU reference, and prints and reports the result. Returns whether all
/// outputs are correct.
bool check(const Problem& problem, const DeviceArrays& arrays, Json& report, bool json) {
  bool correct = true;
  const auto differences = arrays.compare_outputs();
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const auto& difference = differences[i];
    report["check"].push_back({{"name", problem.outputs[i].name},
                               {"elements", difference.elements},
                               {"wrong", difference.wrong},
                               {"stray_bytes", difference.stray_bytes}});
    const auto text = describe(problem.outputs[i], difference);
    if (!difference.none()) {
      correct = false;
      report_failure(tmajit::ErrorCode::internal, "--check: " + text, report);
    } else if (!json) {
      say("check", styled(text, Style::good, STDERR_FILENO));
    }
  }
  return correct;
}

/// Times the plan and, if there is an input, a copy by the driver for comparison, which moves no more bytes
/// than the plan. Prints both times and returns them as JSON.
Json time_on_gpu(tmajit::Device& device, const tmajit::Plan& plan, const DeviceArrays& arrays,
                 std::uint32_t repeat, bool json) {
  const std::uint64_t bytes = plan.bytes_moved();
  const auto measured_copy = [&]() -> Measurement {
    if (arrays.inputs().empty()) return {};
    const auto& from = arrays.inputs().front();
    const auto& to = arrays.outputs().front();
    // `size` bytes are read and as many are written.
    const auto size = std::min({from.bytes(), to.bytes(), std::max<std::uint64_t>(bytes / 2, 1)});
    return measure(device, 2 * size, repeat,
                   [&] { device.memory().copy(to.address(), from.address(), size, nullptr); });
  }();
  arrays.reset_outputs();
  const auto measured_plan = measure(device, bytes, repeat, [&] { plan(); });
  if (!json) say_time(measured_plan);
  Json report = to_json(measured_plan);
  if (measured_copy.repeats == 0) return report;
  report["driver_copy"] = to_json(measured_copy);
  if (!json) {
    say("copy", "the driver's own copy: {:.4f} ms, {:.0f} GB/s; the plan reaches {:.2f} of these GB/s",
        measured_copy.median_ms, measured_copy.gb_per_s(),
        measured_plan.gb_per_s() / measured_copy.gb_per_s());
  }
  return report;
}

void say_problem(const Problem& problem) {
  for (const auto& file : problem.files) {
    const auto& header = file.header();
    say("input", "{}: {} [{}], {} order, {}", file.path().string(), header.descr,
        fmt::join(header.shape, ", "), header.fortran_order ? "Fortran" : "C",
        describe_bytes(header.data_bytes));
  }
  for (const auto& note : problem.notes) say("note", note);
  say("problem", describe(problem));
}

void say_kernels(std::span<const KernelPlan> plans, std::span<const Kernel> kernels) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto artifact = kernels[i].artifact();
    say("kernel", describe(plans[i]));
    say("source", "{}, {}; PTX {}, cubin {}", artifact.entry, describe_bytes(artifact.source.size()),
        describe_bytes(artifact.ptx.size()), describe_bytes(artifact.cubin.size()));
    say("cubin", "{}: {}", describe_origin(kernels[i]),
        describe_resources(kernels[i], plans[i].launch_shape().shared_bytes));
  }
  if (plans.empty()) say("kernel", "none: there is nothing to move");
}

}  // namespace

int run_problem(const RunOptions& options, bool json) {
  const auto problem = make_problem(options.problem, Purpose::run);
  OutputFiles files(options.out, problem);
  if (options.check) require_checkable(problem);
  {
    // Planning needs no device, and reports broken rules before select_device() can report a missing device.
    auto runtime_without_device = planning_runtime(options.compiler);
    static_cast<void>(plan_kernels(problem, problem.planning_addresses(), runtime_without_device));
  }
  auto settings = runtime_options(options.compiler);
  const auto device_choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = device_choice.device;
  files.reserve(problem);
  say_choice(device_choice);
  if (!json) say_problem(problem);

  settings.device = device;
  tmajit::Runtime runtime(std::move(settings));
  const DeviceArrays arrays(device, problem, options.seed);
  const auto plan = [&] {
    const Progress progress("compiling");
    return tmajit::plan(runtime, problem.operation(arrays.addresses()), problem.request.family_name());
  }();
  const auto kernel_plans = plan.plans();
  const auto kernels = plan.kernels();
  if (!json) say_kernels(kernel_plans, kernels);

  Json report = to_json(problem);
  report["plan"]["steps"] = Json::array();
  auto& run = report["run"];
  run["device"] = to_json(device->info());
  for (std::size_t i = 0; i < kernel_plans.size(); ++i) {
    report["plan"]["steps"].push_back(to_json(kernel_plans[i], kernels[i]));
    if (!json) say_launch(device->info(), kernel_plans[i].launch_shape());
  }
  run["bytes"] = plan.bytes_moved();

  bool passed = true;
  if (device_choice.simulation && !kernel_plans.empty()) {
    std::vector<tmajit::Artifact> artifacts;
    for (const auto& kernel : kernels) artifacts.push_back(kernel.artifact());
    Artifacts artifact_pointers;
    for (const auto& artifact : artifacts) artifact_pointers.push_back(&artifact);
    passed = device_choice.simulation->run(
        artifact_pointers, [&] { plan(); }, report, json);
  } else if (!kernel_plans.empty()) {
    run.update(time_on_gpu(*device, plan, arrays, options.repeat, json));
    if (problem.request.combines()) {
      // Each timed run combined its results with the outputs once more. The outputs to check and write are
      // those of a single run.
      arrays.reset_outputs();
      plan();
      device->streams().synchronize(nullptr);
    }
  }
  report["outputs"] = Json::array();
  if (passed && options.check) passed = check(problem, arrays, report, json);
  if (passed || (device_choice.simulation && device_choice.simulation->writes_outputs(passed)))
    files.write(problem, arrays, report, json);
  print_result(options, device_choice, report, json);
  return passed ? exit_code::done : exit_code::problems_found;
}

}  // namespace jitc
