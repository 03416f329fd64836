// The caller's own kernels on a GPU: launched, rebound to other tensors, checked against the driver's
// parameter sizes, tuned, and compiled with CUDA's headers.
#include "gpu/support.hpp"
#include "own/scale_kernel.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>
#include <tmajit/own_tuning.hpp>

#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
using tests::Factors;

namespace {

const std::string scale = tests::scale_kernel(64);

constexpr std::uint32_t all_rows = 4096;

/// The arrays that the kernel works on.
struct Arrays {
  explicit Arrays(const std::shared_ptr<Device>& on) : device(on), x(on, bytes), y(on, bytes), bias(on, 256) {
    std::iota(values.begin(), values.end(), 0.0F);
    device->memory().copy_in(x.address(), std::as_bytes(std::span(values)), nullptr);
    const float ten = 10;
    device->memory().copy_in(bias.address(), std::as_bytes(std::span(&ten, 1)), nullptr);
  }
  [[nodiscard]] bool is_right() {
    std::vector<float> got(values.size());
    device->memory().copy_out(std::as_writable_bytes(std::span(got)), y.address(), nullptr);
    device->streams().synchronize(nullptr);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != 2 * values[i] + 10) return false;
    }
    return true;
  }
  [[nodiscard]] OwnVariant variant(const std::vector<KernelConstant>& constants) const {
    const auto rows = static_cast<std::uint32_t>(std::get<std::int32_t>(constants.at(0).value));
    const Tensor tensor = Tensor::contiguous(ElementType::f32, {all_rows, 64}, x.address());
    return {
        .kernel = {.text = scale, .file = "scale.cu", .entry = "scale<rows, float>", .constants = constants},
        .launch = {
            .tensors = {tensor, Tensor::contiguous(ElementType::f32, {all_rows, 64}, y.address()),
                        Tensor::contiguous(ElementType::f32, {1}, bias.address())},
            .arguments = {MapArgument{0, TensorMapSpec::of(tensor.view, {rows, 64})}, AddressArgument{1},
                          ValueArgument::of(Factors{2, nullptr}, {{offsetof(Factors, bias), {2}}})},
            .shape = {.grid = {all_rows / rows, 1, 1}, .block = {128, 1, 1}}}};
  }

  static constexpr std::uint64_t bytes = std::uint64_t{all_rows} * 64 * sizeof(float);
  std::shared_ptr<Device> device;
  Buffer x;
  Buffer y;
  Buffer bias;
  std::vector<float> values = std::vector<float>(std::size_t{all_rows} * 64);
};

}  // namespace

TEST_CASE("the caller's kernel runs, can be rebound, and refuses arguments of the wrong size", "[gpu]") {
  REQUIRE_HOPPER(device);
  const TemporaryFolder cache;
  const Runtime runtime({.device = device, .cache_directory = cache.path()});
  Arrays arrays(device);
  const OwnVariant variant = arrays.variant({{"rows", 16}});
  const Kernel kernel = runtime.kernel(source(variant.kernel));
  PreparedLaunch launch = kernel.prepare(variant.launch);
  launch();
  CHECK(arrays.is_right());
  Arrays moved(device);
  launch.rebind({moved.x.address(), moved.y.address(), moved.bias.address()});
  launch();
  CHECK(moved.is_right());

  OwnLaunch wrong = variant.launch;
  wrong.arguments[1] = ValueArgument::of(1.0F);
  CHECK_THROWS_MATCHES(
      kernel.prepare(wrong), Error,
      MessageMatches(ContainsSubstring("is a value of 4 bytes, but the kernel's parameter has 8 bytes")));
  wrong.arguments.pop_back();
  CHECK_THROWS_MATCHES(kernel.prepare(wrong), Error, MessageMatches(ContainsSubstring("takes 3 parameters")));
}

TEST_CASE("constants of the caller's kernel are tuned on the caller's tensors", "[gpu]") {
  REQUIRE_HOPPER(device);
  const TemporaryFolder cache;
  const Runtime runtime({.device = device, .cache_directory = cache.path()});
  Arrays arrays(device);
  // 1024 rows need more shared memory than a kernel can declare.
  const OwnTuneReport report = tune(runtime, {{"rows", {8, 16, 32, 64, 1024}}},
                                    [&](const auto& constants) { return arrays.variant(constants); });
  CHECK(report.left_out.size() == 1);
  REQUIRE(report.candidates.size() == 4);
  for (const auto& one : report.candidates) {
    std::cout << one.constants[0].name << " = " << one.constants[0].literal() << ": " << one.microseconds
              << " us\n";
    CHECK(one.microseconds > 0);
  }
  CHECK(arrays.is_right());
  const OwnVariant best = arrays.variant(report.candidates.front().constants);
  CHECK(runtime.kernel(source(best.kernel)).level() ==
        CacheLevel::compiled);  // the kernel that tune() compiled
}

TEST_CASE("a kernel that uses libcu++ runs on a GPU", "[gpu]") {
  REQUIRE_HOPPER(device);
  std::vector<std::filesystem::path> folders;
  try {
    folders = cuda_include_folders();
  } catch (const Error& error) {
    SKIP(error.what());
  }
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Kernel kernel = runtime.kernel(source({.text = R"(
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void doubled(const int* in, int* out) {
  __shared__ alignas(16) int tile[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (threadIdx.x == 0) cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.wait(bar.arrive());
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}
)",
                                               .entry = "doubled",
                                               .include_folders = folders}));
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 0);
  const Buffer in(device, 1024);
  const Buffer out(device, 1024);
  device->memory().copy_in(in.address(), std::as_bytes(std::span(values)), nullptr);
  const Tensor from = Tensor::contiguous(ElementType::i32, {256}, in.address());
  const Tensor to = Tensor::contiguous(ElementType::i32, {256}, out.address());
  kernel.prepare({.tensors = {from, to},
                  .arguments = {AddressArgument{0}, AddressArgument{1}},
                  .shape = {.grid = {1, 1, 1}, .block = {256, 1, 1}}})();
  std::vector<int> got(256);
  device->memory().copy_out(std::as_writable_bytes(std::span(got)), out.address(), nullptr);
  device->streams().synchronize(nullptr);
  for (int& value : values) value *= 2;
  CHECK(got == values);
}
