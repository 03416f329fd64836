#include "array_file.hpp"
#include "measure.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "transfer.hpp"

#include <tmajit/runtime.hpp>

#include <optional>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Buffer;
using tmajit::Device;
using tmajit::Operand;
using tmajit::TensorView;

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
    if (i >= problem.files.size()) {
      // What a kernel forgets to write must not look like a result.
      device->fill(tensors.buffers.back().address(), std::byte{0}, view.span_bytes(), nullptr);
      continue;
    }
    const auto& file = problem.files[i];
    upload(*device, tensors.buffers.back().address(), file_view(problem, i), file.data(), file.layout());
  }
  return tensors;
}

void say_inputs(const Problem& problem) {
  for (const auto& file : problem.files) say_input(file);
  for (const auto& note : problem.notes) say("note", note);
  say("spec", describe(problem.spec));
}

/// Times the kernel beside the driver's copy of as many bytes, and reports both.
Json time_on_gpu(Device& device, const tmajit::PreparedLaunch& launch, std::span<const Operand> operands,
                 std::uint32_t repeat, bool json) {
  const auto& output = operands.back();
  const auto copy = measure_copy(device, output, operands.front(), repeat);
  // What a kernel forgets to write must not look like what the copy left there.
  device.fill(output.address, std::byte{0}, output.view.span_bytes(), nullptr);
  const auto kernel = measure_launch(device, launch, repeat);
  if (!json) say_times(kernel, copy);
  Json report = to_json(kernel);
  report["driver_copy"] = to_json(copy);
  return report;
}

}  // namespace

int run_family(const RunOptions& options, bool json) {
  const auto problem = make_problem(options.kernel, Padding::where_needed);
  if (problem.files.empty()) {
    throw tmajit::Error(
        tmajit::ErrorCode::invalid_argument,
        "run needs its inputs: --in a.npy, once for each of x0, x1 …; of moves (--plan) a --shape "
        "does, too");
  }
  if (options.out.size() > 1) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        fmt::format("--out is given {} times, but {} has one output", options.out.size(),
                                    options.kernel.family));
  }
  require_legal(problem);
  std::optional<OutputArray> out;
  if (!options.out.empty()) out.emplace(options.out.front());
  auto runtime_choice = runtime_options(options.compiler);
  const auto choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = choice.device;
  std::span<std::byte> out_data;
  if (out) out_data = out->reserve(problem.output().type, problem.output_shape);
  say_choice(choice);
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
    say("kernel", fmt::format("{}: {}", describe_origin(kernel),
                              describe_resources(kernel, launch_needs(problem.spec))));
  }

  const auto tensors = upload_all(device, problem);
  const std::span<const Operand> operands(tensors.operands);
  const auto launch = kernel.prepare(operands.first(operands.size() - 1), operands.back());
  Json report = jitc::to_json(problem);
  report.update(jitc::to_json(kernel, launch_needs(problem.spec)));
  auto& run = report["run"];
  run["device"] = to_json(device->info());
  run["grid"] = launch.shape().grid;
  run["block"] = launch.shape().block;
  if (!json) say_launch(device->info(), launch.shape());
  bool right = true;
  if (choice.simulation) {
    right = simulate(
        *choice.simulation, {&kernel.artifact()}, [&] { launch(); }, report, json);
  } else {
    run.update(time_on_gpu(*device, launch, operands, options.repeat, json));
  }

  report["outputs"] = Json::array();
  if (out && right) {
    download(*device, out_data, operands.back().address, file_view(problem, problem.views.size() - 1));
    out->commit();
    report["outputs"].push_back(options.out.front());
    if (!json) {
      say("output", fmt::format("{}: {} [{}]", options.out.front(), npy_descr(problem.output().type),
                                fmt::join(problem.output_shape, ", ")));
    }
  }
  if (json) print_json(report);
  return right ? 0 : 1;
}

}  // namespace jitc
