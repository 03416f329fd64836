/// Random cases of every operation through the C interface, on the simulated device.
#include "c/case_calls.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>

#include <iostream>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Buffers, reference::BufferView, reference::TestCase;

namespace {

/// Destroys the error. If the call failed, fails the test case with the error's message. `error` is a
/// reference, because the compiler may evaluate this argument before the call that stores it.
void require_ok(tmajit_status status, tmajit_error*& error) {
  const std::string message = tmajit_error_message(error);
  tmajit_error_destroy(error);
  INFO(message);
  REQUIRE(status == TMAJIT_OK);
}

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};
using OwnRuntime = std::unique_ptr<tmajit_runtime, Destroy<tmajit_runtime, tmajit_runtime_destroy>>;
using OwnBuffer = std::unique_ptr<tmajit_buffer, Destroy<tmajit_buffer, tmajit_buffer_destroy>>;
using OwnOperation = std::unique_ptr<tmajit_operation, Destroy<tmajit_operation, tmajit_operation_destroy>>;
using OwnPlan = std::unique_ptr<tmajit_plan, Destroy<tmajit_plan, tmajit_plan_destroy>>;

OwnRuntime simulated_runtime() {
  const auto folder = tests::shared_kernels();
  const std::string path = folder ? folder->string() : "";
  tmajit_simulation simulation{};
  simulation.size = sizeof simulation;
  simulation.threads = 1;
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_SIMULATED;
  options.cache_directory = path.c_str();
  options.no_line_info = 1;  // test_ops compiles the kernels that it shares without line information, too
  options.simulation = &simulation;
  tmajit_runtime* runtime = nullptr;
  tmajit_error* error = nullptr;
  require_ok(tmajit_runtime_make(&options, &runtime, &error), error);
  return OwnRuntime(runtime);
}

/// A case's buffers on a runtime's device.
class Memory {
 public:
  Memory(tmajit_runtime* runtime, const TestCase& test_case) : runtime_(runtime) {
    for (const std::uint64_t bytes : test_case.buffers) {
      tmajit_buffer* buffer = nullptr;
      tmajit_error* error = nullptr;
      require_ok(tmajit_buffer_make(runtime, bytes, &buffer, &error), error);
      buffers_.emplace_back(buffer);
    }
  }
  void write(const Buffers& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      tmajit_error* error = nullptr;
      require_ok(
          tmajit_buffer_write(buffers_[i].get(), 0, values[i].data(), values[i].size(), nullptr, &error),
          error);
    }
  }
  [[nodiscard]] Buffers read(Buffers like) {
    tmajit_error* error = nullptr;
    require_ok(tmajit_synchronize(runtime_, nullptr, &error), error);
    for (std::size_t i = 0; i < like.size(); ++i)
      require_ok(tmajit_buffer_read(buffers_[i].get(), 0, like[i].data(), like[i].size(), nullptr, &error),
                 error);
    return like;
  }
  [[nodiscard]] std::vector<tmajit_tensor> tensors(const std::vector<BufferView>& views) const {
    std::vector<tmajit_tensor> all;
    for (const BufferView& one : views) {
      tmajit_tensor tensor{};
      tensor.size = sizeof tensor;
      tensor.address = tmajit_buffer_address(buffers_[one.buffer].get()) + one.offset;
      tensor.dtype = tmajit_dtype_of(std::string(name(one.view.type)).c_str());
      tensor.rank = one.view.rank;
      tensor.strided = 1;
      for (std::uint32_t d = 0; d < one.view.rank; ++d) {
        tensor.extents[d] = static_cast<std::int64_t>(one.view.shape[d]);
        tensor.strides[d] = one.view.strides[d];
      }
      all.push_back(tensor);
    }
    return all;
  }

 private:
  tmajit_runtime* runtime_;
  std::vector<OwnBuffer> buffers_;
};

