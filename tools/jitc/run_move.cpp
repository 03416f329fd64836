#include "explanation.hpp"
#include "generated.hpp"
#include "memory_image.hpp"
#include "move_planning.hpp"
#include "move_problem.hpp"
#include "move_reference.hpp"
#include "run.hpp"
#include "terminal.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Buffer;
using tmajit::Device;

/// What outputs hold before a run, so that a kernel that forgets or overshoots is found out.
constexpr std::byte untouched{0xa5};

/// The memory of an array as it is on the device: a file's own bytes where those will do.
struct Image {
  std::vector<std::byte> own;
  std::span<const std::byte> bytes;
};

Image input_image(const MoveProblem& problem, std::size_t index, std::uint64_t seed) {
  const auto& [view, memory, name] = problem.inputs[index];
  const auto in_place = is_dense(view) && memory.first == 0;
  const auto shape = std::span(view.shape).first(view.rank);
  HostLayout layout{.strides = c_order(shape)};
  Image image;
  std::vector<std::byte> made_up;
  std::span<const std::byte> elements;
  if (problem.files.empty()) {
    made_up.resize(memory.bytes == 0 ? 0 : view.elements() * tmajit::size_of(view.type));
    generate_elements(made_up, view.type, seed + index);
    elements = made_up;
    if (in_place) return {.own = std::move(made_up), .bytes = elements};
  } else {
    const auto& file = problem.files[index];
    const auto file_layout = file.layout();
    elements = file.data();
    if (in_place && !file_layout.swapped && file_layout.strides == layout.strides)
      return {.own = {}, .bytes = elements};
    layout = file_layout;
  }
  const Progress progress("laying out an input");
  image.own.resize(memory.bytes);
  scatter(image.own, memory, view, elements, layout);
  image.bytes = image.own;
  return image;
}

void copy_in(Device& device, tmajit::DevicePtr to, std::span<const std::byte> bytes) {
  constexpr std::size_t piece = std::size_t{64} << 20U;
  Progress progress("copying to the device", bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    device.copy_in(to + at, part, nullptr);
    device.synchronize(nullptr);
    progress.advance(part.size());
  }
}

std::vector<std::byte> copy_out(Device& device, tmajit::DevicePtr from, std::uint64_t size) {
  constexpr std::size_t piece = std::size_t{64} << 20U;
  std::vector<std::byte> bytes(size);
  Progress progress("copying from the device", size);
  for (std::size_t at = 0; at < size; at += piece) {
    const auto part = std::span(bytes).subspan(at, std::min<std::size_t>(piece, size - at));
    device.copy_out(part, from + at, nullptr);
    device.synchronize(nullptr);
    progress.advance(part.size());
  }
  return bytes;
}

/// The arrays of a problem on a device, and the inputs in host memory, too.
struct Arrays {
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  std::vector<Image> images;
};

std::vector<std::uint64_t> addresses(std::span<const Buffer> buffers) {
  std::vector<std::uint64_t> result;
  for (const auto& buffer : buffers) result.push_back(buffer.address());
  return result;
}

void clear_outputs(Device& device, const Arrays& arrays) {
  for (const auto& buffer : arrays.outputs) device.fill(buffer.address(), untouched, buffer.bytes(), nullptr);
}

Arrays make_arrays(const std::shared_ptr<Device>& device, const MoveProblem& problem, std::uint64_t seed) {
  Arrays arrays;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    arrays.inputs.emplace_back(device, std::max<std::uint64_t>(problem.inputs[i].memory.bytes, 1));
    arrays.images.push_back(input_image(problem, i, seed));
    copy_in(*device, arrays.inputs.back().address(), arrays.images.back().bytes);
  }
  for (const auto& output : problem.outputs) {
    arrays.outputs.emplace_back(device, std::max<std::uint64_t>(output.memory.bytes, 1));
  }
  clear_outputs(*device, arrays);
  return arrays;
}

/// The outputs' memory as it should be.
std::vector<std::vector<std::byte>> expected_outputs(const MoveProblem& problem, const Arrays& arrays) {
  const Progress progress("moving on the CPU");
  std::vector<std::vector<std::byte>> expected;
  std::vector<std::uint64_t> inputs_at;
  std::vector<std::uint64_t> outputs_at;
  for (const auto& image : arrays.images)
    inputs_at.push_back(reinterpret_cast<std::uintptr_t>(image.bytes.data()));
  for (const auto& output : problem.outputs) {
    expected.emplace_back(output.memory.bytes, untouched);
    outputs_at.push_back(reinterpret_cast<std::uintptr_t>(expected.back().data()));
  }
  for (const auto& move : problem.moves(inputs_at, outputs_at)) move_plainly(move);
  return expected;
}

/// Whether the outputs are as they should be; says and reports where they are not.
bool check(const MoveProblem& problem, const Arrays& arrays, std::span<const std::vector<std::byte>> found,
           Json& report, bool json) {
  const auto expected = expected_outputs(problem, arrays);
  bool right = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto difference = compare(problem.outputs[i], expected[i], found[i], !problem.expression.empty());
    right &= difference.none();
    report["check"].push_back({{"name", problem.outputs[i].name},
                               {"elements", difference.elements},
                               {"wrong", difference.wrong},
                               {"stray_bytes", difference.stray_bytes}});
    const auto text = describe(problem.outputs[i], difference);
    if (difference.none()) {
      if (!json) say("check", styled(text, Style::good, STDERR_FILENO));
      continue;
    }
    fmt::print(stderr, "{} --check: {}\n", styled("jitc: error:", Style::bad, STDERR_FILENO), text);
    report["error"] = {{"code", tmajit::name(tmajit::ErrorCode::internal)},
                       {"message", fmt::format("--check: {}", text)},
                       {"violations", Json::array()}};
  }
  return right;
}

