#include "chain.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "finding_formats.hpp"
#include "option_group.hpp"
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

namespace {

constexpr auto ptx_group = "Kernel from PTX";

/// Refuses options that do not go together. Legal are an OPERATION with its options, a file with --launch, or
/// --ptx with --launch.
void check_usage(const CLI::App& command, const RunOptions& options) {
  const auto& word = options.problem.word;
  if (options.ptx.empty()) {
    if (word.empty())
      refuse("OPERATION is required, or kernel.cu with --launch FILE, or --ptx FILE with --launch FILE");
    check_own_usage(command, word);
    if (is_own_kernel(word)) {
      if (options.own.launch.empty()) refuse("{} needs --launch FILE, which describes its launch", word);
      if (!options.out.empty())
        refuse("--out is for operations; the file of --launch names the outputs of a kernel from a file");
    }
    return;
  }
  if (!word.empty()) refuse("{} and --ptx exclude each other; give one of them", word);
  if (options.own.launch.empty()) refuse("--ptx requires --launch");
  constexpr std::array legal_groups{simulation_group, "OPTIONS", "Options", ptx_group};
  constexpr std::array illegal_options{"--repeat", "--check", "--seed"};
  for (const auto* option : command.get_options()) {
    const auto is = [&](const auto& words, const std::string& text) {
      return std::find(words.begin(), words.end(), text) != words.end();
    };
    if (option->get_name() == "--launch" || option->get_name() == "--entry") continue;
    if (option->count() > 0 &&
        (!is(legal_groups, option->get_group()) || is(illegal_options, option->get_name()))) {
      refuse("{} is an option of OPERATION; a kernel from --ptx is described by --launch alone",
             option->get_name());
    }
  }
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  auto& command =
      *app.add_subcommand("run",
                          "Run an operation on .npy files or made-up elements: on a GPU, timed and compared "
                          "with the driver's copy, or checked on the simulated device");
  auto options = std::make_shared<RunOptions>();
  OptionGroup group(command);
  OptionGroup tensors(command, tensors_group);
  add_problem_options(command, options->problem);
  add_then_option(command, options->then);
  auto* const word = command.get_option("OPERATION");
  word->required(false)
      ->description("A file of CUDA C++, kernel.cu, or an operation: " + word->get_description())
      ->check(offers({"FILE"}));
  command.add_flag(
      "--check", options->check,
      "Compare the outputs, and the bytes between their elements, with results of the CPU; a difference "
      "makes the exit code 1. Not for snapshots, nor for expressions that the CPU cannot evaluate");
  group.add("--seed", options->seed, "N", "Seed of made-up elements");
  add_compiler_options(command, options->compiler);
  tensors.add_list("--out", options->out, "FILE",
                   "File for the output, as .npy; once for each output of split. Default: write no file");
  group
      .add("--device", options->device, "DEVICE",
           "auto: the first Hopper GPU, else sim; gpu: the first Hopper GPU; gpu:N: the driver's GPU N; "
           "sim: a simulated one, which reports what the kernel does wrong")
      ->check(offers({"auto", "gpu", "sim"}));
  group.add_number("--repeat", options->repeat, "N", "Timed runs on a GPU, after the first", 1, 1'000'000);
  add_simulation_options(command, options->simulation);
  OptionGroup simulated(command, simulation_group);
  add_format_option(simulated, options->format);
  OptionGroup ptx_options(command, ptx_group);
  ptx_options.add("--ptx", options->ptx, "FILE",
                  "Check a kernel of this PTX file on the simulated device; --launch describes its launch");
  add_own_options(command, options->own);
  add_launch_option(command, options->own);
  command.footer(
      "A planner chooses the kernel. The name of a family (rows, transpose …) limits it to that family. "
      "With\n"
      "an option of the group Tiles of your choice, and for bulk and snapshot, you choose the tile.\n"
      "Element type and shape come from the files; without --in, inputs have --shape and made-up elements. "
      "If TMA\n"
      "cannot load rows for a tile of your choice, they are padded on the device; --strides sets the layout "
      "instead.\n"
      "The simulated device runs the kernels once, and its reports make the exit code 1.\n"
      "--format sarif and junit print them for code hosts and CI services.\n\n"
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
      "  jitc run map --expr 'x * 0.125f' --shape 512x1000 --then softmax --then 'cast --out-dtype bf16' "
      "--check\n"
      "  jitc run kernel.cu --launch launch.json -D stages=4 --device sim\n"
      "  jitc run --ptx kernel.ptx --launch launch.json");
  add_action(command, session, [options, &command](bool json) {
    check_usage(command, *options);
    options->wants_simulation = is_for_services(options->format);
    for (const auto* option : command.get_options()) {
      options->wants_simulation |=
          option->count() > 0 && option->get_group() == simulation_group && option->get_name() != "--format";
    }
    const bool wants_json = asks_for_json(json, options->format);
    if (!options->ptx.empty()) return run_ptx(*options, wants_json);
    return is_own_kernel(options->problem.word) ? run_own_kernel(*options, wants_json)
                                                : run_problem(*options, wants_json);
  });
}

}  // namespace jitc
