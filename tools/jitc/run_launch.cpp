// Kernels that a launch description launches: of a file of CUDA C++, or PTX from elsewhere.
#include "check/kernel_name.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "own_kernel.hpp"
#include "ptx_kernels.hpp"
#include "ptx_launch.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <functional>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// A description with its buffers on a device.
class DescribedLaunch {
 public:
  /// `file` is the description's, which messages name.
  DescribedLaunch(const LaunchDescription& launch, const std::filesystem::path& folder, std::string file,
                  const std::shared_ptr<tmajit::Device>& device)
      : file_(std::move(file)),
        shape_(shape_of(launch)),
        buffers_(naming(file_, [&] { return LaunchBuffers(launch, folder); })) {
    buffers_.upload(device);
    bytes_ = naming(file_, [&] { return buffers_.parameter_bytes(launch.parameters); });
    for (auto& parameter : bytes_) parameters_.push_back(parameter.data());
    buffers_.open_outputs();
  }

  /// Launches `kernel`, a Kernel or a LoadedKernel.
  template <class Kernel>
  void operator()(const Kernel& kernel) const {
    naming(file_, [&] { kernel.launch(shape_, parameters_, nullptr); });
  }
  [[nodiscard]] const tmajit::LaunchShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::uint64_t bytes() const { return buffers_.bytes(); }

  void write_outputs(Json& report, bool json) {
    for (const auto& path : buffers_.download()) {
      report["outputs"].push_back(path);
      if (!json) say("output", path);
    }
  }

 private:
  std::string file_;
  tmajit::LaunchShape shape_;
  LaunchBuffers buffers_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<void*> parameters_;
};

Json run_json(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape) {
  return {{"device", to_json(info)}, {"grid", shape.grid}, {"block", shape.block}};
}

}  // namespace

int run_ptx(const RunOptions& options, bool json) {
  tmajit::Artifact artifact;
  artifact.ptx = InputFile(options.ptx).text();
  const InputFile launch_file(options.own.launch);
  auto description = naming(options.own.launch, [&] { return parse_launch(launch_file.text()); });
  if (!options.own.entry.empty()) description.entry = options.own.entry;
  if (!description.constants.empty() || !description.include.empty()) {
    refuse("{}: $: \"constants\" and \"include\" are for files of CUDA C++; {} is compiled already",
           options.own.launch, options.ptx);
  }
  const auto kernels = kernels_of(artifact.ptx, options.ptx);
  artifact.entry = naming(options.own.launch, [&] { return match_kernel(description, kernels).name; });

  const auto folder = std::filesystem::path(options.own.launch).parent_path();
  if (!description.source.empty()) artifact.source = InputFile(folder / description.source).text();

  const auto choice = select_device(options.device, options.simulation, true);
  const auto& device = choice.device;
  const auto kernel = naming(options.ptx, [&] { return device->kernels().load(artifact); });
  naming(options.own.launch, [&] { kernel->allow_shared_bytes(description.shared_bytes); });
  DescribedLaunch launch(description, folder, options.own.launch, device);

  if (!json) {
    say("kernel", "{} of {}", tmajit::check::shown_name(artifact.entry), options.ptx);
    say_launch(device->info(), launch.shape());
  }
  Json report{{"ptx", options.ptx}, {"entry", artifact.entry}, {"launch", to_json(description)}};
  report["run"] = run_json(device->info(), launch.shape());
  const bool right = choice.simulation->run(
      {&artifact}, [&] { launch(*kernel); }, report, json);
  report["outputs"] = Json::array();
  if (choice.simulation->writes(right)) launch.write_outputs(report, json);
  print_result(options, choice, report, json);
  return right ? exit_code::done : exit_code::found;
}

int run_own_kernel(const RunOptions& options, bool json) {
  const std::string& path = options.problem.word;
  const OwnFile file = read_own_kernel(path, options.own);
  const tmajit::Source source = naming(path, [&] { return tmajit::source(file.kernel); });
  auto chosen = runtime_options(options.compiler);
  const auto choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = choice.device;
  say_choice(choice);

  chosen.device = device;
  const tmajit::Runtime runtime(std::move(chosen));
  LaunchDescription description = *file.launch;
  const auto kernel = [&] {
    const Progress progress("compiling");
    return runtime.kernel(source, description.shared_bytes);
  }();
  const tmajit::Artifact artifact = kernel.artifact();
  description.entry = artifact.entry;
  naming(options.own.launch,
         [&] { static_cast<void>(match_kernel(description, kernels_of(artifact.ptx, path))); });
  DescribedLaunch launch(description, file.launch_folder, options.own.launch, device);

  if (!json) {
    say("kernel", "{} of {}", shown_entry(artifact.entry), path);
    say("cubin", "{}: {}", describe_origin(kernel), describe_resources(kernel, description.shared_bytes));
    say_launch(device->info(), launch.shape());
  }
  Json report{{"file", path}, {"launch", to_json(description)}};
  report.update(to_json(kernel, launch.shape()));
  report["run"] = run_json(device->info(), launch.shape());
  const auto run_once = [&] { launch(kernel); };
  report["outputs"] = Json::array();
  if (choice.simulation) {
    const bool right = choice.simulation->run({&artifact}, run_once, report, json);
    if (choice.simulation->writes(right)) launch.write_outputs(report, json);
    print_result(options, choice, report, json);
    return right ? exit_code::done : exit_code::found;
  }
  run_once();
  device->streams().synchronize(nullptr);
  launch.write_outputs(report, json);  // of the first run: a kernel may read what it writes
  const Measurement measured = measure(*device, launch.bytes(), options.repeat, run_once);
  report["run"].update(to_json(measured));
  if (!json) say_time(measured);
  print_result(options, choice, report, json);
  return 0;
}

}  // namespace jitc