/// Checks that the C function gives the same shapes and types, or the same error, as the C++ function.
void check_results(const TestCase& test_case, const tests::CaseCall& call,
                   const std::vector<tmajit_tensor>& sources) {
  std::vector<TensorView> views;
  for (const BufferView& one : test_case.sources) views.push_back(one.view);
  for (const Tensor& number : test_case.numbers) views.push_back(number.view);
  tmajit_tensor unset{};
  unset.size = sizeof unset;
  tmajit_error* error = nullptr;
  std::vector<TensorView> expected;
  std::vector<tmajit_tensor> found(test_case.destinations.size(), unset);
  try {
    expected = destinations_of(test_case.operation, views, test_case.arguments);
  } catch (const Error& refused) {
    // Some cases have destinations whose shape does not follow from the sources and arguments.
    CHECK(call.results(sources, found, &error) == TMAJIT_INVALID_ARGUMENT);
    CHECK(tmajit_error_message(error) == std::string(refused.what()));
    return tmajit_error_destroy(error);
  }
  require_ok(call.results(sources, found, &error), error);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(tmajit_dtype_name(found[i].dtype) == name(expected[i].type));
    REQUIRE(found[i].rank == expected[i].rank);
    for (std::uint32_t d = 0; d < found[i].rank; ++d) {
      CHECK(static_cast<std::uint64_t>(found[i].extents[d]) == expected[i].shape[d]);
      CHECK(found[i].strides[d] == expected[i].strides[d]);
    }
  }
}

/// Runs a case four times: by a call, by the same call again, which finds the cached plan, by a plan, and as
/// a chain of this operation alone that was planned for other memory.
void run_case(tmajit_runtime* runtime, const TestCase& test_case, std::uint64_t seed) {
  const Buffers before = random_buffers(test_case, seed);
  const reference::Expected right = expected(test_case, before);
  Memory memory(runtime, test_case);
  const auto destinations = memory.tensors(test_case.destinations);
  auto sources = memory.tensors(test_case.sources);
  for (const Tensor& number : test_case.numbers) {
    tmajit_tensor one{};
    one.size = sizeof one;
    one.dtype = tmajit_dtype_of(std::string(name(number.view.type)).c_str());
    one.is_number = 1;
    one.address = number.address;
    sources.push_back(one);
  }
  const auto call = tests::call_of(test_case);
  check_results(test_case, *call, sources);

  tmajit_error* error = nullptr;
  Buffers first;
  for (int n = 0; n < 2; ++n) {
    memory.write(before);
    require_ok(call->run(runtime, destinations, sources, &error), error);
    Buffers found = memory.read(before);
    if (n == 0) {
      CHECK(difference(test_case, right, found) == "");
      first = std::move(found);
    } else {
      CHECK(found == first);
    }
  }
  tmajit_plan* made = nullptr;
  require_ok(call->plan(runtime, destinations, sources, &made, &error), error);
  const OwnPlan plan(made);
  memory.write(before);
  require_ok(tmajit_plan_launch(plan.get(), nullptr, &error), error);
  CHECK(memory.read(before) == first);

  tmajit_operation* value = nullptr;
  require_ok(call->operation(destinations, sources, &value, &error), error);
  const OwnOperation operation(value);
  require_ok(tmajit_chain_plan(runtime, &value, 1, nullptr, 0, &made, &error), error);
  const OwnPlan chain(made);
  Memory elsewhere(runtime, test_case);
  std::vector<tmajit_tensor> planned = destinations;
  std::vector<std::uint64_t> addresses;
  for (const tmajit_tensor& tensor : elsewhere.tensors(test_case.destinations))
    addresses.push_back(tensor.address);
  for (const tmajit_tensor& tensor : elsewhere.tensors(test_case.sources))
    addresses.push_back(tensor.address);
  planned.insert(planned.end(), sources.begin(), sources.end() - std::ssize(test_case.numbers));
  elsewhere.write(before);
  require_ok(tmajit_plan_launch_moved(chain.get(), planned.data(), addresses.data(), planned.size(), nullptr,
                                      &error),
             error);
  CHECK(elsewhere.read(before) == first);
}

void run_cases(std::string_view operation) {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 8);
  const std::uint64_t seed = tests::seed(20261126);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  const OwnRuntime runtime = simulated_runtime();
  for (std::uint64_t n = 0; n < cases; ++n) {
    const TestCase test_case = reference::random_test_case(
        operation, seed + n, n, {.elements = 2000, .max_elements = 8000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << test_case.text());
    run_case(runtime.get(), test_case, seed + n);
  }
}

}  // namespace

#define TMAJIT_TEST_CASES(name)                                                            \
  TEST_CASE("random cases of " #name " by the C interface give the reference's results") { \
    run_cases(#name);                                                                      \
  }
TMAJIT_FOR_EACH_OPERATION(TMAJIT_TEST_CASES)
#undef TMAJIT_TEST_CASES
