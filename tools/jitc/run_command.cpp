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

Json to_json(const Measurement& measured) {
  return {{"bytes", measured.bytes},
          {"milliseconds",
           {{"median", measured.median_ms}, {"min", measured.min_ms}, {"repeats", measured.repeats}}},
          {"gb_per_s", measured.gb_per_s()}};
}

void say_input(const InputArray& file) {
  const auto& header = file.header();
  say("input", fmt::format("{}: {} [{}], {} order, {}", file.path().string(), header.descr,
                           fmt::join(header.shape, ", "), header.fortran_order ? "Fortran" : "C",
                           describe_bytes(header.data_bytes)));
}

void say_times(const Measurement& measured, const Measurement& copy) {
  say("time",
      fmt::format("median {:.4f} ms, min {:.4f} ms of {} runs: {:.0f} GB/s ({} moved)", measured.median_ms,
                  measured.min_ms, measured.repeats, measured.gb_per_s(), describe_bytes(measured.bytes)));
  say("copy", fmt::format("the driver's own copy: {:.4f} ms, {:.0f} GB/s; this reaches {:.2f} of that",
                          copy.median_ms, copy.gb_per_s(), measured.gb_per_s() / copy.gb_per_s()));
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

bool simulate(Simulation& simulation, const Artifacts& artifacts, const std::function<void()>& launch,
              Json& report, bool json) {
  const auto result = simulation.run(launch);
  report["run"]["simulation"] = to_json(simulation.options(), result, artifacts);
  if (!json) say_simulation(simulation.options(), result, artifacts);
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
void check_usage(const CLI::App& command, RunOptions& options) {
  if (options.ptx.empty()) {
    if (options.kernel.family.empty()) refuse("FAMILY is required, or --ptx FILE with --launch FILE");
    options.is_move = is_move(command, options.kernel);
    return;
  }
  if (!options.kernel.family.empty()) {
    refuse(fmt::format("{} and --ptx: a run has one kernel", options.kernel.family));
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

int run(const RunOptions& options, bool json) {
  if (!options.ptx.empty()) return run_ptx(options, json);
  return options.is_move ? run_move(options, json) : run_family(options, json);
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "run",
      "Run a kernel or a move on .npy files: timed beside the driver's own copy on a GPU, or checked on the "
      "simulated device");
  auto options = std::make_shared<RunOptions>();
  add_operation_options(command, options->kernel, options->move);
  command.get_option("FAMILY")->required(false);
  command
      .add_flag("--check", options->check,
                "Compare a move's result, and what lies beside it, with a plain walk on the CPU; a "
                "difference makes "
                "the exit code 1")
      ->group(moves_group);
  command.add_option("--seed", options->seed, "Of the elements of inputs that no file gives")
      ->type_name("N")
      ->group(moves_group)
      ->capture_default_str();
  add_compiler_options(command, options->compiler);
  command.add_option("--out", options->out, "The output as .npy, once for each of split; default: only run")
      ->type_name("FILE")
      ->group(tensors_group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
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
      "reports make the exit code 1.\n"
      "copy and map are kernel families; with an option of moves, or a tensor of more than 5 dimensions, "
      "they are\n"
      "moves, for which a planner chooses the kernel. Without --in a move's inputs have --shape and made-up "
      "elements.\n\n"
      "Examples:\n"
      "  jitc run copy --in a.npy --out y.npy --box 64x64 --swizzle 128B\n"
      "  jitc run map --expr 'x0 / (1.0f + expf(-x0)) * x1' --in a.npy --in b.npy --out y.npy\n"
      "  jitc run map --expr 'x + 8*t[0] + t[1]' --in a.npy --out y.npy --dtype bf16\n"
      "  jitc run bulk --expr 'x + 1' --in a.npy --out y.npy --json\n"
      "  jitc run snapshot --in a.npy --out tiles.npy --box 8x64 --swizzle 128B\n"
      "  jitc run copy --in a.npy --device sim --sim-mode random --sim-seed 7\n"
      "  jitc run permute --axes 0,2,1,3 --in a.npy --out y.npy\n"
      "  jitc run permute --axes 1,0 --shape 4095x8193 --dtype bf16 --check\n"
      "  jitc run copy --slice 100:200,::2 --pad 1,1:2,2 --in a.npy --out y.npy\n"
      "  jitc run cast --out-dtype bf16 --in a.npy --out y.npy\n"
      "  jitc run split --axis 0 --parts 10,20 --in a.npy --out b.npy --out c.npy\n"
      "  jitc run --ptx kernel.ptx --launch launch.json");
  command.callback([options, &command, &session] {
    check_usage(command, *options);
    for (const auto* option : command.get_options()) {
      options->wants_simulation |= option->count() > 0 && option->get_group() == simulation_group;
    }
    session.action = [options, &session] { return run(*options, session.json); };
  });
}

}  // namespace jitc
