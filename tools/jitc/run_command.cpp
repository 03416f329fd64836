#include "array_file.hpp"
#include "commands.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "select_device.hpp"
#include "terminal.hpp"
#include "transfer.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>

#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Buffer;
using tmajit::Device;
using tmajit::Operand;
using tmajit::TensorView;

struct RunOptions {
  KernelOptions kernel;
  CompilerOptions compiler;
  std::string out;
  std::string device = "auto";
  std::uint32_t repeat = 20;
};

/// The tensors of a problem on a device.
struct Tensors {
  std::vector<Buffer> buffers;
  std::vector<Operand> operands;  ///< the inputs, then the output
};

/// The view under which an operand travels: to a bulk kernel a file of any rank is one long row.
TensorView file_view(const Problem& problem, std::size_t index) {
  if (problem.spec.family != tmajit::Family::bulk) return problem.views[index];
  const auto& shape =
      index < problem.files.size() ? problem.files[index].header().shape : problem.output_shape;
  return TensorView::contiguous(problem.views[index].type, shape);
}

Tensors upload_all(const std::shared_ptr<Device>& device, const Problem& problem) {
  Tensors tensors;
  for (std::size_t i = 0; i < problem.views.size(); ++i) {
    const auto& view = problem.views[i];
    tensors.buffers.emplace_back(device, view.span_bytes());
    tensors.operands.push_back({.view = view,
                                .address = tensors.buffers.back().address(),
                                .l2_promotion = problem.l2,
                                .oob_fill = i < problem.files.size() ? problem.oob : tmajit::OobFill::zero});
    if (i >= problem.files.size()) continue;
    const auto& file = problem.files[i];
    upload(*device, tensors.buffers.back().address(), file_view(problem, i), file.data(), file.layout());
  }
  return tensors;
}

Json to_json(const tmajit::DeviceInfo& info) {
  return {{"name", info.name},
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

void say_inputs(const Problem& problem) {
  for (const auto& file : problem.files) {
    const auto& header = file.header();
    say("input", fmt::format("{}: {} [{}], {} order, {}", file.path().string(), header.descr,
                             fmt::join(header.shape, ", "), header.fortran_order ? "Fortran" : "C",
                             describe_bytes(header.data_bytes)));
  }
  for (const auto& note : problem.notes) say("note", note);
  say("spec", describe(problem.spec));
}

void say_run(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape, const Measurement& kernel,
             const Measurement& copy) {
  say("run",
      fmt::format("{} ({}): {} CTAs of {} threads", info.name, info.ordinal, shape.grid[0], shape.block[0]));
  say("time",
      fmt::format("median {:.4f} ms, min {:.4f} ms of {} runs: {:.0f} GB/s ({} moved)", kernel.median_ms,
                  kernel.min_ms, kernel.repeats, kernel.gb_per_s(), describe_bytes(kernel.bytes)));
  say("copy", fmt::format("the driver's own copy: {:.4f} ms, {:.0f} GB/s; the kernel reaches {:.2f} of that",
                          copy.median_ms, copy.gb_per_s(), kernel.gb_per_s() / copy.gb_per_s()));
}

int run(const RunOptions& options, bool json) {
  const auto problem = make_problem(options.kernel, Padding::where_needed);
  if (problem.files.empty()) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        "run needs its inputs: --in a.npy, once for each of x0, x1 …");
  }
  require_legal(problem);
  std::optional<OutputArray> out;
  if (!options.out.empty()) out.emplace(options.out);
  auto runtime_choice = runtime_options(options.compiler);
  const auto device = select_device(options.device);
  std::span<std::byte> out_data;
  if (out) out_data = out->reserve(problem.output().type, problem.output_shape);
  if (!json) say_inputs(problem);

  runtime_choice.device = device;
  tmajit::Runtime runtime(std::move(runtime_choice));
  const auto kernel = [&] {
    const Progress progress("compiling");
    return runtime.kernel(problem.spec);
  }();
  if (!json) {
    const auto& artifact = kernel.artifact();
    say("source",
        fmt::format("{}, {}; PTX {}, cubin {}", artifact.entry, describe_bytes(artifact.source.size()),
                    describe_bytes(artifact.ptx.size()), describe_bytes(artifact.cubin.size())));
    say("kernel", fmt::format("{}: {}", describe_origin(kernel), describe_resources(kernel, problem.spec)));
  }

  const auto tensors = upload_all(device, problem);
  const std::span<const Operand> operands(tensors.operands);
  const auto& output = operands.back();
  const auto copy = measure_copy(*device, output, operands.front(), options.repeat);
  // What a kernel forgets to write must not look like what the copy left there.
  device->fill(output.address, std::byte{0}, output.view.span_bytes(), nullptr);
  const auto launch = kernel.prepare(operands.first(operands.size() - 1), output);
  const auto measured = measure_launch(*device, launch, options.repeat);
  if (!json) say_run(device->info(), launch.shape(), measured, copy);

  if (out) {
    download(*device, out_data, output.address, file_view(problem, problem.views.size() - 1));
    out->commit();
    if (!json) {
      say("output", fmt::format("{}: {} [{}]", options.out, npy_descr(problem.output().type),
                                fmt::join(problem.output_shape, ", ")));
    }
  }
  if (json) {
    Json report = jitc::to_json(problem);
    report.update(jitc::to_json(kernel, problem.spec));
    report["run"] = to_json(measured);
    report["run"]["device"] = to_json(device->info());
    report["run"]["grid"] = launch.shape().grid;
    report["run"]["block"] = launch.shape().block;
    report["run"]["driver_copy"] = to_json(copy);
    report["outputs"] = Json::array();
    if (out) report["outputs"].push_back(options.out);
    print_json(report);
  }
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  auto& command =
      *app.add_subcommand("run", "Run a kernel on .npy files and time it beside the driver's own copy");
  auto options = std::make_shared<RunOptions>();
  add_kernel_options(command, options->kernel);
  add_compiler_options(command, options->compiler);
  command.add_option("--out", options->out, "The output as .npy; default: only time the kernel")
      ->type_name("FILE")
      ->group("Tensors");
  command
      .add_option("--device", options->device, "auto or gpu: the first Hopper GPU; gpu:N: the driver's GPU N")
      ->type_name("DEVICE");
  command.add_option("--repeat", options->repeat, "Timed runs, after the first")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  add_common_options(command, session);
  command.footer(
      "Element type and shape come from the files. Rows that TMA cannot take as they are get padded on the "
      "device;\n"
      "give --strides to choose the layout there yourself.\n\n"
      "Examples:\n"
      "  jitc run copy --in a.npy --out y.npy --box 64x64 --swizzle 128B\n"
      "  jitc run map --expr 'x0 / (1.0f + expf(-x0)) * x1' --in a.npy --in b.npy --out y.npy\n"
      "  jitc run map --expr 'x + 8*t[0] + t[1]' --in a.npy --out y.npy --dtype bf16\n"
      "  jitc run bulk --expr 'x + 1' --in a.npy --out y.npy --json\n"
      "  jitc run snapshot --in a.npy --out tiles.npy --box 8x64 --swizzle 128B");
  command.callback(
      [options, &session] { session.action = [options, &session] { return run(*options, session.json); }; });
}

}  // namespace jitc
