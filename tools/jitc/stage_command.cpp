#include "commands.hpp"
#include "explanation.hpp"
#include "files.hpp"
#include "move_options.hpp"
#include "move_planning.hpp"
#include "nvdisasm.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

enum class Stage { source, ptx, sass, cubin };

struct StageOptions {
  KernelOptions kernel;
  MoveOptions move;
  bool is_move = false;
  std::uint32_t step = 1;  ///< of a move's plan, from 1
  CompilerOptions compiler;
  std::string out;
};

/// A stage's data and what is to be said of it.
struct Product {
  std::string data;
  Json report = {};
  std::string summary = {};
};

std::string cubin_text(const tmajit::Artifact& artifact) {
  return {reinterpret_cast<const char*>(artifact.cubin.data()), artifact.cubin.size()};
}

/// The source needs no compiler, and so its key is only known where there is one.
Product make_source(const Problem& problem, const StageOptions& options) {
  auto source = tmajit::generate(problem.spec);
  Product product{.data = std::move(source.text)};
  product.report = to_json(problem);
  product.report["entry"] = source.entry;
  product.report["key"] = nullptr;
  try {
    source.text = product.data;
    product.report["key"] =
        tmajit::cache_key(source, runtime_options(options.compiler).compile, tmajit::compiler()).hex();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
  }
  product.summary = fmt::format("{} in {}", source.entry, describe_bytes(product.data.size()));
  return product;
}

Product make_compiled(Stage stage, const Problem& problem, const StageOptions& options) {
  const Progress progress("compiling");
  tmajit::Runtime runtime(runtime_options(options.compiler));
  const auto kernel = runtime.kernel(problem.spec);
  Product product{.data = stage == Stage::ptx    ? kernel.artifact().ptx
                          : stage == Stage::sass ? disassemble(kernel.artifact().cubin)
                                                 : cubin_text(kernel.artifact())};
  product.report = to_json(problem);
  product.report.update(to_json(kernel, launch_needs(problem.spec)));
  product.summary = fmt::format("{}, {}, {}", describe_bytes(product.data.size()), describe_origin(kernel),
                                describe_resources(kernel, launch_needs(problem.spec)));
  return product;
}

/// A kernel of a move's plan; nothing runs, so no GPU is needed.
Product make_of_move(Stage stage, const StageOptions& options) {
  const auto problem = make_move(options.kernel, options.move);
  auto chosen = runtime_options(options.compiler);
  chosen.device = select_planning_device("auto").device;
  tmajit::Runtime runtime(std::move(chosen));
  const auto plan = make_plan(runtime, problem.unplaced());
  const auto explanation = plan.explain();
  const auto kernels = plan.kernels();
  if (options.step > kernels.size()) {
    throw Error(ErrorCode::invalid_argument,
                kernels.empty() ? "there is nothing to move, and so there is no kernel"
                                : fmt::format("--step {}, but the plan has {}; jitc explain shows them",
                                              options.step, kernels.size()));
  }
  const auto& kernel = kernels[options.step - 1];
  const auto& step = explanation.steps[options.step - 1];
  const auto& artifact = kernel.artifact();
  const LaunchNeeds needs{.threads = step.threads,
                          .dynamic_shared_bytes = step.shared_bytes - artifact.resources.static_shared_bytes};
  if (kernels.size() > 1) {
    say("step", fmt::format("{} of {}; --step N shows another", options.step, kernels.size()));
  }
  Product product{.data = stage == Stage::source ? artifact.source
                          : stage == Stage::ptx  ? artifact.ptx
                          : stage == Stage::sass ? disassemble(artifact.cubin)
                                                 : cubin_text(artifact)};
  product.report = {
      {"operation", problem.operation}, {"arguments", problem.arguments}, {"plan", to_json(explanation)}};
  product.report.update(to_json(kernel, needs));
  product.summary = fmt::format("{}, {}, {}", describe_bytes(product.data.size()), describe_origin(kernel),
                                describe_resources(kernel, needs));
  return product;
}

