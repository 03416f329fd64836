// Runs kernels from files of CUDA C++ or PTX, as a launch file describes.
#include "check/kernel_name.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "own_kernel.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>

#include <vector>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// Allocates and fills the buffers of a description on a device. `file` is the launch file.
tmajit::DescribedLaunch upload(const tmajit::LaunchDescription& description, const std::string& file,
                               const std::shared_ptr<tmajit::Device>& device) {
  const Progress progress("copying to the device");
  return {description, file, device};
}

void write_outputs(tmajit::DescribedLaunch& launch, Json& report, bool json) {
  const Progress progress("copying from the device");
  for (const auto& path : launch.buffers().download()) {
    report["outputs"].push_back(path);
    if (!json) say("output", path);
  }
}

/// Prints the names of all kernels but the last.
void say_before(const std::vector<tmajit::Artifact>& artifacts) {
  for (std::size_t i = 0; i + 1 < artifacts.size(); ++i)
    say("before", "{}", tmajit::check::shown_name(artifacts[i].entry));
}

Json run_json(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape) {
  return {{"device", to_json(info)}, {"grid", shape.grid}, {"block", shape.block}};
}

}  // namespace

int run_ptx(const RunOptions& options, bool json) {
  const std::string name = tmajit::input_name(options.ptx);
  const InputFile file(options.ptx);
  const std::string ptx(file.text());
  const InputFile launch_file(options.own.launch);
  auto description = naming(options.own.launch, [&] { return tmajit::parse_launch(launch_file.text()); });
  if (!options.own.entry.empty()) description.entry = options.own.entry;
  if (!description.constants.empty() || !description.include.empty()) {
    refuse("{}: $: \"constants\" and \"include\" are for files of CUDA C++; {} is compiled already",
           tmajit::input_name(options.own.launch), name);
  }
  const auto entries = [&] {
    const Progress progress("reading");
    return tmajit::kernels_of(ptx, name);
  }();
  const auto folder = std::filesystem::path(options.own.launch).parent_path();
  std::string source;
  if (!description.source.empty()) source = InputFile(folder / description.source).text();
  std::vector<tmajit::Artifact> artifacts;
  for (const tmajit::KernelLaunch* const launch : description.launches()) {
    tmajit::Artifact& artifact = artifacts.emplace_back();
    artifact.ptx = ptx;
    artifact.source = source;
    artifact.entry = naming(options.own.launch, [&] { return tmajit::match_kernel(*launch, entries).name; });
  }

  const auto choice = select_device(options.device, options.simulation, true);
  const auto& device = choice.device;
  std::vector<std::unique_ptr<tmajit::LoadedKernel>> kernels;
  Artifacts shown;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    const Progress progress("loading");
    kernels.push_back(naming(name, [&] { return device->kernels().load(artifacts[i]); }));
    naming(options.own.launch,
           [&] { kernels[i]->allow_shared_bytes(description.launches()[i]->shared_bytes); });
    shown.push_back(&artifacts[i]);
  }
  auto launch = upload(description, options.own.launch, device);

  if (!json) {
    say_before(artifacts);
    say("kernel", "{} of {}", tmajit::check::shown_name(artifacts.back().entry), name);
    say_launch(device->info(), launch.shape());
  }
  Json report{
      {"ptx", name}, {"entry", artifacts.back().entry}, {"launch", Json::parse(launch_json(description))}};
  report["run"] = run_json(device->info(), launch.shape());
  const bool right = choice.simulation->run(
      shown, [&] { naming(options.own.launch, [&] { launch(kernels); }); }, report, json);
  report["outputs"] = Json::array();
  if (choice.simulation->writes_outputs(right)) write_outputs(launch, report, json);
  print_result(options, choice, report, json);
  return right ? exit_code::done : exit_code::problems_found;
}

int run_own_kernel(const RunOptions& options, bool json) {
  const std::string& path = options.problem.word;
  const tmajit::KernelFile file = read_own_kernel(path, options.own);
  auto chosen = runtime_options(options.compiler);
  const auto choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = choice.device;
  say_choice(choice);

  chosen.device = device;
  const tmajit::Runtime runtime(std::move(chosen));
  tmajit::LaunchDescription description = *file.launch;
  std::vector<tmajit::Kernel> compiled;
  std::vector<tmajit::Artifact> artifacts;
  for (const tmajit::KernelLaunch* const launch : description.launches()) {
    tmajit::OwnKernel own = file.kernel;
    if (launch != &description) own.entry = launch->entry;
    const Progress progress("compiling");
    const tmajit::Source source = naming(path, [&] { return tmajit::source(own); });
    artifacts.push_back(compiled.emplace_back(runtime.kernel(source, launch->shared_bytes)).artifact());
    tmajit::KernelLaunch named = *launch;
    named.entry = artifacts.back().entry;
    naming(options.own.launch, [&] {
      static_cast<void>(tmajit::match_kernel(named, tmajit::kernels_of(artifacts.back().ptx, path)));
    });
  }
  description.entry = artifacts.back().entry;
  const tmajit::Kernel& kernel = compiled.back();
  std::vector<const tmajit::Kernel*> kernels;
  Artifacts shown;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    kernels.push_back(&compiled[i]);
    shown.push_back(&artifacts[i]);
  }
  auto launch = upload(description, options.own.launch, device);

  if (!json) {
    say_before(artifacts);
    say("kernel", "{} of {}", tmajit::check::full_name(artifacts.back().entry), path);
    say("cubin", "{}: {}", describe_origin(kernel), describe_resources(kernel, description.shared_bytes));
    say_launch(device->info(), launch.shape());
  }
  Json report{{"file", path}, {"launch", Json::parse(launch_json(description))}};
  report.update(to_json(kernel, launch.shape()));
  report["run"] = run_json(device->info(), launch.shape());
  const auto run_once = [&] { naming(options.own.launch, [&] { launch(kernels); }); };
  report["outputs"] = Json::array();
  if (choice.simulation) {
    const bool right = choice.simulation->run(shown, run_once, report, json);
    if (choice.simulation->writes_outputs(right)) write_outputs(launch, report, json);
    print_result(options, choice, report, json);
    return right ? exit_code::done : exit_code::problems_found;
  }
  run_once();
  device->streams().synchronize(nullptr);
  // Outputs are written before further runs are timed, because a kernel may read its own outputs.
  write_outputs(launch, report, json);
  const Measurement measured = measure(*device, launch.buffers().bytes(), options.repeat, run_once);
  report["run"].update(to_json(measured));
  if (!json) say_time(measured);
  print_result(options, choice, report, json);
  return 0;
}

}  // namespace jitc
