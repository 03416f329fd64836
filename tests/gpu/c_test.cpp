/// Tuning through the C interface on a GPU.
#include <tmajit/c.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace {

constexpr std::int64_t elements = 1 << 20;

/// A runtime on the GPU and a buffer; null without a Hopper GPU.
struct Gpu {
  Gpu() {
    tmajit_runtime_options options{};
    options.size = sizeof options;
    options.cache_directory = "";
    tmajit_error* error = nullptr;
    const tmajit_status status = tmajit_runtime_make(&options, &runtime, &error);
    if (status == TMAJIT_UNAVAILABLE) std::cout << tmajit_error_message(error) << '\n';
    tmajit_error_destroy(error);
    if (status == TMAJIT_UNAVAILABLE) return;
    REQUIRE(status == TMAJIT_OK);
    for (tmajit_buffer*& buffer : buffers)
      REQUIRE(tmajit_buffer_make(runtime, elements * 4, &buffer, nullptr) == TMAJIT_OK);
  }
  ~Gpu() {
    for (tmajit_buffer* const buffer : buffers) tmajit_buffer_destroy(buffer);
    tmajit_runtime_destroy(runtime);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] tmajit_tensor tensor(std::size_t number) const {
    tmajit_tensor made{};
    made.size = sizeof made;
    made.address = tmajit_buffer_address(buffers[number]);
    made.dtype = TMAJIT_I32;
    made.rank = 2;
    made.extents[0] = made.extents[1] = 1024;
    return made;
  }

  tmajit_runtime* runtime = nullptr;
  std::array<tmajit_buffer*, 2> buffers{};
};

/// Describes the launch of one thread for each element of the tensor, with constants[0] threads in a CTA.
void describe(void* context, const tmajit_named_text* constants, std::size_t, tmajit_variant* variant) {
  const auto threads = static_cast<std::uint32_t>(std::strtoul(constants[0].text, nullptr, 10));
  tmajit_argument argument{};
  argument.size = sizeof argument;
  argument.kind = TMAJIT_ARGUMENT_ADDRESS;
  tmajit_launch launch{};
  launch.size = sizeof launch;
  launch.grid[0] = static_cast<std::uint32_t>(elements) / threads;
  launch.block[0] = threads;
  launch.tensors = static_cast<const tmajit_tensor*>(context);
  launch.tensor_count = 1;
  launch.arguments = &argument;
  launch.argument_count = 1;
  CHECK(tmajit_variant_launch(variant, &launch, nullptr) == TMAJIT_OK);
}

}  // namespace

TEST_CASE("a kernel and a plan are tuned through the C interface", "[gpu]") {
  const Gpu gpu;
  if (gpu.runtime == nullptr) SKIP("no Hopper GPU");
  tmajit_tensor y = gpu.tensor(0);
  tmajit_kernel_source source{};
  source.size = sizeof source;
  source.text =
      "static_assert(threads != 96);\n"
      "__global__ void number(int* y) { y[blockIdx.x * threads + threadIdx.x] = blockIdx.x * threads + "
      "threadIdx.x; }";
  const std::array values{"32", "96", "256", "1024"};
  const tmajit_constant_choices choices{"threads", values.data(), values.size()};
  tmajit_kernel_tune_report* tuned_kernel = nullptr;
  REQUIRE(tmajit_kernel_tune(gpu.runtime, &source, &choices, 1, describe, &y, nullptr, &tuned_kernel,
                             nullptr) == TMAJIT_OK);
  CHECK(tmajit_kernel_tune_report_left_out_count(tuned_kernel) == 1);
  REQUIRE(tmajit_kernel_tune_report_count(tuned_kernel) == 3);
  double previous = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    tmajit_tuned_kernel one{};
    one.size = sizeof one;
    REQUIRE(tmajit_kernel_tune_report_item(tuned_kernel, i, &one, nullptr) == TMAJIT_OK);
    std::cout << one.constants[0].name << " = " << one.constants[0].text << ": " << one.microseconds
              << " us\n";
    CHECK(one.microseconds > 0);
    CHECK(one.microseconds >= previous);
    previous = one.microseconds;
  }
  tmajit_kernel_tune_report_destroy(tuned_kernel);
  std::vector<std::int32_t> numbers(elements);
  REQUIRE(tmajit_buffer_read(gpu.buffers[0], 0, numbers.data(), elements * 4, nullptr, nullptr) == TMAJIT_OK);
  REQUIRE(tmajit_synchronize(gpu.runtime, nullptr, nullptr) == TMAJIT_OK);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < elements; ++i) wrong += numbers[static_cast<std::size_t>(i)] == i ? 0 : 1;
  CHECK(wrong == 0);

  const tmajit_tensor x = gpu.tensor(1);
  tmajit_permute_arguments swap{};
  swap.size = sizeof swap;
  swap.axes.count = 2;
  swap.axes.values[0] = 1;
  tmajit_plan* plan = nullptr;
  REQUIRE(tmajit_permute_plan(gpu.runtime, &y, &x, &swap, nullptr, &plan, nullptr) == TMAJIT_OK);
  tmajit_tune_report* tuned_plan = nullptr;
  REQUIRE(tmajit_plan_tune(plan, nullptr, &tuned_plan, nullptr) == TMAJIT_OK);
  CHECK(tmajit_tune_report_count(tuned_plan) > 1);
  tmajit_tuned fastest{};
  fastest.size = sizeof fastest;
  REQUIRE(tmajit_tune_report_item(tuned_plan, 0, &fastest, nullptr) == TMAJIT_OK);
  std::cout << fastest.choice << ": " << fastest.microseconds << " us\n";
  CHECK(fastest.microseconds > 0);
  tmajit_tune_report_destroy(tuned_plan);
  tmajit_plan_destroy(plan);
}
