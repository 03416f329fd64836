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

/// The files that --out names, opened before anything is run.
class OutputFiles {
 public:
  OutputFiles(const std::vector<std::string>& paths, const Problem& problem) {
    if (!paths.empty() && paths.size() != problem.outputs.size()) {
      refuse("--out is given {}, but {} has {}", counted(paths.size(), "time"), problem.word,
             counted(problem.outputs.size(), "output"));
    }
    std::vector<std::filesystem::path> all(paths.begin(), paths.end());
    for (const auto& input : problem.files) all.push_back(input.path());
    if (problem.into) all.push_back(problem.into->path());
    require_distinct(std::span(all).first(paths.size()), std::span(all).subspan(paths.size()));
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
  std::vector<std::span<std::byte>> elements_;  ///< the mapped elements of each file, after reserve()
};

/// Refuses --check, before anything runs, for operations that the CPU does not compute.
void require_checkable(const Problem& problem) {
  if (problem.request.family != nullptr && problem.request.family->writes_images) {
    refuse("--check: {} writes tiles in the layout of shared memory, which the CPU does not compute",
           problem.word);
  }
  for (const auto& move : problem.operation(problem.planning_addresses()).moves) {
    if (reference::understands(move)) continue;
    refuse(
        "--check has nothing to compare '{}' with: the CPU evaluates expressions of numbers, sources, + - * "
        "/, comparisons, ?:, casts and functions such as expf; in a reduction or a scan other than sum, they "
        "must be exact",
        problem.given.text("expression"));
  }
}

/// Whether the outputs are right; prints and reports the differences.
bool check(const Problem& problem, const DeviceArrays& arrays, Json& report, bool json) {
  bool right = true;
  const auto differences = arrays.compare_outputs();
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const auto& difference = differences[i];
    report["check"].push_back({{"name", problem.outputs[i].name},
                               {"elements", difference.elements},
                               {"wrong", difference.wrong},
                               {"stray_bytes", difference.stray_bytes}});
    const auto text = describe(problem.outputs[i], difference);
    if (!difference.none()) {
      right = false;
      report_failure(tmajit::ErrorCode::internal, "--check: " + text, report);
    } else if (!json) {
      say("check", styled(text, Style::good, STDERR_FILENO));
    }
  }
  return right;
}

/// Times the launches and, if there is an input, the driver's copy of up to as many bytes; reports both.
Json time_on_gpu(tmajit::Device& device, const tmajit::Plan& plan, const DeviceArrays& arrays,
                 std::uint32_t repeat, bool json) {
  const std::uint64_t bytes = plan.bytes_moved();
  Json report;
  const auto measured_copy = [&]() -> Measurement {
    if (arrays.inputs().empty()) return {};
    const auto& from = arrays.inputs().front();
    const auto& to = arrays.outputs().front();
    const auto size = std::min({from.bytes(), to.bytes(), std::max<std::uint64_t>(bytes / 2, 1)});
    return measure(device, 2 * size, repeat,
                   [&] { device.memory().copy(to.address(), from.address(), size, nullptr); });
  }();
  arrays.reset_outputs();
  const auto measured = measure(device, bytes, repeat, [&] { plan(); });
  if (!json) {
    say_time(measured);
  }
  report = to_json(measured);
  if (measured_copy.repeats == 0) return report;
  report["driver_copy"] = to_json(measured_copy);
  if (!json) {
    say("copy", "the driver's own copy: {:.4f} ms, {:.0f} GB/s; this reaches {:.2f} of that",
        measured_copy.median_ms, measured_copy.gb_per_s(), measured.gb_per_s() / measured_copy.gb_per_s());
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
    // Broken rules are reported before a device is looked for.
    auto planning = planning_runtime(options.compiler);
    static_cast<void>(plan_kernels(problem, problem.planning_addresses(), planning));
  }
  auto chosen = runtime_options(options.compiler);
  const auto choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = choice.device;
  files.reserve(problem);
  say_choice(choice);
  if (!json) say_problem(problem);

  chosen.device = device;
  tmajit::Runtime runtime(std::move(chosen));
  const DeviceArrays arrays(device, problem, options.seed);
  const auto plan = [&] {
    const Progress progress("compiling");
    return tmajit::plan(runtime, problem.operation(arrays.addresses()), problem.request.family_name());
  }();
  const auto plans = plan.plans();
  const auto kernels = plan.kernels();
  if (!json) say_kernels(plans, kernels);

  Json report = to_json(problem);
  report["plan"]["steps"] = Json::array();
  auto& run = report["run"];
  run["device"] = to_json(device->info());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    report["plan"]["steps"].push_back(to_json(plans[i], kernels[i]));
    if (!json) say_launch(device->info(), plans[i].launch_shape());
  }
  run["bytes"] = plan.bytes_moved();

  bool right = true;
  if (choice.simulation && !plans.empty()) {
    std::vector<tmajit::Artifact> compiled;
    for (const auto& kernel : kernels) compiled.push_back(kernel.artifact());
    Artifacts artifacts;
    for (const auto& each : compiled) artifacts.push_back(&each);
    right = choice.simulation->run(
        artifacts, [&] { plan(); }, report, json);
  } else if (!plans.empty()) {
    run.update(time_on_gpu(*device, plan, arrays, options.repeat, json));
    if (problem.request.combines()) {
      // The timed runs combined several times; the outputs must show one run.
      arrays.reset_outputs();
      plan();
      device->streams().synchronize(nullptr);
    }
  }
  report["outputs"] = Json::array();
  if (right && options.check) right = check(problem, arrays, report, json);
  if (right || (choice.simulation && choice.simulation->writes(right)))
    files.write(problem, arrays, report, json);
  print_result(options, choice, report, json);
  return right ? exit_code::done : exit_code::found;
}

}  // namespace jitc
