#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "ptx_launch.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {

Json to_json(const tmajit::DeviceInfo& info) {
  return {{"name", info.name},
          {"simulated", info.ordinal < 0},
          {"ordinal", info.ordinal},
          {"compute_capability", fmt::format("{}.{}", info.compute_major, info.compute_minor)},
          {"sm_count", info.sm_count},
          {"memory_bytes", info.memory_bytes}};
}

void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape) {
  const auto count = [](const std::array<std::uint32_t, 3>& n) { return std::uint64_t{n[0]} * n[1] * n[2]; };
  const auto number = info.ordinal < 0 ? std::string() : fmt::format(" ({})", info.ordinal);
  say("run", "{}{}: {} of {} threads", info.name, number, counted(count(shape.grid), "CTA"),
      count(shape.block));
}

namespace {

/// A kernel from elsewhere, on the simulated device.
int run_ptx(const RunOptions& options, bool json) {
  tmajit::Artifact artifact;
  artifact.ptx = InputFile(options.ptx).text();
  const InputFile launch_file(options.launch);
  const auto description = naming(options.launch, [&] { return parse_launch(launch_file.text()); });
  const auto kernels = kernels_of(artifact.ptx, options.ptx);
  artifact.entry = naming(options.launch, [&] { return match_kernel(description, kernels).name; });

  const auto folder = std::filesystem::path(options.launch).parent_path();
  if (!description.source.empty()) artifact.source = InputFile(folder / description.source).text();

  const auto choice = select_device(options.device, options.simulation, true);
  const auto& device = choice.device;
  const auto kernel = naming(options.ptx, [&] { return device->kernels().load(artifact); });
  const tmajit::LaunchShape shape{.grid = description.grid,
                                  .block = description.block,
                                  .shared_bytes = description.shared_bytes,
                                  .cluster = description.cluster};
  naming(options.launch, [&] { kernel->allow_shared_bytes(shape.shared_bytes); });

  auto buffers = naming(options.launch, [&] { return LaunchBuffers(description, folder); });
  buffers.upload(device);
  auto bytes = naming(options.launch, [&] { return buffers.parameter_bytes(description.parameters); });
  std::vector<void*> parameters;
  parameters.reserve(bytes.size());
  for (auto& parameter : bytes) parameters.push_back(parameter.data());
  buffers.open_outputs();

  if (!json) {
    say("kernel", "{} of {}", artifact.entry, options.ptx);
    say_launch(device->info(), shape);
  }
  Json report{{"ptx", options.ptx}, {"entry", artifact.entry}, {"launch", to_json(description)}};
  report["run"] = {{"device", to_json(device->info())}, {"grid", shape.grid}, {"block", shape.block}};
  const auto launch = [&] { naming(options.launch, [&] { kernel->launch(shape, parameters, nullptr); }); };
  const bool right = choice.simulation->run({&artifact}, launch, report, json);
  report["outputs"] = Json::array();
  if (right) {
    for (const auto& path : buffers.download()) {
      report["outputs"].push_back(path);
      if (!json) say("output", path);
    }
  }
  if (json) print_json(report);
  return right ? 0 : 1;
}

constexpr auto elsewhere_group = "Kernel from elsewhere";

/// An OPERATION with its options, or --ptx and --launch alone.
void check_usage(const CLI::App& command, const RunOptions& options) {
  const auto& word = options.problem.word;
  if (options.ptx.empty()) {
    if (word.empty()) refuse("OPERATION is required, or --ptx FILE with --launch FILE");
    return;
  }
  if (!word.empty()) refuse("{} and --ptx: a run has one kernel", word);
  constexpr std::array theirs{simulation_group, "OPTIONS", "Options", elsewhere_group};
  constexpr std::array ours{"--repeat", "--check", "--seed"};
  for (const auto* option : command.get_options()) {
    const auto is = [&](const auto& words, const std::string& text) {
      return std::find(words.begin(), words.end(), text) != words.end();
    };
    if (option->count() > 0 && (!is(theirs, option->get_group()) || is(ours, option->get_name()))) {
      refuse("{} is an option of OPERATION; a kernel from --ptx is described by --launch alone",
             option->get_name());
    }
  }
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("run",
                                      "Run an operation on .npy files or made-up elements: timed beside the "
                                      "driver's own copy on a GPU, or checked "
                                      "on the simulated device");
  auto options = std::make_shared<RunOptions>();
  OptionGroup group(command);
  OptionGroup tensors(command, tensors_group);
  add_problem_options(command, options->problem);
  command.get_option("OPERATION")->required(false);
  command.add_flag(
      "--check", options->check,
      "Compare the outputs, and what lies beside them, with a plain walk on the CPU; a difference makes "
      "the exit code 1. For everything but expressions and snapshots");
  group.add("--seed", options->seed, "N", "Of the elements of inputs that no file gives");
  add_compiler_options(command, options->compiler);
  tensors.add_list("--out", options->out, "FILE",
                   "The output as .npy, once for each of split; default: only run");
  group.add("--device", options->device, "DEVICE",
            "auto: the first Hopper GPU, else sim; gpu: the first Hopper GPU; gpu:N: the driver's GPU N; "
            "sim: a simulated one, which reports what the kernel does wrong");
  group.add_number("--repeat", options->repeat, "N", "Timed runs on a GPU, after the first", 1, 1'000'000);
  add_simulation_options(command, options->simulation);
  OptionGroup elsewhere(command, elsewhere_group);
  auto* const ptx =
      elsewhere.add("--ptx", options->ptx, "FILE", "Check a kernel of this PTX file on the simulated device");
  auto* const launch = elsewhere.add("--launch", options->launch, "FILE",
                                     "Its launch as JSON: grid, block, parameters; docs/run.md");
  ptx->needs(launch);
  launch->needs(ptx);
  command.footer(
      "A planner chooses the kernel. With an option of Tiles or Pipeline, and for bulk and snapshot, its "
      "tile is your\n"
      "choice; the name of a family (rows, transpose …) takes the best kernel of that family.\n"
      "Element type and shape come from the files; without --in, inputs have --shape and made-up elements. "
      "Rows that a\n"
      "tile cannot be loaded from as they are get padded on the device; give --strides to choose the layout "
      "yourself.\n"
      "The simulated device runs the kernels once, and its reports make the exit code 1.\n\n"
      "Examples:\n"
      "  jitc run copy --in a.npy --out y.npy --box 64x64 --swizzle 128B\n"
      "  jitc run map --expr 'x0 / (1.0f + expf(-x0)) * x1' --in a.npy --in b.npy --out y.npy\n"
      "  jitc run map --expr 'x + 8*t[0] + t[1]' --in a.npy --out y.npy --dtype bf16\n"
      "  jitc run bulk --expr 'x + 1' --in a.npy --out y.npy --json\n"
      "  jitc run snapshot --in a.npy --out tiles.npy --box 8x64 --swizzle 128B\n"
      "  jitc run copy --in a.npy --device sim --sim-mode random --sim-seed 7\n"
      "  jitc run permute --axes 0,2,1,3 --in a.npy --out y.npy\n"
      "  jitc run permute --axes 1,0 --shape 4095x8193 --dtype bf16 --check\n"
      "  jitc run copy --slice 10:20,::2 --pad 1,1:2,2 --in a.npy --out y.npy\n"
      "  jitc run cast --out-dtype bf16 --in a.npy --out y.npy\n"
      "  jitc run split --axis 0 --parts 10,20 --in a.npy --out b.npy --out c.npy\n"
      "  jitc run --ptx kernel.ptx --launch launch.json");
  add_action(command, session, [options, &command](bool json) {
    check_usage(command, *options);
    for (const auto* option : command.get_options()) {
      options->wants_simulation |= option->count() > 0 && option->get_group() == simulation_group;
    }
    return options->ptx.empty() ? run_problem(*options, json) : run_ptx(*options, json);
  });
}

}  // namespace jitc
