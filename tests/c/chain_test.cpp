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
#include <string_view>
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

/// Draws operations of matrices, most of which are legal.
class DrawnOperations {
 public:
  DrawnOperations(std::mt19937_64& random, const std::array<tmajit_tensor, 6>& tensors)
      : random_(random), tensors_(tensors) {}

  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  /// One of the matrices; one in six has another member.
  tmajit_tensor any() {
    tmajit_tensor tensor = tensors_[random_() % tensors_.size()];
    if (one_in(30)) tensor.size = random_() % 200;
    if (one_in(30)) tensor.rank = static_cast<std::uint32_t>(random_() % 12);
    if (one_in(30)) tensor.extents[0] = static_cast<std::int64_t>(random_() % 9) - 2;
    if (one_in(30)) tensor.address += random_() % 64;
    if (one_in(30)) tensor.dtype = static_cast<tmajit_dtype>(random_() % 20);
    return tensor;
  }
  /// An operation of one of the kinds; nothing if it is illegal.
  tmajit_operation* draw() {
    tests::CallError error;
    tmajit_operation* made = nullptr;
    const std::size_t kind = random_() % kinds.size();
    const tmajit_status status = draw_kind(kinds[kind], made, error);
    CHECK(status != TMAJIT_INTERNAL);
    CHECK((made != nullptr) == (status == TMAJIT_OK));
    if (made == nullptr) return made;
    ++legal[kind];
    before_last = last;
    last = to_;
    return made;
  }

  static constexpr std::array<std::string_view, 4> kinds{"flip", "permute", "map", "reduce"};
  std::array<std::uint64_t, kinds.size()> legal{};  ///< operations of each kind that were made
  tmajit_tensor last{};                             ///< the destination of the last one
  tmajit_tensor before_last{};

 private:
  template <class Arguments>
  static Arguments sized() {
    Arguments arguments{};
    arguments.size = sizeof arguments;
    return arguments;
  }
  /// A matrix with one value for each row.
  tmajit_tensor any_column() {
    tmajit_tensor column = any();
    column.extents[1] = 1;
    return column;
  }
  std::int64_t any_axis() { return static_cast<std::int64_t>(random_() % 4) - 1; }

  tmajit_status draw_kind(std::string_view kind, tmajit_operation*& made, tests::CallError& error) {
    const tmajit_tensor from = last.size != 0 && !one_in(4) ? last : any();
    to_ = any();
    if (kind == "flip") {
      auto flip = sized<tmajit_flip_arguments>();
      flip.axes.count = 1;
      flip.axes.values[0] = any_axis();
      return tmajit_flip_operation(&to_, &from, &flip, &made, error.out());
    }
    if (kind == "permute") {
      auto permute = sized<tmajit_permute_arguments>();
      permute.axes.count = 2;
      permute.axes.values[0] = one_in(8) ? any_axis() : 1;
      std::swap(to_.extents[0], to_.extents[1]);
      return tmajit_permute_operation(&to_, &from, &permute, &made, error.out());
    }
    if (kind == "map") {
      auto map = sized<tmajit_map_arguments>();
      const std::size_t sources = 1 + random_() % 2;
      map.expression = sources == 1 ? "x * 2" : "x0 - x1";
      if (one_in(16)) map.expression = "x0 + x2";
      // A reduction that is broadcast back to its source, if the last operation is one.
      const bool centres = last.size != 0 && last.extents[1] == 1;
      const std::array<tmajit_tensor, 2> both{centres ? last_source_ : from, centres     ? last
                                                                             : one_in(2) ? any()
                                                                                         : any_column()};
      return tmajit_map_operation(&to_, both.data(), sources, &map, &made, error.out());
    }
    constexpr std::array<const char*, 4> ops{"sum", "max", "arg_max", "most"};
    auto reduce = sized<tmajit_reduce_arguments>();
    reduce.op = ops[random_() % (one_in(8) ? 4 : 2)];
    reduce.axes.count = 1;
    reduce.axes.values[0] = one_in(8) ? any_axis() : 1;
    reduce.keep_dims = one_in(8) ? "no" : "yes";
    if (one_in(4)) reduce.epilogue = "x * 0.5f";
    to_.extents[1] = 1;
    last_source_ = from;
    return tmajit_reduce_operation(&to_, &from, 1, &reduce, &made, error.out());
  }

