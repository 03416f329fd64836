/// Prefetches and refused kernels through the C interface.
#include "temporary_folder.hpp"

#include <tmajit/c.h>

#include <atomic>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Matchers::ContainsSubstring;

namespace {

tmajit_tensor vector_at(std::uint64_t address) {
  tmajit_tensor made{};
  made.size = sizeof made;
  made.address = address;
  made.dtype = TMAJIT_F32;
  made.rank = 1;
  made.extents[0] = 1000;
  return made;
}

tmajit_runtime* runtime_with(const std::string& folder, std::int32_t when_missing) {
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  options.arch = "compute_90a";
  options.cache_directory = folder.c_str();
  options.when_missing = when_missing;
  tmajit_runtime* runtime = nullptr;
  REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);
  return runtime;
}

}  // namespace

TEST_CASE("C: a prefetch makes kernels, reports each, and later plans are not refused") {
  const TemporaryFolder folder;
  const tmajit_tensor to = vector_at(1 << 20);
  const tmajit_tensor from = vector_at(2 << 20);
  const char* const expressions[] = {"x + 1", "x * 2"};
  tmajit_operation* operations[2] = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    tmajit_map_arguments arguments{};
    arguments.size = sizeof arguments;
    arguments.expression = expressions[i];
    REQUIRE(tmajit_map_operation(&to, &from, 1, &arguments, &operations[i], nullptr) == TMAJIT_OK);
  }
  const auto prefetch = [&](tmajit_runtime* runtime, std::atomic<int>& calls) {
    tmajit_prefetch_options options{};
    options.size = sizeof options;
    options.threads = 3;
    options.progress = [](void* context, size_t done, size_t total, const char* kernel, const char* error) {
      const bool is_right = done >= 1 && done <= 2 && total == 2 && *kernel != '\0' && error != nullptr;
      *static_cast<std::atomic<int>*>(context) += is_right ? 1 : 100;
    };
    options.progress_context = &calls;
    tmajit_prefetch* made = nullptr;
    REQUIRE(tmajit_prefetch_make(runtime, operations, 2, &options, &made, nullptr) == TMAJIT_OK);
    CHECK(tmajit_prefetch_wait(made, 60'000) == 1);
    CHECK(tmajit_prefetch_done(made) == 2);
    CHECK(tmajit_prefetch_total(made) == 2);
    return made;
  };

  std::atomic<int> calls = 0;
  tmajit_runtime* const refusing = runtime_with(folder.path().string(), TMAJIT_MISSING_REFUSE);
  tmajit_prefetch* const refused = prefetch(refusing, calls);
  CHECK(calls == 2);
  CHECK(tmajit_prefetch_made(refused) == 0);
  REQUIRE(tmajit_prefetch_failure_count(refused) == 2);
  tmajit_text* text = nullptr;
  REQUIRE(tmajit_prefetch_failure(refused, 1, &text, nullptr) == TMAJIT_OK);
  CHECK_THAT(tmajit_text_data(text), ContainsSubstring("this runtime may not compile"));
  tmajit_text_destroy(text);
  CHECK(tmajit_prefetch_failure(refused, 2, &text, nullptr) == TMAJIT_INVALID_ARGUMENT);
  tmajit_prefetch_destroy(refused);

  tmajit_runtime* const runtime = runtime_with(folder.path().string(), TMAJIT_MISSING_COMPILE);
  calls = 0;
  tmajit_prefetch* const made = prefetch(runtime, calls);
  CHECK(calls == 2);
  CHECK(tmajit_prefetch_made(made) == 2);
  CHECK(tmajit_prefetch_failure_count(made) == 0);
  tmajit_prefetch_cancel(made);
  tmajit_prefetch_destroy(made);

  tmajit_map_arguments arguments{};
  arguments.size = sizeof arguments;
  tmajit_plan* plan = nullptr;
  arguments.expression = "x + 1";
  CHECK(tmajit_map_plan(refusing, &to, &from, 1, &arguments, nullptr, &plan, nullptr) == TMAJIT_OK);
  tmajit_plan_destroy(plan);
  arguments.expression = "x - 5";
  tmajit_error* error = nullptr;
  CHECK(tmajit_map_plan(refusing, &to, &from, 1, &arguments, nullptr, &plan, &error) ==
        TMAJIT_MISSING_KERNEL);
  CHECK(std::string(tmajit_status_name(tmajit_error_status(error))) == "missing_kernel");
  tmajit_error_destroy(error);
  for (tmajit_operation* const operation : operations) tmajit_operation_destroy(operation);
  tmajit_runtime_destroy(refusing);
  tmajit_runtime_destroy(runtime);
}

TEST_CASE("C: options for missing kernels that are out of range are refused") {
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  tmajit_runtime* runtime = nullptr;
  const auto make = [&] { return tmajit_runtime_make(&options, &runtime, nullptr); };
  options.when_missing = 3;
  CHECK(make() == TMAJIT_INVALID_ARGUMENT);
  options.when_missing = TMAJIT_MISSING_SERVE;
  options.allow_other_rounding = 2;
  CHECK(make() == TMAJIT_INVALID_ARGUMENT);
  options.allow_other_rounding = 1;
  options.background_compiles = -2;
  CHECK(make() == TMAJIT_INVALID_ARGUMENT);
  options.background_compiles = -1;
  CHECK(make() == TMAJIT_OK);
  tmajit_runtime_destroy(runtime);
}
