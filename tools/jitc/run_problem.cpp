// Runs an operation on a device: `jitc run OPERATION`. `json` asks for a report in JSON instead of text.
#include "arrays.hpp"
#include "chain_arrays.hpp"
#include "commands.hpp"
#include "files.hpp"
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
  OutputFiles(const std::vector<std::string>& paths, const Chain& chain) {
    const Problem& last = chain.last();
    if (!paths.empty() && paths.size() != last.outputs.size()) {
      refuse("--out is given {}, but {} has {}", counted(paths.size(), "time"), last.word,
             counted(last.outputs.size(), "output"));
    }
    const std::vector<std::filesystem::path> written_files(paths.begin(), paths.end());
    std::vector<std::filesystem::path> read_files;
    for (const auto& input : chain.first().files) read_files.push_back(input.path());
    if (chain.first().into) read_files.push_back(chain.first().into->path());
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

/// Throws Error{invalid_argument} if the CPU reference cannot compute the operations, as --check requires.
/// `operations` are those that run, at any addresses.
void require_checkable(const Chain& chain, std::span<const tmajit::Operation> operations) {
  const auto* const family = chain.first().request.family;
  if (family != nullptr && family->writes_images) {
    refuse("--check: {} writes tiles in the layout of shared memory, which the CPU does not compute",
           chain.first().word);
  }
  const auto understands = [](const tmajit::Operation& operation) {
    return std::ranges::all_of(operation.moves,
                               [](const auto& move) { return reference::understands(move); });
  };
  const auto at = chain.planning_addresses();
  for (std::size_t k = 0; k < chain.steps.size(); ++k) {
    if (understands(chain.steps[k].operation(at[k]))) continue;
    refuse(
        "--check has nothing to compare '{}' with: the CPU evaluates expressions of numbers, sources, + - * "
        "/, comparisons, ?:, casts and functions such as expf; in a reduction to indices or truth values, "
        "the "
        "expression must be exact",
        chain.steps[k].given.text("expression"));
  }
  if (std::ranges::all_of(operations, understands)) return;
  refuse(
      "--check cannot compare the fused chain: a reduction to indices or truth values is fused with an "
      "expression that is not exact; check the operations one by one");
}

/// Compares the outputs with the CPU reference, and prints and reports the result. Returns whether all
/// outputs are correct.
bool check(const ChainArrays& arrays, std::span<const tmajit::Operation> operations, Json& report,
           bool json) {
  bool correct = true;
  for (const auto& [array, difference] : arrays.compare_outputs(operations)) {
    report["check"].push_back({{"name", array->name},
                               {"elements", difference.elements},
                               {"wrong", difference.wrong},
                               {"stray_bytes", difference.stray_bytes}});
    const auto text = describe(*array, difference);
    if (!difference.none()) {
      correct = false;
      report_failure(tmajit::ErrorCode::internal, "--check: " + text, report);
    } else if (!json) {
      say("check", styled(text, Style::good, STDERR_FILENO));
    }
  }
  return correct;
}

/// Times `launch`, which moves `bytes`, and, if there is an input, a copy by the driver for comparison, which
/// moves no more. Prints both times and returns them as JSON.
Json time_on_gpu(tmajit::Device& device, const std::function<void()>& launch, std::uint64_t bytes,
                 const ChainArrays& arrays, std::uint32_t repeat, bool json) {
  const auto measured_copy = [&]() -> Measurement {
    if (arrays.first().inputs().empty()) return {};
    const auto& from = arrays.first().inputs().front();
    const auto& to = arrays.last().outputs().front();
    // `size` bytes are read and as many are written.
    const auto size = std::min({from.bytes(), to.bytes(), std::max<std::uint64_t>(bytes / 2, 1)});
    return measure(device, 2 * size, repeat,
                   [&] { device.memory().copy(to.address(), from.address(), size, nullptr); });
  }();
  arrays.reset_outputs();
  const auto measured_plan = measure(device, bytes, repeat, launch);
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

void say_problem(const Chain& chain) {
  for (const auto& file : chain.first().files) {
    const auto& header = file.header();
    say("input", "{}: {} [{}], {} order, {}", file.path().string(), header.descr,
        fmt::join(header.shape, ", "), header.fortran_order ? "Fortran" : "C",
        describe_bytes(header.data_bytes));
  }
  for (const Problem& step : chain.steps) {
    for (const auto& note : step.notes) say("note", note);
    say(&step == &chain.first() ? "problem" : "then", describe(step));
  }
}

void say_fusion(const Chain& chain, std::span<const std::string> sentences, std::size_t kernels) {
  if (chain.is_single()) return;
  for (const std::string& sentence : sentences) say("fusion", "{}", sentence);
  say("chain", "{}", describe_kernels(chain, kernels));
}

void say_kernels(std::span<const KernelPlan> plans, std::span<const Kernel> kernels) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto artifact = kernels[i].artifact();
    say("kernel", describe(plans[i]));
    say("source", "{}, {}; PTX {}, cubin {}", artifact.entry, describe_bytes(artifact.source.size()),
        describe_bytes(artifact.ptx.size()), describe_bytes(artifact.cubin.size()));
    if (artifact.cubin.empty()) {
      say("cubin", "none; the PTX is {}", describe_origin(kernels[i]));
    } else {
      say("cubin", "{}: {}", describe_origin(kernels[i]),
          describe_resources(kernels[i], plans[i].launch_shape().shared_bytes));
    }
  }
  if (plans.empty()) say("kernel", "none: there is nothing to move");
}

}  // namespace

