#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/machine/sass.hpp>

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

struct StageOptions : KernelOptions {
  std::string out;
};

/// A stage's data, with its report and its summary.
struct Product {  // NOLINT(bugprone-exception-escape): an empty JSON value throws nothing
  std::string data;
  Json report = {};
  std::string summary = {};
};

std::string cubin_text(const tmajit::Artifact& artifact) {
  return {reinterpret_cast<const char*>(artifact.cubin.data()), artifact.cubin.size()};
}

/// The source of a kernel, which is a plan or a source of the user's own. A source needs no compiler, but its
/// cache key does: the key is null if there is no compiler.
template <class Kernel>
Product make_source(const Kernel& kernel, tmajit::Source source, const StageOptions& options) {
  Json key = nullptr;
  try {
    key = tmajit::cache_key(kernel, runtime_options(options.compiler).compile, tmajit::compiler()).hex();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
  }
  Product product;
  product.summary = fmt::format("{} in {}", source.entry, describe_bytes(source.text.size()));
  product.report = {{"entry", source.entry}, {"key", key}};
  product.data = std::move(source.text);
  return product;
}

std::string disassembled(const tmajit::Artifact& artifact) {
  const Progress progress("disassembling");
  return tmajit::disassemble(artifact.cubin);
}

Product make_compiled(Stage stage, const tmajit::Kernel& kernel, const tmajit::LaunchShape& shape) {
  const auto artifact = kernel.artifact();
  Product product{.data = stage == Stage::ptx    ? artifact.ptx
                          : stage == Stage::sass ? disassembled(artifact)
                                                 : cubin_text(artifact)};
  product.report = to_json(kernel, shape);
  product.summary = fmt::format("{}, {}, {}", describe_bytes(product.data.size()), describe_origin(kernel),
                                describe_resources(kernel, shape.shared_bytes));
  return product;
}

/// Makes the product of a kernel from a file of CUDA C++. The file of --launch, if given, sets its shared
/// memory.
Product make_own_product(Stage stage, const StageOptions& options) {
  const std::string& path = options.problem.word;
  const tmajit::KernelFile file = read_own_kernel(path, options.own);
  Product product;
  if (stage == Stage::source) {
    const tmajit::Source source = naming(path, [&] { return tmajit::source(file.kernel); });
    product = make_source(source, source, options);
  } else {
    const tmajit::LaunchShape shape{.shared_bytes = file.launch ? file.launch->shared_bytes : 0};
    const auto runtime = planning_runtime(options.compiler);
    const auto kernel = [&] {
      const Progress progress("compiling");
      return compile_kernel_file(runtime, file);
    }();
    product = make_compiled(stage, kernel, shape);
  }
  Json report{{"file", path}};
  report.update(product.report);
  product.report = std::move(report);
  return product;
}

/// Makes the product of an operation's kernel. Nothing runs, so no device is needed.
Product make_product(Stage stage, const StageOptions& options) {
  const auto problem = make_problem(options.problem, Purpose::look);
  auto runtime = planning_runtime(options.compiler, select_chip("auto").chip);
  const auto plans = plan_kernels(problem, problem.planning_addresses(), runtime);
  const auto& plan = kernel_of_step(plans, options.step);
  if (plans.size() > 1) say("step", "{} of {}; --step N shows another", options.step, plans.size());
  auto product = stage == Stage::source
                     ? make_source(plan, tmajit::source(plan), options)
                     : make_compiled(stage, make_kernels({plan}, runtime).front(), plan.launch_shape());
  auto report = to_json(problem);
  report["spec"] = to_json(plan);
  report["step"] = options.step;
  report["steps"] = plans.size();
  report.update(product.report);
  product.report = std::move(report);
  return product;
}

int produce(Stage stage, const std::string& name, const StageOptions& options, bool json) {
  if (stage == Stage::cubin && to_standard_output(options.out) && !json && is_terminal(STDOUT_FILENO)) {
    refuse("a cubin is binary and would garble the terminal: write it with -o kernel.cubin, or into a pipe");
  }
  std::optional<OutputFile> file;
  if (!options.out.empty()) file.emplace(options.out);

  const auto product =
      is_own_kernel(options.problem.word) ? make_own_product(stage, options) : make_product(stage, options);
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
    say(name, "{}: {}", output_name(options.out), product.summary);
  } else {
    write_stdout(product.data);
  }
  return 0;
}

void add_stage(CLI::App& app, Session& session, Stage stage, const std::string& name,
               const std::string& description, const std::string& footer) {
  auto& command = *app.add_subcommand(name, description);
  auto options = std::make_shared<StageOptions>();
  add_kernel_options(command, *options, "A file of CUDA C++, kernel.cu, or an operation: ");
  OptionGroup(command).add("-o,--output", options->out, "FILE",
                           "Write to this file; default: standard output");
  command.footer(footer);
  add_action(command, session, [=, &command](bool json) {
    check_own_usage(command, options->problem.word);
    return produce(stage, name, *options, json);
  });
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
            "  jitc ptx bulk --expr 'x + 1' --dtype i32 -o add_one.ptx\n"
            "  jitc ptx kernel.cu --entry 'scale<stages, float>' -D stages=4 -I headers");
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