  std::mt19937_64& random_;
  std::array<tmajit_tensor, 6> tensors_;
  tmajit_tensor to_{};           ///< the destination that is drawn
  tmajit_tensor last_source_{};  ///< of the last reduction
};

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

TEST_CASE("a reduction by the C interface that is broadcast back to its elements is one kernel with them") {
  Device device;
  tests::CallError& error = device.error;
  Matrix ramp{};
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i % 7);
  const tmajit_tensor x = device.matrix(ramp);
  tmajit_tensor greatest = device.matrix({});
  greatest.extents[1] = 1;
  const tmajit_tensor y = device.matrix({});
  tmajit_reduce_arguments reduce{};
  reduce.size = sizeof reduce;
  reduce.op = "max";
  reduce.axes.count = 1;
  reduce.axes.values[0] = 1;
  reduce.keep_dims = "yes";
  tmajit_map_arguments map{};
  map.size = sizeof map;
  map.expression = "x0 - x1";
  const std::array both{x, greatest};
  std::array<tmajit_operation*, 2> operations{};
  REQUIRE(tmajit_reduce_operation(&greatest, &x, 1, &reduce, &operations[0], error.out()) == TMAJIT_OK);
  REQUIRE(tmajit_map_operation(&y, both.data(), 2, &map, &operations[1], error.out()) == TMAJIT_OK);
  tmajit_plan* plan = nullptr;
  REQUIRE(tmajit_chain_plan(device.runtime, operations.data(), 2, &greatest, 1, &plan, error.out()) ==
          TMAJIT_OK);
  for (tmajit_operation* const one : operations) tmajit_operation_destroy(one);
  CHECK(tmajit_plan_kernel_count(plan) == 1);
  CHECK_THAT(tmajit_plan_sentence(plan, 0), ContainsSubstring("as steps of rows"));
  REQUIRE(tmajit_plan_launch(plan, nullptr, error.out()) == TMAJIT_OK);
  const Matrix found = device.values(y);
  for (std::size_t i = 0; i < ramp.size(); ++i) CHECK(found[i] == ramp[i] - 6);
  tmajit_plan_destroy(plan);
}

TEST_CASE("arbitrary chains, unused tensors and addresses give plans and launches, or errors") {
  const std::uint64_t seed = tests::seed(20261202);
  INFO("TMAJIT_SEED=" << seed);
  std::mt19937_64 random(seed);
  Device device;
  std::array<tmajit_tensor, 6> tensors{};
  for (tmajit_tensor& tensor : tensors) tensor = device.matrix({});
  DrawnOperations draw(random, tensors);
  const auto any = [&] { return draw.any(); };
  std::uint64_t fused = 0;
  std::array<std::uint64_t, 2> outcomes{};
  for (int n = 0; n < 600; ++n) {
    INFO("chain " << n);
    std::vector<tmajit_operation*> chain;
    for (std::uint64_t k = random() % 5; k > 0; --k) {
      tmajit_operation* const made = draw.draw();
      if (made != nullptr || random() % 4 == 0) chain.push_back(made);
    }
    std::vector<tmajit_tensor> unused{any(), any()};
    if (draw.before_last.size != 0 && !draw.one_in(4)) unused[0] = draw.before_last;
    tmajit_plan* plan = nullptr;
    const tmajit_status status = tmajit_chain_plan(
        device.runtime, random() % 16 == 0 ? nullptr : chain.data(), chain.size(),
        random() % 8 == 0 ? nullptr : unused.data(), random() % 3, &plan, device.error.out());
    CHECK(status != TMAJIT_INTERNAL);
    REQUIRE((plan != nullptr) == (status == TMAJIT_OK));
    ++outcomes[status == TMAJIT_OK ? 0 : 1];
    if (plan != nullptr) {
      for (std::size_t k = 0; const char* const sentence = tmajit_plan_sentence(plan, k); ++k)
        fused += std::string_view(sentence).find(" is fused into ") != std::string_view::npos ? 1 : 0;
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
  std::cout << "  chains: " << outcomes[0] << " plans and launches, " << outcomes[1] << " errors, " << fused
            << " fusions\n";
  for (std::size_t kind = 0; kind < draw.legal.size(); ++kind) {
    INFO(DrawnOperations::kinds[kind]);
    CHECK(draw.legal[kind] > 10);
  }
  CHECK(fused > 0);
  CHECK(outcomes[0] > 0);
  CHECK(outcomes[1] > 0);
}
