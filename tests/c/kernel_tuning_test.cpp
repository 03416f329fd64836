/// tmajit_kernel_tune() on a device whose clock the test sets.
#include "c/tuning_gpu.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace kernel_tuning_test {

using Catch::Matchers::ContainsSubstring;
using tests::CallError, tests::TuningGpu;

constexpr const char* text =
    "static_assert(rows != 3); __global__ void k(int* x) { x[rows] = threads + bias; }";
constexpr std::array rows{"2", "3", "4", "5", "6", "7"};
constexpr std::array threads{"32", "64"};
constexpr std::array<tmajit_named_text, 1> fixed{{{"bias", "1"}}};

/// The choices of both constants.
constexpr std::array<tmajit_constant_choices, 2> choices{
    {{"rows", rows.data(), rows.size()}, {"threads", threads.data(), threads.size()}}};

tmajit_kernel_source source() {
  tmajit_kernel_source made{};
  made.size = sizeof made;
  made.text = text;
  made.constants = fixed.data();
  made.constant_count = fixed.size();
  return made;
}

/// The calls of a describe() and of a progress callback.
struct Calls {
  std::vector<std::string> described;
  std::set<std::thread::id> on;
  std::vector<std::string> measured;
  std::uint32_t last_done = 0;
  std::uint32_t candidates = 0;
};

std::uint32_t value_of(const tmajit_named_text& constant) {
  return static_cast<std::uint32_t>(std::strtoul(constant.text, nullptr, 10));
}

/// Describes a launch of that many CTAs and threads on a tensor.
tmajit_status describe_launch(tmajit_variant* variant, std::uint32_t ctas, std::uint32_t cta_threads,
                              tmajit_error** error, std::int32_t kind = TMAJIT_ARGUMENT_ADDRESS) {
  tmajit_tensor tensor{};
  tensor.size = sizeof tensor;
  tensor.address = 0x7f00'0000'0000;
  tensor.dtype = TMAJIT_I32;
  tensor.rank = 1;
  tensor.extents[0] = 64;
  tmajit_argument argument{};
  argument.size = sizeof argument;
  argument.kind = kind;
  tmajit_launch launch{};
  launch.size = sizeof launch;
  launch.grid[0] = ctas;
  launch.block[0] = cta_threads;
  launch.tensors = &tensor;
  launch.tensor_count = 1;
  launch.arguments = &argument;
  launch.argument_count = 1;
  return tmajit_variant_launch(variant, &launch, error);
}

