#include "commands.hpp"
#include "run.hpp"
#include "terminal.hpp"

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

void say_choice(const DeviceChoice& choice) {
  if (choice.why.empty()) return;
  say("device", styled(fmt::format("{}: the simulated device runs the kernel", choice.why), Style::warn,
                       STDERR_FILENO));
}

void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape) {
  const auto count = [](const std::array<std::uint32_t, 3>& n) { return std::uint64_t{n[0]} * n[1] * n[2]; };
  const auto number = info.ordinal < 0 ? std::string() : fmt::format(" ({})", info.ordinal);
  say("run", fmt::format("{}{}: {} CTA{} of {} threads", info.name, number, count(shape.grid),
                         count(shape.grid) == 1 ? "" : "s", count(shape.block)));
}

bool simulate(Simulation& simulation, const tmajit::Artifact& artifact, const std::function<void()>& launch,
              Json& report, bool json) {
  const auto result = simulation.run(launch);
  report["run"]["simulation"] = to_json(simulation.options(), result, artifact);
  if (!json) say_simulation(simulation.options(), result, artifact);
  if (result.reports.empty()) return true;
  const auto message = verdict(simulation.options(), result);
  fmt::print(stderr, "{} {}\n", styled("jitc: error:", Style::bad, STDERR_FILENO), message);
  report["error"] = {{"code", tmajit::name(tmajit::ErrorCode::device_failed)},
                     {"message", message},
                     {"violations", Json::array()}};
  return false;
}

namespace {

void refuse(const std::string& message) {
  throw tmajit::Error(tmajit::ErrorCode::invalid_argument, message);
}

/// A FAMILY with its options, or --ptx and --launch alone.
void check_usage(const CLI::App& command, const RunOptions& options) {
  if (options.ptx.empty()) {
    if (options.kernel.family.empty()) refuse("FAMILY is required, or --ptx FILE with --launch FILE");
    return;
  }
  if (!options.kernel.family.empty()) {
    refuse(fmt::format("FAMILY {} and --ptx: a run has one kernel", options.kernel.family));
  }
  constexpr std::array theirs{simulation_group, "OPTIONS", "Options", "Kernel from elsewhere"};
  for (const auto* option : command.get_options()) {
    const bool fits = std::find(theirs.begin(), theirs.end(), option->get_group()) != theirs.end();
    if (option->count() > 0 && (!fits || option->get_name() == "--repeat")) {
      refuse(fmt::format("{} is an option of FAMILY; a kernel from --ptx is described by --launch alone",
                         option->get_name()));
    }
  }
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "run",
      "Run a kernel on .npy files: timed beside the driver's own copy on a GPU, or checked on the "
      "simulated device");
  auto options = std::make_shared<RunOptions>();
  add_kernel_options(command, options->kernel);
  command.get_option("FAMILY")->required(false);
  add_compiler_options(command, options->compiler);
  command.add_option("--out", options->out, "The output as .npy; default: only run the kernel")
      ->type_name("FILE")
      ->group("Tensors");
  command
      .add_option(
          "--device", options->device,
          "auto: the first Hopper GPU, else sim; gpu: the first Hopper GPU; gpu:N: the driver's GPU N; "
          "sim: a simulated one, which reports what the kernel does wrong")
      ->type_name("DEVICE");
  command.add_option("--repeat", options->repeat, "Timed runs on a GPU, after the first")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_simulation_options(command, options->simulation);
  constexpr auto elsewhere = "Kernel from elsewhere";
  auto* const ptx =
      command.add_option("--ptx", options->ptx, "Check a kernel of this PTX file on the simulated device")
          ->type_name("FILE")
          ->group(elsewhere);
  auto* const launch =
      command
          .add_option("--launch", options->launch, "Its launch as JSON: grid, block, parameters; docs/run.md")
          ->type_name("FILE")
          ->group(elsewhere);
  ptx->needs(launch);
  launch->needs(ptx);
  add_common_options(command, session);
  command.footer(
      "Element type and shape come from the files. Rows that TMA cannot take as they are get padded on the "
      "device;\n"
      "give --strides to choose the layout there yourself. The simulated device runs the kernel once, and "
      "its\n"
      "reports make the exit code 1.\n\n"
      "Examples:\n"
      "  jitc run copy --in a.npy --out y.npy --box 64x64 --swizzle 128B\n"
      "  jitc run map --expr 'x0 / (1.0f + expf(-x0)) * x1' --in a.npy --in b.npy --out y.npy\n"
      "  jitc run map --expr 'x + 8*t[0] + t[1]' --in a.npy --out y.npy --dtype bf16\n"
      "  jitc run bulk --expr 'x + 1' --in a.npy --out y.npy --json\n"
      "  jitc run snapshot --in a.npy --out tiles.npy --box 8x64 --swizzle 128B\n"
      "  jitc run copy --in a.npy --device sim --sim-mode random --sim-seed 7\n"
      "  jitc run --ptx kernel.ptx --launch launch.json");
  command.callback([options, &command, &session] {
    check_usage(command, *options);
    for (const auto* option : command.get_options()) {
      options->wants_simulation |= option->count() > 0 && option->get_group() == simulation_group;
    }
    session.action = [options, &session] {
      return options->ptx.empty() ? run_family(*options, session.json) : run_ptx(*options, session.json);
    };
  });
}

}  // namespace jitc
