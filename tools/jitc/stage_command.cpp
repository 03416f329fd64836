#include "commands.hpp"
#include "files.hpp"
#include "nvdisasm.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "usage.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

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
  ProblemOptions problem;
  std::uint32_t step = 1;  ///< of several kernels, from 1
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

/// The source needs no compiler, and so its cache key is only known where there is one.
Product make_source(const tmajit::KernelPlan& plan, const StageOptions& options) {
  auto source = tmajit::source(plan);
  Json key = nullptr;
  try {
    key = tmajit::cache_key(source, runtime_options(options.compiler).compile, tmajit::compiler()).hex();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
  }
  Product product;
  product.summary = fmt::format("{} in {}", source.entry, describe_bytes(source.text.size()));
  product.report = {{"spec", to_json(plan)}, {"entry", source.entry}, {"key", key}};
  product.data = std::move(source.text);
  return product;
}

Product make_compiled(Stage stage, const tmajit::KernelPlan& plan, tmajit::Runtime& runtime) {
  const auto kernel = make_kernels({plan}, runtime).front();
  const auto artifact = kernel.artifact();
  Product product{.data = stage == Stage::ptx    ? artifact.ptx
                          : stage == Stage::sass ? disassemble(artifact.cubin)
                                                 : cubin_text(artifact)};
  product.report = to_json(plan, kernel);
  product.summary = fmt::format("{}, {}, {}", describe_bytes(product.data.size()), describe_origin(kernel),
                                describe_resources(plan, kernel));
  return product;
}

/// Nothing runs, so no device is needed.
Product make_product(Stage stage, const StageOptions& options) {
  const auto problem = make_problem(options.problem, Purpose::look);
  auto runtime = planning_runtime(options.compiler, select_chip("auto").chip);
  const auto plans = plan_kernels(problem, problem.unplaced(), runtime);
  const auto& plan = kernel_of_step(plans, options.step);
  if (plans.size() > 1) say("step", "{} of {}; --step N shows another", options.step, plans.size());
  auto product = stage == Stage::source ? make_source(plan, options) : make_compiled(stage, plan, runtime);
  auto report = to_json(problem);
  report["step"] = options.step;
  report["steps"] = plans.size();
  report.update(product.report);
  product.report = std::move(report);
  return product;
}

int produce(Stage stage, const std::string& name, const StageOptions& options, bool json) {
  if (stage == Stage::cubin && options.out.empty() && !json && is_terminal(STDOUT_FILENO)) {
    refuse("a cubin is binary and would garble the terminal: write it with -o kernel.cubin, or into a pipe");
  }
  std::optional<OutputFile> file;
  if (!options.out.empty()) file.emplace(options.out);

  const auto product = make_product(stage, options);
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
    say(name, "{}: {}", options.out, product.summary);
  } else {
    write_stdout(product.data);
  }
  return 0;
}

void add_stage(CLI::App& app, Session& session, Stage stage, const std::string& name,
               const std::string& description, const std::string& footer) {
  auto& command = *app.add_subcommand(name, description);
  auto options = std::make_shared<StageOptions>();
  add_problem_options(command, options->problem);
  add_step_option(command, options->step);
  add_compiler_options(command, options->compiler);
  OptionGroup(command).add("-o,--output", options->out, "FILE",
                           "Write to this file; default: standard output");
  command.footer(footer);
  add_action(command, session, [=](bool json) { return produce(stage, name, *options, json); });
}

}  // namespace

void add_stage_commands(CLI::App& app, Session& session) {
  add_stage(app, session, Stage::source, "source", "Print the CUDA C++ of a kernel",
            "Examples:\n"
            "  jitc source copy --shape 4096x4096 --dtype bf16 --box 64x64 --swizzle 128B\n"
            "  jitc source map --expr 'x0 * x1 + 1' --dtype f32,f16,f16 -o kernel.cu\n"
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
