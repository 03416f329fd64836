// An application that calls every function of the library tmajit::sim, and runs kernels of tmajit::tmajit on
// its device.
#include "expect.hpp"

#include <tmajit/lint.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/tmajit.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace tmajit;

namespace {

constexpr std::uint64_t rows = 64;
constexpr std::uint64_t columns = 96;
constexpr Dims shape{rows, columns};
constexpr Dims transposed{columns, rows};

struct Matrices {
  explicit Matrices(const std::shared_ptr<Device>& gpu)
      : device(gpu), input(gpu, rows * columns * 4), output(gpu, rows * columns * 4), x(rows * columns) {
    std::iota(x.begin(), x.end(), 0.0F);
    gpu->memory().copy_in(input.address(), std::as_bytes(std::span(x)), nullptr);
  }

  /// Returns the content of `output`, and overwrites it for the next run.
  std::vector<float> result() {
    device->streams().synchronize(nullptr);
    std::vector<float> y(rows * columns);
    device->memory().copy_out(std::as_writable_bytes(std::span(y)), output.address(), nullptr);
    device->memory().fill(output.address(), std::byte{0xff}, output.bytes(), nullptr);
    return y;
  }

  std::shared_ptr<Device> device;
  Buffer input;
  Buffer output;
  std::vector<float> x;
};

Tensor matrix(const Dims& extents, DevicePtr address) {
  return Tensor::contiguous(ElementType::f32, extents, address);
}

void move(Runtime& runtime, Matrices& matrices) {
  const Plan plan =
      tmajit::plan(runtime, operation::permute(matrix(transposed, matrices.output.address()),
                                               matrix(shape, matrices.input.address()), {1, 0}));
  plan();
  expect(matrices.result()[1] == matrices.x[columns], "a matrix is transposed");
  plan({matrices.output.address()}, {matrices.input.address()});
  expect(matrices.result()[rows] == matrices.x[1], "a matrix is transposed by its addresses");
}

/// Calls that time two kernels on the caller's data until the faster one becomes the choice.
void improve(Matrices& matrices) {
  const Runtime runtime({.device = matrices.device,
                         .cache_directory = std::nullopt,
                         .improve = {.candidates = 2, .timed_calls = 1, .min_predicted_us = 0}});
  const std::size_t before = tuning(runtime).all().size();
  for (int call = 0; call < 40 && tuning(runtime).all().size() == before; ++call) {
    permute(runtime, matrix(transposed, matrices.output.address()), matrix(shape, matrices.input.address()),
            {1, 0});
    expect(matrices.result()[1] == matrices.x[columns], "a matrix is transposed by whatever kernel");
  }
  expect(tuning(runtime).all().size() == before + 1, "a choice is added by calls");

  DeviceTiming& timing = matrices.device->timing();
  expect(timing.timer() != nullptr && timing.DeviceTiming::timer() == nullptr, "timer()");
  DeviceStreams& streams = matrices.device->streams();
  expect(!streams.DeviceStreams::is_captured(nullptr), "is_captured()");
}

/// Runs a prepared launch and returns its kernel's PTX.
std::string launch(Runtime& runtime, Matrices& matrices) {
  TileRequest request{.family = "map",
                      .destination = matrix(shape, matrices.output.address()),
                      .sources = {matrix(shape, matrices.input.address())},
                      .expression = "x * 2",
                      .tiles = {.box = {32, 32}}};
  const KernelPlan plan = plan_tiles(request);
  const Kernel kernel = runtime.kernel(plan);
  PreparedLaunch prepared = kernel.prepare(plan);
  PreparedLaunch launch(std::move(prepared));
  prepared = std::move(launch);
  expect(prepared.shape().block == plan.launch_shape().block && prepared.bytes_moved() == plan.bytes_moved(),
         "a prepared launch is its plan's");
  prepared();
  expect(matrices.result()[5] == 10, "a prepared launch");
  prepared.rebind({matrices.output.address(), matrices.input.address()});
  const auto milliseconds = matrices.device->timing().DeviceTiming::time_in_graph(
      2, 1, [&prepared](Stream stream) { prepared(stream); });
  expect(milliseconds.size() == 2 && matrices.result()[7] == 14, "time_in_graph()");

  const auto spec = TensorMapSpec::of(TensorView::contiguous(ElementType::f32, {64}), {64});
  EncodedTensorMap map;
  matrices.device->maps().DeviceMaps::set_address(map, spec, 4096);
  expect(map.opaque != EncodedTensorMap{}.opaque, "set_address()");
  return kernel.artifact().ptx;
}

/// A kernel that lacks a barrier: its two threads race for a word of shared memory.
constexpr const char* racing = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry racing()
{
  .reg .b32 %r<3>;
  .shared .align 4 .b8 word[4];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, word;
  st.shared.u32 [%r2], %r1;
  ret;
}
)";

void report(SimDevice& device) {
  Artifact artifact;
  artifact.entry = "racing";
  artifact.ptx = racing;
  expect(device.kernels().runs_ptx() && !device.kernels().DeviceKernels::runs_ptx(), "runs_ptx()");
  const auto kernel = device.kernels().load(artifact);
  kernel->launch({.block = {64, 1, 1}}, {}, nullptr);
  expect_error(ErrorCode::device_failed, [&device] { device.streams().synchronize(nullptr); });
  const std::vector<Report> reports = device.reports();
  expect(!reports.empty() && find_rule(reports[0].rule) != nullptr, "a report's rule is listed");
  expect(reports[0].text().find(find_rule(reports[0].rule)->remedy) != std::string::npos, "Report::text()");
  expect(check_rules().size() > 1 && find_rule("no such rule") == nullptr, "check_rules()");
  device.clear_reports();
}

void lint(const std::string& ptx) {
  expect(lint_ptx(ptx).findings.empty(), "a kernel of tmajit has no findings");
  expect(parse_allowed_rules("syntax k # remark", "rules").front().kernel == "k",
         "rules are allowed by a text");
  expect(std::string_view(name(Severity::omission)) == "omission", "severities have names");
  const auto map = TensorMapSpec::of(TensorView::contiguous(ElementType::f32, {64}), {32});
  const TensorView view = TensorView::contiguous(ElementType::f32, {64, 64});
  const KernelPlan copy = plan_tiles({.family = "copy", .destination = view, .sources = {view}});
  expect(map_facts(copy).size() == 2, "map_facts() of a plan");
  expect(!read_source_file("no such file").has_value(), "read_source_file()");
  const LintResult wrong = lint_ptx("mov.u32 %r1;", {.name = "text", .maps = {map_facts("map", map)}});
  expect(!wrong.findings.empty() && wrong.report.find("text:1:") != std::string::npos, "text that is no PTX");
}

}  // namespace

void use_launches();                            // in launches.cpp
void use_reports();                             // in reports.cpp
void use_modules(const std::string& ptx_file);  // in modules.cpp

int main() try {
  const std::shared_ptr<SimDevice> device = make_sim_device({.seed = 3});
  Matrices matrices(device);
  Buffer taken(std::move(matrices.output));
  matrices.output = std::move(taken);

  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  move(runtime, matrices);
  improve(matrices);
  lint(launch(runtime, matrices));
  report(*device);
  use_launches();
  use_reports();
  use_modules(MODULE_PTX);
  std::puts("tmajit::sim " TMAJIT_VERSION_STRING);
  return EXIT_SUCCESS;
} catch (const Error& error) {
  std::fprintf(stderr, "%s: %s\n", name(error.code()).data(), error.what());
  return EXIT_FAILURE;
}
