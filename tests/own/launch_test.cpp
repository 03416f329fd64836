// A caller's kernel on the simulated device: its launch is checked, run, rebound to other memory, timed and
// linted.
#include "own/scale_kernel.hpp"
#include "spec/inside.hpp"

#include <tmajit/error.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
using tests::Factors;

namespace {

const std::string scale = tests::scale_kernel(32);

constexpr std::uint32_t rows = 8;
constexpr std::uint32_t tiles = 3;
constexpr std::uint32_t elements = rows * tiles * 32;

/// A simulated device with the kernel, its arrays and its launch.
struct Bench {
  std::shared_ptr<SimDevice> device = make_sim_device();
  Runtime runtime{{.device = device, .cache_directory = std::nullopt}};
  Kernel kernel = runtime.kernel(source({.text = scale,
                                         .file = "scale.cu",
                                         .entry = "scale<rows, float>",
                                         .constants = {{"rows", static_cast<int>(rows)}}}));
  Buffer x{device, elements * sizeof(float)};
  Buffer y{device, elements * sizeof(float)};
  Buffer bias{device, 256};

  void set(const Buffer& buffer, const std::vector<float>& values) {
    device->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
  }
  std::vector<float> get(const Buffer& buffer) {
    std::vector<float> values(elements);
    device->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
    device->streams().synchronize(nullptr);
    return values;
  }
  OwnLaunch launch() {
    const Tensor tensor = Tensor::contiguous(ElementType::f32, {rows * tiles, 32}, x.address());
    return {.tensors = {tensor, Tensor::contiguous(ElementType::f32, {rows * tiles, 32}, y.address()),
                        Tensor::contiguous(ElementType::f32, {1}, bias.address())},
            .arguments = {MapArgument{0, TensorMapSpec::of(tensor.view, {rows, 32})}, AddressArgument{1},
                          ValueArgument::of(Factors{2, nullptr}, {{offsetof(Factors, bias), {2}}})},
            .shape = {.grid = {tiles, 1, 1}, .block = {64, 1, 1}}};
  }
};

std::vector<float> counted() {
  std::vector<float> values(elements);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}
std::vector<float> expected(const std::vector<float>& x, float bias) {
  std::vector<float> y(x.size());
  std::ranges::transform(x, y.begin(), [bias](float value) { return 2 * value + bias; });
  return y;
}

}  // namespace

TEST_CASE("a caller's kernel can be prepared, launched, rebound and timed") {
  Bench bench;
  CHECK(bench.kernel.entry() == "_Z5scaleILi8EfEvN6tmajit6params9TensorMapEPT0_7Factors");
  const std::vector<float> x = counted();
  bench.set(bench.x, x);
  bench.set(bench.bias, {10});
  PreparedLaunch prepared = bench.kernel.prepare(bench.launch());
  CHECK(prepared.shape().grid[0] == tiles);
  CHECK(prepared.bytes_moved() == 2ULL * elements * sizeof(float) + sizeof(float));
  prepared();
  CHECK(bench.get(bench.y) == expected(x, 10));

  // The addresses in the tensor map, the pointer and the struct change.
  const Buffer other_x(bench.device, elements * sizeof(float));
  const Buffer other_y(bench.device, elements * sizeof(float));
  const Buffer other_bias(bench.device, 256);
  std::vector<float> reversed(x.rbegin(), x.rend());
  bench.set(other_x, reversed);
  bench.set(other_bias, {-1});
  prepared.rebind({other_x.address(), other_y.address(), other_bias.address()});
  CHECK(bench.device->timing().time(nullptr, 2, [&] { prepared(); }).size() == 2);
  CHECK(bench.get(other_y) == expected(reversed, -1));
  CHECK(bench.get(bench.y) == expected(x, 10));
  CHECK_THROWS_MATCHES(prepared.rebind({other_x.address()}), Error,
                       MessageMatches(ContainsSubstring("1 address for a launch of 3 operands")));
}

TEST_CASE("an equal description gives the same kernel, which has no findings with the facts of its maps") {
  Bench bench;
  const Kernel again = bench.runtime.kernel(source({.text = scale,
                                                    .file = "scale.cu",
                                                    .entry = "scale<rows, float>",
                                                    .constants = {{"rows", static_cast<int>(rows)}}}));
  CHECK(Inside::state(again) == Inside::state(bench.kernel));
  const OwnLaunch launch = bench.launch();
  const auto& map = std::get<MapArgument>(launch.arguments[0]);
  const LintResult lint =
      lint_ptx(again.artifact().ptx, {.name = "scale", .maps = {map_facts("0", map.spec)}});
  CHECK(lint.report.empty());
  CHECK(lint.kernels.size() == 1);
  CHECK(lint.unfinished.empty());
}

TEST_CASE("a kernel's mistake is reported with the line in the caller's source") {
  Bench bench;
  std::string text = scale;
  text.replace(text.find("full.expect(sizeof tile)"), 24, "full.expect(sizeof tile + 16)");
  const Kernel broken =
      bench.runtime.kernel(source({.text = text, .file = "scale.cu", .entry = "scale<8, float>"}));
  broken.prepare(bench.launch())();
  REQUIRE_FALSE(bench.device->reports().empty());
  const Report report = bench.device->reports().front();
  CHECK(report.source_file == "scale.cu");
  CHECK(report.source_line == 14);
  CHECK(report.text().find(", source scale.cu:14") != std::string::npos);
}