/// 5 rows are left out, 6 rows have no launch, and the launch of 7 rows is illegal.
void describe(void* context, const tmajit_named_text* constants, std::size_t count, tmajit_variant* variant) {
  auto& calls = *static_cast<Calls*>(context);
  CHECK(count == 2);
  CHECK(std::string_view(constants[0].name) == "rows");
  calls.described.push_back(std::string(constants[0].text) + " " + constants[1].text);
  calls.on.insert(std::this_thread::get_id());
  const std::uint32_t ctas = value_of(constants[0]);
  if (ctas == 5) CHECK(tmajit_variant_leave_out(variant, "5 rows are too many", nullptr) == TMAJIT_OK);
  if (ctas == 5 || ctas == 6) return;
  CallError error;
  if (ctas == 7) {
    CHECK(describe_launch(variant, ctas, 1, error.out(), 99) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring("kind is 99"));
    return;
  }
  CHECK(describe_launch(variant, ctas, value_of(constants[1]), error.out()) == TMAJIT_OK);
  // The first launch is the one that is measured.
  CHECK(describe_launch(variant, 1, 1, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("has a launch already"));
  CHECK(tmajit_variant_leave_out(variant, "too late", error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("has a launch already"));
}

void progress(void* context, std::uint32_t done, std::uint32_t candidates, const char* constants) {
  auto& calls = *static_cast<Calls*>(context);
  calls.on.insert(std::this_thread::get_id());
  calls.measured.emplace_back(constants);
  CHECK(done >= calls.last_done);
  calls.last_done = done;
  calls.candidates = candidates;
}

/// Describes nothing.
void describe_none(void*, const tmajit_named_text*, std::size_t, tmajit_variant*) {}

/// Describes the same launch for every combination.
void describe_one(void*, const tmajit_named_text*, std::size_t, tmajit_variant* variant) {
  CHECK(describe_launch(variant, 1, 32, nullptr) == TMAJIT_OK);
}

/// 4 rows and 64 threads are the fastest.
std::int64_t takes(int, const tmajit::LaunchShape& shape) {
  return 100'000 + (shape.grid[0] == 4 ? 0 : 20'000) + (shape.block[0] == 64 ? 0 : 10'000);
}

}  // namespace kernel_tuning_test

using namespace kernel_tuning_test;

TEST_CASE("a kernel is timed for every combination of constants, the fastest first") {
  TuningGpu gpu(takes);
  Calls calls;
  tmajit_kernel_tune_options options{};
  options.size = sizeof options;
  options.repeats = 3;
  options.progress = progress;
  options.progress_context = &calls;
  const tmajit_kernel_source kernel_source = source();
  tmajit_kernel_tune_report* report = nullptr;
  CallError error;
  const tmajit_status status = tmajit_kernel_tune(gpu.runtime(), &kernel_source, choices.data(), 2, describe,
                                                  &calls, &options, &report, error.out());
  INFO(error.text());
  REQUIRE(status == TMAJIT_OK);
  CHECK(calls.described.size() == 12);
  CHECK(calls.described[0] == "2 32");
  CHECK(calls.described[1] == "2 64");
  CHECK(calls.on == std::set{std::this_thread::get_id()});
  CHECK(calls.measured.size() >= 4);
  CHECK(calls.candidates == 4);
  CHECK(calls.measured[0].starts_with("rows = "));

  REQUIRE(tmajit_kernel_tune_report_count(report) == 4);
  tmajit_tuned_kernel tuned{};
  tuned.size = sizeof tuned;
  REQUIRE(tmajit_kernel_tune_report_item(report, 0, &tuned, nullptr) == TMAJIT_OK);
  REQUIRE(tuned.constant_count == 2);
  CHECK(std::string_view(tuned.constants[0].name) == "rows");
  CHECK(std::string_view(tuned.constants[0].text) == "4");
  CHECK(std::string_view(tuned.constants[1].text) == "64");
  CHECK(std::abs(tuned.microseconds - 100) < 0.01);
  REQUIRE(tmajit_kernel_tune_report_item(report, 3, &tuned, nullptr) == TMAJIT_OK);
  CHECK(std::abs(tuned.microseconds - 130) < 0.01);
  CHECK(tmajit_kernel_tune_report_item(report, 4, &tuned, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("no combination 4"));

  const std::array reasons{"static assertion failed", "5 rows are too many", "called neither", "kind is 99"};
  REQUIRE(tmajit_kernel_tune_report_left_out_count(report) == 2 * reasons.size());
  for (std::size_t i = 0; i < 2 * reasons.size(); ++i) {
    tmajit_left_out_kernel left_out{};
    left_out.size = sizeof left_out;
    REQUIRE(tmajit_kernel_tune_report_left_out(report, i, &left_out, nullptr) == TMAJIT_OK);
    CHECK(left_out.constant_count == 2);
    CHECK_THAT(left_out.why, ContainsSubstring(reasons[i / 2]));
  }
  tmajit_left_out_kernel left_out{};
  CHECK(tmajit_kernel_tune_report_left_out(report, 0, &left_out, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("sizeof(tmajit_left_out_kernel)"));

  // The fastest kernel is loaded already, and outlives the report.
  const int loaded = gpu.device().loaded();
  tmajit_kernel* fastest = nullptr;
  REQUIRE(tmajit_kernel_tune_report_kernel(report, 0, &fastest, nullptr) == TMAJIT_OK);
  CHECK(gpu.device().loaded() == loaded);
  tmajit_kernel_destroy(fastest);
  CHECK(tmajit_kernel_tune_report_kernel(report, 4, &fastest, nullptr) == TMAJIT_INVALID_ARGUMENT);
  CHECK(fastest == nullptr);
  REQUIRE(tmajit_kernel_tune_report_kernel(report, 0, &fastest, nullptr) == TMAJIT_OK);
  tmajit_kernel_tune_report_destroy(report);
  tmajit_text* kernel_text = nullptr;
  REQUIRE(tmajit_kernel_text(fastest, TMAJIT_KERNEL_SOURCE, &kernel_text, nullptr) == TMAJIT_OK);
  CHECK_THAT(tmajit_text_data(kernel_text), ContainsSubstring("rows = 4") && ContainsSubstring("bias = 1"));
  tmajit_text_destroy(kernel_text);
  tmajit_kernel_destroy(fastest);
}

TEST_CASE("a kernel without choices is timed once, and literals keep their types") {
  TuningGpu gpu(takes);
  tmajit_kernel_source kernel_source = source();
  kernel_source.text = "__global__ void k(int*) {}";
  tmajit_kernel_tune_report* report = nullptr;
  REQUIRE(tmajit_kernel_tune(gpu.runtime(), &kernel_source, nullptr, 0, describe_one, nullptr, nullptr,
                             &report, nullptr) == TMAJIT_OK);
  CHECK(tmajit_kernel_tune_report_count(report) == 1);
  tmajit_kernel_tune_report_destroy(report);

  const std::array values{"true", "-4", "4u", "4ll", "0.5f"};
  const tmajit_constant_choices one{"value", values.data(), values.size()};
  REQUIRE(tmajit_kernel_tune(gpu.runtime(), &kernel_source, &one, 1, describe_one, nullptr, nullptr, &report,
                             nullptr) == TMAJIT_OK);
  std::set<std::string> literals;
  for (std::size_t i = 0; i < tmajit_kernel_tune_report_count(report); ++i) {
    tmajit_tuned_kernel tuned{};
    tuned.size = sizeof tuned;
    REQUIRE(tmajit_kernel_tune_report_item(report, i, &tuned, nullptr) == TMAJIT_OK);
    literals.insert(tuned.constants[0].text);
  }
  CHECK(literals == std::set<std::string>(values.begin(), values.end()));
  tmajit_kernel_tune_report_destroy(report);
}

TEST_CASE("a kernel that cannot be tuned gives an error with the reason") {
  TuningGpu gpu(takes);
  Calls calls;
  CallError error;
  tmajit_kernel_source kernel_source = source();
  tmajit_kernel_tune_report* report = nullptr;
  tmajit_runtime* on = gpu.runtime();
  const auto expect = [&](tmajit_status expected, const char* words, const tmajit_constant_choices* first,
                          std::size_t count, decltype(&describe) callback) {
    CHECK(tmajit_kernel_tune(on, &kernel_source, first, count, callback, &calls, nullptr, &report,
                             error.out()) == expected);
    CHECK_THAT(error.text(), ContainsSubstring(words));
    CHECK(report == nullptr);
  };
  const std::array literals{"4", "four"};
  const tmajit_constant_choices bad{"rows", literals.data(), 2};
  expect(TMAJIT_INVALID_ARGUMENT, "four", &bad, 1, describe);
  const tmajit_constant_choices none{"rows", nullptr, 0};
  expect(TMAJIT_INVALID_ARGUMENT, "rows has no values to try", &none, 1, describe);
  const tmajit_constant_choices missing{"rows", nullptr, 2};
  expect(TMAJIT_INVALID_ARGUMENT, "values of rows is null", &missing, 1, describe);
  const tmajit_constant_choices unnamed{nullptr, literals.data(), 1};
  expect(TMAJIT_INVALID_ARGUMENT, "a constant's name is null", &unnamed, 1, describe);
  const tmajit_constant_choices no_identifier{"1x", literals.data(), 1};
  expect(TMAJIT_INVALID_ARGUMENT, "1x", &no_identifier, 1, describe);
  const std::vector<const char*> hundred(100, "1");
  const tmajit_constant_choices many[] = {{"a", hundred.data(), 100}, {"b", hundred.data(), 100}};
  expect(TMAJIT_INVALID_ARGUMENT, "more than 4096 combinations", many, 2, describe);
  expect(TMAJIT_INVALID_ARGUMENT, "describe is null", choices.data(), 2, nullptr);
  CHECK(calls.described.empty());
  expect(TMAJIT_INVALID_ARGUMENT, "called neither", choices.data(), 2, describe_none);
  // Without any launch the first combination's error is the call's.
  const std::array three{"3"};
  const tmajit_constant_choices refused[] = {{"rows", three.data(), 1}, choices[1]};
  expect(TMAJIT_COMPILE_FAILED, "static assertion failed", refused, 2, describe_one);
  CHECK_THAT(tmajit_error_log(error.get()), ContainsSubstring("static assertion failed"));
  // A tuned constant must not be one of the source, too.
  const tmajit_constant_choices twice{"bias", literals.data(), 1};
  expect(TMAJIT_INVALID_ARGUMENT, "bias", &twice, 1, describe_one);

  tmajit_kernel_tune_options options{};
  options.size = sizeof options;
  options.reserved = 1;
  CHECK(tmajit_kernel_tune(on, &kernel_source, nullptr, 0, describe_one, nullptr, &options, &report,
                           error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("reserved"));

  for (const std::int32_t device : {TMAJIT_DEVICE_NONE, TMAJIT_DEVICE_SIMULATED}) {
    tmajit_runtime_options runtime_options{};
    runtime_options.size = sizeof runtime_options;
    runtime_options.device = device;
    runtime_options.cache_directory = "";
    REQUIRE(tmajit_runtime_make(&runtime_options, &on, nullptr) == TMAJIT_OK);
    expect(TMAJIT_UNAVAILABLE, "tuning measures on a GPU", choices.data(), 2, describe);
    tmajit_runtime_destroy(on);
  }
}

TEST_CASE("a launch that is illegal at first may be described again") {
  TuningGpu gpu(takes);
  const auto again = [](void*, const tmajit_named_text*, std::size_t, tmajit_variant* variant) {
    CHECK(describe_launch(variant, 1, 1, nullptr, 99) == TMAJIT_INVALID_ARGUMENT);
    CallError error;
    CHECK(tmajit_variant_leave_out(variant, nullptr, error.out()) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring("why is null"));
    CHECK(tmajit_variant_leave_out(variant, "", error.out()) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring("why is empty"));
    CHECK(describe_launch(variant, 1, 1, nullptr) == TMAJIT_OK);
  };
  tmajit_kernel_source kernel_source = source();
  kernel_source.text = "__global__ void k(int*) {}";
  tmajit_kernel_tune_report* report = nullptr;
  REQUIRE(tmajit_kernel_tune(gpu.runtime(), &kernel_source, nullptr, 0, again, nullptr, nullptr, &report,
                             nullptr) == TMAJIT_OK);
  CHECK(tmajit_kernel_tune_report_count(report) == 1);
  tmajit_kernel_tune_report_destroy(report);
}