Product make_of_family(Stage stage, const StageOptions& options) {
  const auto problem = make_problem(options.kernel, Padding::no);
  require_legal(problem);
  return stage == Stage::source ? make_source(problem, options) : make_compiled(stage, problem, options);
}

int produce(Stage stage, const std::string& name, const StageOptions& options, bool json) {
  if (stage == Stage::cubin && options.out.empty() && !json && is_terminal(STDOUT_FILENO)) {
    throw Error(
        ErrorCode::invalid_argument,
        "a cubin is binary and would garble the terminal: write it with -o kernel.cubin, or into a pipe");
  }
  std::optional<OutputFile> file;
  if (!options.out.empty()) file.emplace(options.out);

  const auto product = options.is_move ? make_of_move(stage, options) : make_of_family(stage, options);
  if (file) {
    file->write(product.data);
    file->commit();
  }
  if (json) {
    Json report{{"stage", name}};
    report.update(product.report);
    if (file) {
      report["output"] = options.out;
    } else if (stage != Stage::cubin) {
      report["text"] = product.data;
    }
    print_json(report);
  } else if (file) {
    say(name, fmt::format("{}: {}", options.out, product.summary));
  } else {
    write_stdout(product.data);
  }
  return 0;
}

void add_stage(CLI::App& app, Session& session, Stage stage, const std::string& name,
               const std::string& description, const std::string& footer) {
  auto& command = *app.add_subcommand(name, description);
  auto options = std::make_shared<StageOptions>();
  add_operation_options(command, options->kernel, options->move);
  command.add_option("--step", options->step, "Which kernel of a move's plan, where it has several")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(moves_group);
  add_compiler_options(command, options->compiler);
  command.add_option("-o,--output", options->out, "Write to this file; default: standard output")
      ->type_name("FILE");
  add_common_options(command, session);
  command.footer(footer);
  command.callback([=, &command, &session] {
    options->is_move = is_move(command, options->kernel);
    session.action = [=, &session] { return produce(stage, name, *options, session.json); };
  });
}

}  // namespace

void add_stage_commands(CLI::App& app, Session& session) {
  add_stage(app, session, Stage::source, "source", "Print the CUDA C++ of a kernel",
            "Examples:\n"
            "  jitc source copy --shape 4096x4096 --dtype bf16 --box 64x64 --swizzle 128B\n"
            "  jitc source map --expr 'x0 * x1 + 1' --dtype f16,f16,f32 -o kernel.cu\n"
            "  nvcc -arch=sm_90a -cubin kernel.cu\n"
            "  jitc source permute --axes 0,2,1,3 --shape 32x2048x32x128 --dtype bf16");
  add_stage(app, session, Stage::ptx, "ptx", "Compile a kernel and print its PTX",
            "Examples:\n"
            "  jitc ptx copy --box 32x64 --dtype u8\n"
            "  jitc ptx permute --axes 1,0 --shape 8192x8192 --dtype f16\n"
            "  jitc ptx bulk --expr 'x + 1' --dtype i32 -o add_one.ptx");
  add_stage(app, session, Stage::sass, "sass", "Compile a kernel and print its machine code; needs nvdisasm",
            "Examples:\n"
            "  jitc sass map --expr 'fmaxf(x, 0.0f)' --dtype f32 --box 32x64 | grep UTMA\n"
            "  jitc doctor   # says whether nvdisasm is here");
  add_stage(app, session, Stage::cubin, "cubin", "Compile a kernel to an sm_90a cubin",
            "Examples:\n"
            "  jitc cubin copy --box 64x64 --dtype bf16 --swizzle 128B -o copy.cubin\n"
            "  jitc cubin map --expr 'x*2+1' --json   # registers, spills, shared memory, milliseconds");
}

}  // namespace jitc
