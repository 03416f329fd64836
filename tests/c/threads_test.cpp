/// Several threads share a runtime and a plan through the C interface.
#include <tmajit/c.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace {

constexpr std::int64_t elements = 1000;

tmajit_tensor tensor_at(std::uint64_t address) {
  tmajit_tensor made{};
  made.size = sizeof made;
  made.address = address;
  made.dtype = TMAJIT_I32;
  made.rank = 1;
  made.extents[0] = elements;
  return made;
}

/// The memory of one thread: a source and a destination in host memory, which the simulated device maps.
struct Work {
  std::vector<std::int32_t> x = std::vector<std::int32_t>(elements);
  std::vector<std::int32_t> y = std::vector<std::int32_t>(elements);
  tmajit_buffer* from = nullptr;
  tmajit_buffer* to = nullptr;

  [[nodiscard]] bool map(tmajit_runtime* runtime) {
    return tmajit_buffer_map(runtime, x.data(), elements * 4, &from, nullptr) == TMAJIT_OK &&
           tmajit_buffer_map(runtime, y.data(), elements * 4, &to, nullptr) == TMAJIT_OK;
  }
  ~Work() {
    tmajit_buffer_destroy(to);
    tmajit_buffer_destroy(from);
  }
};

}  // namespace

TEST_CASE("threads share a runtime and a plan, and each has its own errors") {
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_SIMULATED;
  options.cache_directory = "";
  tmajit_runtime* runtime = nullptr;
  REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);
  {
    std::vector<Work> works(4);
    for (std::size_t t = 0; t < works.size(); ++t) {
      REQUIRE(works[t].map(runtime));
      for (std::int32_t i = 0; i < elements; ++i)
        works[t].x[static_cast<std::size_t>(i)] = i + static_cast<std::int32_t>(t);
    }
    tmajit_map_arguments arguments{};
    arguments.size = sizeof arguments;
    arguments.expression = "x * 2";
    const tmajit_tensor source = tensor_at(tmajit_buffer_address(works[0].from));
    const tmajit_tensor destination = tensor_at(tmajit_buffer_address(works[0].to));
    tmajit_plan* plan = nullptr;
    REQUIRE(tmajit_map_plan(runtime, &destination, &source, 1, &arguments, nullptr, &plan, nullptr) ==
            TMAJIT_OK);

    std::vector<int> failures(works.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < works.size(); ++t) {
        threads.emplace_back([&, t] {
          const std::uint64_t from = tmajit_buffer_address(works[t].from);
          const std::uint64_t to = tmajit_buffer_address(works[t].to);
          const tmajit_tensor own_from = tensor_at(from);
          const tmajit_tensor own_to = tensor_at(to);
          for (int n = 0; n < 5; ++n) {
            const tmajit_status by_plan = tmajit_plan_launch_on(plan, &to, 1, &from, 1, nullptr, nullptr);
            const tmajit_status by_call =
                tmajit_map(runtime, &own_to, &own_from, 1, &arguments, nullptr, nullptr);
            tmajit_error* error = nullptr;
            const tmajit_status overlap = tmajit_copy(runtime, &own_to, &own_to, nullptr, nullptr, &error);
            if (by_plan != TMAJIT_OK || by_call != TMAJIT_OK || overlap != TMAJIT_ILLEGAL_SPEC ||
                tmajit_error_violation_count(error) != 1)
              ++failures[t];
            tmajit_error_destroy(error);
          }
        });
      }
    }
    for (std::size_t t = 0; t < works.size(); ++t) {
      CHECK(failures[t] == 0);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < elements; ++i)
        if (works[t].y[i] != 2 * (static_cast<std::int32_t>(i) + static_cast<std::int32_t>(t))) ++wrong;
      CHECK(wrong == 0);
    }
    tmajit_plan_destroy(plan);
  }
  tmajit_runtime_destroy(runtime);
}