TEST_CASE("the error for arguments that do not fit names the kernel's parameters") {
  Bench bench;
  const auto refused = [&](const auto& change, const std::string& why) {
    OwnLaunch launch = bench.launch();
    change(launch);
    CHECK_THROWS_MATCHES(bench.kernel.prepare(launch), Error, MessageMatches(ContainsSubstring(why)));
  };
  refused([](OwnLaunch& launch) { launch.arguments.pop_back(); },
          "takes 3 parameters, but the launch gives 2");
  refused(
      [](OwnLaunch& launch) { launch.arguments[1] = ValueArgument::of(1.0F); },
      "argument 1 of '_Z5scaleILi8EfEvN6tmajit6params9TensorMapEPT0_7Factors' is a value of 4 bytes, but the "
      "kernel's parameter has 8 bytes");
  refused([](OwnLaunch& launch) { launch.arguments[0] = AddressArgument{0}; },
          "is an address, 8 bytes, but the kernel's parameter has 128 bytes");
  refused([](OwnLaunch& launch) { std::get<AddressArgument>(launch.arguments[1]).tensor = 3; },
          "lies in tensor 3, but the launch has 3 tensors, counted from 0");
  refused([](OwnLaunch& launch) { std::get<ValueArgument>(launch.arguments[2]).addresses[0].at = 12; },
          "holds no address at byte 12");
  refused([](OwnLaunch& launch) { launch.shape.shared_bytes = 16; },
          "asks for 16 bytes of dynamic shared memory");
  refused([](OwnLaunch& launch) { launch.shape.grid = {3}; }, "a grid of (3, 0, 0) is empty");
  refused([](OwnLaunch& launch) { launch.arguments.resize(40, AddressArgument{}); },
          "has 40 arguments; the most is 32");
  refused([](OwnLaunch& launch) { launch.tensors.resize(17); }, "has 17 tensors; the most is 16");
}

TEST_CASE("the error for illegal tensor maps of a launch names every broken rule") {
  Bench bench;
  OwnLaunch launch = bench.launch();
  auto& map = std::get<MapArgument>(launch.arguments[0]);
  map.offset = 4;
  map.spec.box[1] = 3;
  try {
    static_cast<void>(bench.kernel.prepare(launch));
    FAIL("no error was thrown");
  } catch (const SpecError& error) {
    REQUIRE(error.violations().size() == 2);
    for (const Violation& violation : error.violations())
      CHECK(violation.subject.starts_with("argument 0: "));
  }
}

TEST_CASE("a struct parameter may hold tensor maps, which can be rebound") {
  Bench bench;
  struct alignas(64) Inside {  // NOLINT(clang-analyzer-optin.performance.Padding): as the kernel has it
    float factor;
    alignas(64) std::array<std::byte, 128> x;
    float* y;
  };
  std::string text = scale;
  const auto replace = [&](std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("struct Factors { float factor; const float* bias; };",
          "struct alignas(64) Factors { float factor; alignas(64) TensorMap map; float* y; };");
  replace("const __grid_constant__ TensorMap x, T* y, Factors factors",
          "const __grid_constant__ Factors factors");
  replace("tile), x,", "tile), factors.map,");
  replace("y[u64", "factors.y[u64");
  replace(" + *factors.bias", "");
  const Kernel kernel = bench.runtime.kernel(
      source({.text = text, .file = "inside.cu", .entry = "scale<rows, float>", .constants = {{"rows", 8}}}));
  OwnLaunch launch = bench.launch();
  launch.tensors.pop_back();
  const MapArgument map = std::get<MapArgument>(launch.arguments[0]);
  const auto value = ValueArgument::of(Inside{2, {}, nullptr}, {{offsetof(Inside, y), {1}}}, {{64, map}});
  launch.arguments = {value};
  const std::vector<float> x = counted();
  bench.set(bench.x, x);
  PreparedLaunch prepared = kernel.prepare(launch);
  prepared();
  CHECK(bench.get(bench.y) == expected(x, 0));
  const Buffer other(bench.device, elements * sizeof(float));
  const std::vector<float> reversed(x.rbegin(), x.rend());
  bench.set(other, reversed);
  prepared.rebind({other.address(), bench.y.address()});
  prepared();
  CHECK(bench.get(bench.y) == expected(reversed, 0));

  MapFacts facts = map_facts("0", map.spec);
  facts.offset = 64;
  CHECK(lint_ptx(kernel.artifact().ptx, {.name = "inside", .maps = {facts}}).report.empty());
  facts.box_bytes /= 2;
  CHECK(lint_ptx(kernel.artifact().ptx, {.name = "inside", .maps = {facts}}).findings.size() == 1);

  const auto refusal = [&](const ValueArgument& wrong) {
    launch.arguments = {wrong};
    try {
      (void)kernel.prepare(launch);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  ValueArgument odd = value;
  odd.maps[0].at = 32;
  CHECK_THAT(refusal(odd), ContainsSubstring("holds no tensor map at byte 32: a multiple of 64"));
  odd = value;
  odd.alignment = 16;
  CHECK_THAT(refusal(odd),
             ContainsSubstring("with tensor maps is aligned to 16 bytes; 64 or 128 bytes are legal"));
  odd = value;
  odd.maps[0].map.spec.box[0] = 1000;
  CHECK_THAT(refusal(odd), ContainsSubstring("argument 0, byte 64, box[0]: "));
}
