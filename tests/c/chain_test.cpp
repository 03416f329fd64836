/// Chains by the C interface, on the simulated device and on arbitrary arguments.
#include "c/call_error.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/c.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace c_chain_test {

constexpr std::int64_t rows = 6;
constexpr std::int64_t columns = 40;
using Matrix = std::array<float, rows * columns>;

tmajit_tensor matrix_at(std::uint64_t address) {
  tmajit_tensor made{};
  made.size = sizeof made;
  made.address = address;
  made.dtype = TMAJIT_F32;
  made.rank = 2;
  made.extents[0] = rows;
  made.extents[1] = columns;
  return made;
}

/// A runtime on the simulated device, and buffers of matrices.
class Device {
 public:
  Device() {
    const auto folder = tests::shared_kernels();
    const std::string path = folder ? folder->string() : "";
    tmajit_runtime_options options{};
    options.size = sizeof options;
    options.device = TMAJIT_DEVICE_SIMULATED;
    options.cache_directory = path.c_str();
    options.no_line_info = 1;
    REQUIRE(tmajit_runtime_make(&options, &runtime, error.out()) == TMAJIT_OK);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    for (tmajit_buffer* const buffer : buffers_) tmajit_buffer_destroy(buffer);
    tmajit_runtime_destroy(runtime);
  }

  tmajit_tensor matrix(const Matrix& values) {
    tmajit_buffer*& buffer = buffers_.emplace_back();
    REQUIRE(tmajit_buffer_make(runtime, sizeof values, &buffer, error.out()) == TMAJIT_OK);
    REQUIRE(tmajit_buffer_write(buffer, 0, values.data(), sizeof values, nullptr, error.out()) == TMAJIT_OK);
    REQUIRE(tmajit_synchronize(runtime, nullptr, error.out()) == TMAJIT_OK);
    return matrix_at(tmajit_buffer_address(buffer));
  }
  Matrix values(const tmajit_tensor& matrix) {
    Matrix read{};
    REQUIRE(tmajit_synchronize(runtime, nullptr, error.out()) == TMAJIT_OK);
    for (tmajit_buffer* const buffer : buffers_) {
      if (tmajit_buffer_address(buffer) != matrix.address) continue;
      REQUIRE(tmajit_buffer_read(buffer, 0, read.data(), sizeof read, nullptr, error.out()) == TMAJIT_OK);
    }
    REQUIRE(tmajit_synchronize(runtime, nullptr, error.out()) == TMAJIT_OK);
    return read;
  }

  tests::CallError error;
  tmajit_runtime* runtime = nullptr;

 private:
  std::vector<tmajit_buffer*> buffers_;
};

/// A map as a value.
tmajit_operation* map_of(const tmajit_tensor& to, const char* expression, const tmajit_tensor& from) {
  tests::CallError error;
  tmajit_map_arguments arguments{};
  arguments.size = sizeof arguments;
  arguments.expression = expression;
  tmajit_operation* made = nullptr;
  REQUIRE(tmajit_map_operation(&to, &from, 1, &arguments, &made, error.out()) == TMAJIT_OK);
  return made;
}

/// A map, and a softmax of its result: the second operation reads what the first one writes.
std::array<tmajit_operation*, 2> map_and_softmax(const tmajit_tensor& to, const tmajit_tensor& between,
                                                 const tmajit_tensor& from) {
  std::array<tmajit_operation*, 2> made{map_of(between, "x * 0.125f", from), nullptr};
  tests::CallError error;
  REQUIRE(tmajit_softmax_operation(&to, &between, nullptr, &made[1], error.out()) == TMAJIT_OK);
  return made;
}

}  // namespace c_chain_test

using namespace c_chain_test;