int run_problem(const RunOptions& options, bool json) {
  const auto chain = make_chain(options.problem, options.then, Purpose::run);
  OutputFiles files(options.out, chain);
  {
    // Planning needs no device, and reports broken rules before select_device() can report a missing device.
    auto runtime_without_device = planning_runtime(options.compiler);
    const auto fusion = chain.fusion(chain.planning_addresses());
    if (options.check) require_checkable(chain, fusion.operations);
    for (const auto& operation : fusion.operations)
      static_cast<void>(plan_kernels(operation, chain.first().request, runtime_without_device));
  }
  auto settings = runtime_options(options.compiler);
  const auto device_choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = device_choice.device;
  files.reserve(chain.last());
  say_choice(device_choice);
  if (!json) say_problem(chain);

  settings.device = device;
  tmajit::Runtime runtime(std::move(settings));
  const ChainArrays arrays(device, chain, options.seed);
  const auto fusion = chain.fusion(arrays.addresses());
  std::vector<tmajit::Plan> plans;
  std::vector<KernelPlan> kernel_plans;
  std::vector<Kernel> kernels;
  std::uint64_t bytes = 0;
  {
    const Progress progress("compiling");
    for (const auto& operation : fusion.operations) {
      const auto& plan =
          plans.emplace_back(tmajit::plan(runtime, operation, chain.first().request.family_name()));
      kernel_plans.insert(kernel_plans.end(), plan.plans().begin(), plan.plans().end());
      kernels.insert(kernels.end(), plan.kernels().begin(), plan.kernels().end());
      bytes += plan.bytes_moved();
    }
  }
  const auto launch = [&] {
    for (const auto& plan : plans) plan();
  };
  if (!json) {
    say_fusion(chain, fusion.sentences, kernels.size());
    say_kernels(kernel_plans, kernels);
  }

  Json report = to_json(chain);
  if (!chain.is_single()) report["sentences"] = fusion.sentences;
  report["plan"]["steps"] = Json::array();
  auto& run = report["run"];
  run["device"] = to_json(device->info());
  for (std::size_t i = 0; i < kernel_plans.size(); ++i) {
    report["plan"]["steps"].push_back(to_json(kernel_plans[i], kernels[i]));
    if (!json) say_launch(device->info(), kernel_plans[i].launch_shape());
  }
  run["bytes"] = bytes;

  bool passed = true;
  if (device_choice.simulation && !kernel_plans.empty()) {
    std::vector<tmajit::Artifact> artifacts;
    for (const auto& kernel : kernels) artifacts.push_back(kernel.artifact());
    Artifacts artifact_pointers;
    for (const auto& artifact : artifacts) artifact_pointers.push_back(&artifact);
    passed = device_choice.simulation->run(artifact_pointers, launch, report, json);
  } else if (!kernel_plans.empty()) {
    run.update(time_on_gpu(*device, launch, bytes, arrays, options.repeat, json));
    if (chain.combines()) {
      // Each timed run combined its results with the outputs once more. The outputs to check and write are
      // those of a single run.
      arrays.reset_outputs();
      launch();
      device->streams().synchronize(nullptr);
    }
  }
  report["outputs"] = Json::array();
  if (passed && options.check) passed = check(arrays, fusion.operations, report, json);
  if (passed || (device_choice.simulation && device_choice.simulation->writes_outputs(passed)))
    files.write(chain.last(), arrays.last(), report, json);
  print_result(options, device_choice, report, json);
  return passed ? exit_code::done : exit_code::problems_found;
}

}  // namespace jitc