/// Times the plan beside the driver's copy of as many bytes, and reports both.
Json time_on_gpu(Device& device, const tmajit::MovePlan& plan, const Arrays& arrays,
                 const RunOptions& options, bool json) {
  const auto& from = arrays.inputs.front();
  const auto& to = arrays.outputs.front();
  const auto bytes = std::min({from.bytes(), to.bytes(), std::max<std::uint64_t>(plan.bytes_moved() / 2, 1)});
  const auto copy = measure(device, 2 * bytes, options.repeat,
                            [&] { device.copy(to.address(), from.address(), bytes, nullptr); });
  clear_outputs(device, arrays);
  const auto moved = measure(device, plan.bytes_moved(), options.repeat, [&] { plan(); });
  if (!json) say_times(moved, copy);
  Json report = to_json(moved);
  report["driver_copy"] = to_json(copy);
  return report;
}

/// The files that --out names, opened before anything is run.
std::vector<std::unique_ptr<OutputArray>> open_outputs(const RunOptions& options,
                                                       const MoveProblem& problem) {
  if (!options.out.empty() && options.out.size() != problem.outputs.size()) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        fmt::format("--out is given {} time{}, but {} has {} output{}", options.out.size(),
                                    options.out.size() == 1 ? "" : "s", problem.operation,
                                    problem.outputs.size(), problem.outputs.size() == 1 ? "" : "s"));
  }
  std::vector<std::unique_ptr<OutputArray>> files;
  for (const auto& path : options.out) files.push_back(std::make_unique<OutputArray>(path));
  return files;
}

Json arrays_to_json(const MoveProblem& problem) {
  Json list = Json::array();
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    Json view = to_json(problem.inputs[i].view);
    view["name"] = problem.inputs[i].name;
    if (!problem.files.empty()) view["file"] = problem.files[i].path().string();
    list.push_back(std::move(view));
  }
  for (const auto& output : problem.outputs) {
    Json view = to_json(output.view);
    view["name"] = output.name;
    list.push_back(std::move(view));
  }
  return list;
}

}  // namespace

int run_move(const RunOptions& options, bool json) {
  const auto problem = make_move(options.kernel, options.move);
  const auto files = open_outputs(options, problem);
  if (options.check && problem.operation == "map") {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        "--check has nothing to compare a map with: no expression is evaluated on the CPU");
  }
  auto runtime_choice = runtime_options(options.compiler);
  const auto choice = select_device(options.device, options.simulation, options.wants_simulation);
  const auto& device = choice.device;
  std::vector<std::span<std::byte>> reserved;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& view = problem.outputs[i].view;
    reserved.push_back(files[i]->reserve(view.type, std::span(view.shape).first(view.rank)));
  }
  say_choice(choice);
  if (!json) {
    for (const auto& file : problem.files) say_input(file);
    say("move", describe(problem));
  }

  runtime_choice.device = device;
  tmajit::Runtime runtime(std::move(runtime_choice));
  const auto arrays = make_arrays(device, problem, options.seed);
  const auto plan = make_plan(runtime, problem.moves(addresses(arrays.inputs), addresses(arrays.outputs)));
  const auto explanation = plan.explain();
  Json report{{"operation", problem.operation},
              {"arguments", problem.arguments},
              {"tensors", arrays_to_json(problem)},
              {"plan", to_json(explanation)}};
  auto& run = report["run"];
  run["device"] = to_json(device->info());
  run["bytes"] = plan.bytes_moved();
  if (!json) {
    for (const auto& step : explanation.steps) say("kernel", describe(step));
    if (explanation.steps.empty()) say("kernel", "none: there is nothing to move");
  }

  bool right = true;
  if (!explanation.steps.empty()) {
    if (choice.simulation) {
      Artifacts artifacts;
      for (const auto& kernel : plan.kernels()) artifacts.push_back(&kernel.artifact());
      right = simulate(
          *choice.simulation, artifacts, [&] { plan(); }, report, json);
    } else {
      run.update(time_on_gpu(*device, plan, arrays, options, json));
    }
  }

  report["outputs"] = Json::array();
  if (right && (options.check || !files.empty())) {
    std::vector<std::vector<std::byte>> found;
    for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
      found.push_back(copy_out(*device, arrays.outputs[i].address(), problem.outputs[i].memory.bytes));
    }
    if (options.check) right = check(problem, arrays, found, report, json);
    const Progress progress("writing");
    for (std::size_t i = 0; right && i < files.size(); ++i) {
      const auto& view = problem.outputs[i].view;
      gather(reserved[i], found[i], problem.outputs[i].memory, view);
      files[i]->commit();
      report["outputs"].push_back(options.out[i]);
      if (!json) {
        say("output", fmt::format("{}: {} [{}]", options.out[i], npy_descr(view.type),
                                  fmt::join(view.shape.begin(), view.shape.begin() + view.rank, ", ")));
      }
    }
  }
  if (json) print_json(report);
  return right ? 0 : 1;
}

}  // namespace jitc