TEST_CASE("a chain by the C interface is one kernel, runs elsewhere, and outlives its operations") {
  Device device;
  tests::CallError& error = device.error;
  Matrix ramp{};
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i % 7);
  const tmajit_tensor x = device.matrix(ramp);
  const tmajit_tensor t = device.matrix({});
  const tmajit_tensor y = device.matrix({});
  const auto operations = map_and_softmax(y, t, x);
  tmajit_plan* plan = nullptr;
  REQUIRE(tmajit_chain_plan(device.runtime, operations.data(), 2, &t, 1, &plan, error.out()) == TMAJIT_OK);
  tmajit_plan* separate = nullptr;
  REQUIRE(tmajit_chain_plan(device.runtime, operations.data(), 2, nullptr, 0, &separate, error.out()) ==
          TMAJIT_OK);
  for (tmajit_operation* const one : operations) tmajit_operation_destroy(one);

  CHECK(tmajit_plan_kernel_count(plan) == 1);
  CHECK(tmajit_plan_kernel_count(separate) == 2);
  CHECK(tmajit_plan_bytes_moved(plan) == 2 * sizeof ramp);
  REQUIRE(tmajit_plan_sentence_count(plan) == 1);
  CHECK_THAT(tmajit_plan_sentence(plan, 0), StartsWith("operation 0 (map) is fused into operation 1"));
  CHECK(tmajit_plan_sentence(plan, 1) == nullptr);
  tmajit_text* text = nullptr;
  REQUIRE(tmajit_plan_explanation(plan, &text, error.out()) == TMAJIT_OK);
  CHECK_THAT(tmajit_text_data(text), StartsWith(tmajit_plan_sentence(plan, 0)));
  tmajit_text_destroy(text);
  REQUIRE(tmajit_plan_explanation_json(plan, &text, error.out()) == TMAJIT_OK);
  CHECK_THAT(tmajit_text_data(text), ContainsSubstring("\"sentences\":[\"operation 0 (map)"));
  tmajit_text_destroy(text);
  tmajit_kernel* kernel = nullptr;
  REQUIRE(tmajit_plan_kernel(separate, 1, &kernel, error.out()) == TMAJIT_OK);
  tmajit_kernel_destroy(kernel);
  CHECK(tmajit_plan_kernel(plan, 1, &kernel, error.out()) == TMAJIT_INVALID_ARGUMENT);

  REQUIRE(tmajit_plan_launch(separate, nullptr, error.out()) == TMAJIT_OK);
  const Matrix right = device.values(y);
  const tmajit_tensor cleared = device.matrix({});
  const std::array moved{y};
  REQUIRE(tmajit_plan_launch_moved(plan, moved.data(), &cleared.address, 1, nullptr, error.out()) ==
          TMAJIT_OK);
  CHECK(device.values(cleared) == right);
  const std::uint64_t addresses[] = {x.address};
  CHECK(tmajit_plan_launch_on(plan, addresses, 1, addresses, 1, nullptr, error.out()) ==
        TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("tmajit_plan_launch_moved()"));
  CHECK(tmajit_plan_launch_moved(plan, moved.data(), addresses, 1, nullptr, error.out()) ==
        TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("as was not planned"));
  tmajit_plan_destroy(plan);
  tmajit_plan_destroy(separate);

  tmajit_softmax_arguments none{};
  none.size = sizeof none;
  REQUIRE(tmajit_softmax_plan(device.runtime, &y, &x, &none, nullptr, &plan, error.out()) == TMAJIT_OK);
  CHECK(tmajit_plan_sentence_count(plan) == 0);
  CHECK(tmajit_plan_launch_moved(plan, moved.data(), addresses, 1, nullptr, error.out()) ==
        TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("tmajit_plan_launch_on()"));
  tmajit_plan_destroy(plan);
}

TEST_CASE("arbitrary chains, unused tensors and addresses give plans and launches, or errors") {
  const std::uint64_t seed = tests::seed(20261202);
  INFO("TMAJIT_SEED=" << seed);
  std::mt19937_64 random(seed);
  Device device;
  std::array<tmajit_tensor, 4> tensors{};
  for (tmajit_tensor& tensor : tensors) tensor = device.matrix({});
  const auto any = [&] {
    tmajit_tensor tensor = tensors[random() % tensors.size()];
    if (random() % 16 == 0) tensor.size = random() % 200;
    if (random() % 16 == 0) tensor.rank = static_cast<std::uint32_t>(random() % 12);
    if (random() % 16 == 0) tensor.extents[0] = static_cast<std::int64_t>(random() % 9) - 2;
    if (random() % 16 == 0) tensor.address += random() % 64;
    if (random() % 16 == 0) tensor.dtype = static_cast<tmajit_dtype>(random() % 20);
    return tensor;
  };
  std::array<std::uint64_t, 2> outcomes{};
  for (int n = 0; n < 200; ++n) {
    INFO("chain " << n);
    std::vector<tmajit_operation*> chain;
    for (std::uint64_t k = random() % 4; k > 0; --k) {
      const tmajit_tensor to = any();
      const tmajit_tensor from = any();
      tmajit_operation* made = nullptr;
      tmajit_flip_arguments flip{};
      flip.size = sizeof flip;
      flip.axes.count = 1;
      flip.axes.values[0] = static_cast<std::int64_t>(random() % 4) - 1;
      const tmajit_status status = tmajit_flip_operation(&to, &from, &flip, &made, device.error.out());
      CHECK((made != nullptr) == (status == TMAJIT_OK));
      if (made != nullptr || random() % 4 == 0) chain.push_back(made);
    }
    const std::vector<tmajit_tensor> unused{any(), any()};
    tmajit_plan* plan = nullptr;
    const tmajit_status status = tmajit_chain_plan(
        device.runtime, random() % 16 == 0 ? nullptr : chain.data(), chain.size(),
        random() % 8 == 0 ? nullptr : unused.data(), random() % 3, &plan, device.error.out());
    CHECK(status != TMAJIT_INTERNAL);
    REQUIRE((plan != nullptr) == (status == TMAJIT_OK));
    ++outcomes[status == TMAJIT_OK ? 0 : 1];
    if (plan != nullptr) {
      const std::vector<tmajit_tensor> moved{any(), any()};
      const std::array<std::uint64_t, 2> addresses{any().address, any().address};
      const tmajit_status launched = tmajit_plan_launch_moved(
          plan, random() % 8 == 0 ? nullptr : moved.data(), random() % 8 == 0 ? nullptr : addresses.data(),
          random() % 3, nullptr, device.error.out());
      CHECK(launched != TMAJIT_INTERNAL);
      ++outcomes[launched == TMAJIT_OK ? 0 : 1];
      CHECK(tmajit_plan_sentence(plan, tmajit_plan_sentence_count(plan) + random() % 3) == nullptr);
    }
    tmajit_plan_destroy(plan);
    for (tmajit_operation* const one : chain) tmajit_operation_destroy(one);
    // Launches beyond the end of a buffer are reported, and end here.
    static_cast<void>(tmajit_synchronize(device.runtime, nullptr, device.error.out()));
  }
  std::cout << "  chains: " << outcomes[0] << " plans and launches, " << outcomes[1] << " errors\n";
  CHECK(outcomes[0] > 0);
  CHECK(outcomes[1] > 0);
}
