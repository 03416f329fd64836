/// Tuning of plans, on a device whose clock the test sets, and the table of tuned choices.
#include "c/tuning_gpu.hpp"
#include "captured_log.hpp"
#include "temporary_folder.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace plan_tuning_test {

using Catch::Matchers::ContainsSubstring;
using tests::CallError, tests::TuningGpu;

/// Choices as another machine wrote them.
constexpr std::string_view foreign =
    R"({"tmajit": "0.2.0", "class_version": 3, "choice_version": 2, "choices": [
  {"chip": "an example",
   "class": {"family": "transpose", "element_bytes": 4, "rank": 2, "staggered": false,
             "order": [1], "sources": 0, "access": [], "extents": [16384, 8192], "length": 0},
   "choice": {"family": "transpose", "tile": [64, 64], "threads": 256, "vector_bytes": 16, "order": 0},
   "microseconds": 12.5}
]})";

/// A plan of a transposition.
tmajit_plan* transposition(tmajit_runtime* runtime) {
  tmajit_tensor x{};
  x.size = sizeof x;
  x.address = 0x7e00'0000'0000;
  x.dtype = TMAJIT_F32;
  x.rank = 2;
  x.extents[0] = x.extents[1] = 2048;
  tmajit_tensor y = x;
  y.address = 0x7f00'0000'0000;
  tmajit_permute_arguments swap{};
  swap.size = sizeof swap;
  swap.axes.count = 2;
  swap.axes.values[0] = 1;
  tmajit_plan* plan = nullptr;
  CallError error;
  const tmajit_status status = tmajit_permute_plan(runtime, &y, &x, &swap, nullptr, &plan, error.out());
  INFO(error.text());
  REQUIRE(status == TMAJIT_OK);
  return plan;
}

std::string json_of(tmajit_runtime* runtime) {
  tmajit_text* text = nullptr;
  REQUIRE(tmajit_tuning_json(runtime, &text, nullptr) == TMAJIT_OK);
  std::string json(tmajit_text_data(text), tmajit_text_size(text));
  tmajit_text_destroy(text);
  return json;
}

struct Progress {
  std::vector<std::string> measured;
  std::uint32_t candidates = 0;
};

void note(void* context, std::uint32_t, std::uint32_t candidates, const char* choice) {
  auto& progress = *static_cast<Progress*>(context);
  progress.measured.emplace_back(choice);
  progress.candidates = candidates;
}

tmajit_runtime* runtime_over(const char* cache_directory) {
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  options.cache_directory = cache_directory;
  tmajit_runtime* runtime = nullptr;
  REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);
  return runtime;
}

}  // namespace plan_tuning_test

using namespace plan_tuning_test;

TEST_CASE("a plan's candidates are measured, and the fastest one is stored") {
  TuningGpu gpu(tests::times({100}));
  // The first of these is the plan's own kernel; the load of the third fails.
  gpu.device().on_load = [](int number) {
    if (number == 2) throw tmajit::Error(tmajit::ErrorCode::device_failed, "the third kernel fails");
  };
  tmajit_plan* const plan = transposition(gpu.runtime());
  Progress progress;
  tmajit_tune_options options{};
  options.size = sizeof options;
  options.repeats = 3;
  options.not_stored = 1;
  options.progress = note;
  options.progress_context = &progress;
  const std::uint64_t before = tmajit_tuning_generation(gpu.runtime());
  tmajit_tune_report* report = nullptr;
  CallError error;
  const tmajit_status status = tmajit_plan_tune(plan, &options, &report, error.out());
  INFO(error.text());
  REQUIRE(status == TMAJIT_OK);
  const std::size_t count = tmajit_tune_report_count(report);
  CHECK(count > 2);
  CHECK(progress.candidates == count);
  CHECK(progress.measured.size() >= count);
  CHECK_THAT(tmajit_tune_report_shape_class(report), ContainsSubstring("transpose 4B rank 2"));
  tmajit_tuned tuned{};
  tuned.size = sizeof tuned;
  REQUIRE(tmajit_tune_report_item(report, 0, &tuned, nullptr) == TMAJIT_OK);
  CHECK(tuned.microseconds > 99);
  CHECK(std::string_view(tuned.choice).find("threads") != std::string_view::npos);
  CHECK(tmajit_tune_report_item(report, count, &tuned, nullptr) == TMAJIT_INVALID_ARGUMENT);
  REQUIRE(tmajit_tune_report_left_out_count(report) == 1);
  tmajit_left_out left_out{};
  left_out.size = sizeof left_out;
  REQUIRE(tmajit_tune_report_left_out(report, 0, &left_out, nullptr) == TMAJIT_OK);
  CHECK_THAT(left_out.why, ContainsSubstring("the third kernel fails"));
  CHECK(std::string_view(left_out.choice).find("threads") != std::string_view::npos);
  CHECK(tmajit_tune_report_left_out(report, 1, &left_out, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("no candidate that was left out 1"));
  tmajit_tune_report_destroy(report);
  CHECK(tmajit_tuning_generation(gpu.runtime()) == before);

  // A caller of the first version of the struct, which ends before the callback.
  options.size = offsetof(tmajit_tune_options, progress);
  options.not_stored = 0;
  progress = {};
  REQUIRE(tmajit_plan_tune(plan, &options, &report, nullptr) == TMAJIT_OK);
  tmajit_tune_report_destroy(report);
  CHECK(progress.measured.empty());
  CHECK(tmajit_tuning_generation(gpu.runtime()) > before);
  CHECK_THAT(json_of(gpu.runtime()), ContainsSubstring("\"scripted\""));
  tmajit_plan_destroy(plan);
}

TEST_CASE("tuned choices are added, stored, saved and read as JSON") {
  const TemporaryFolder folder;
  const std::string cache = folder / "cache";
  tmajit_runtime* runtime = runtime_over(cache.c_str());
  CHECK_THAT(json_of(runtime), !ContainsSubstring("an example"));
  const std::uint64_t before = tmajit_tuning_generation(runtime);
  REQUIRE(tmajit_tuning_add(runtime, foreign.data(), foreign.size(), 0, nullptr) == TMAJIT_OK);
  CHECK(tmajit_tuning_generation(runtime) > before);
  CHECK_THAT(json_of(runtime), ContainsSubstring("an example") && ContainsSubstring("NVIDIA H200"));
  CHECK_FALSE(std::filesystem::exists(cache));
  tmajit_runtime_destroy(runtime);

  // Choices that are not stored end with their runtime.
  runtime = runtime_over(cache.c_str());
  CHECK_THAT(json_of(runtime), !ContainsSubstring("an example"));
  REQUIRE(tmajit_tuning_add(runtime, foreign.data(), foreign.size(), 1, nullptr) == TMAJIT_OK);
  const std::string saved = folder / "saved.json";
  REQUIRE(tmajit_tuning_save(runtime, saved.c_str(), nullptr) == TMAJIT_OK);
  CHECK(tests::read_file(saved) == json_of(runtime));
  tmajit_runtime_destroy(runtime);
  runtime = runtime_over(cache.c_str());
  CHECK_THAT(json_of(runtime), ContainsSubstring("an example"));
  CHECK_THAT(tests::read_file(cache + "/tuning.json"), !ContainsSubstring("NVIDIA H200"));

  // Another runtime takes all choices of this one.
  tmajit_runtime* const other = runtime_over("");
  const std::string json = json_of(runtime);
  REQUIRE(tmajit_tuning_add(other, json.data(), json.size(), 1, nullptr) == TMAJIT_OK);
  CHECK(json_of(other) == json);
  tmajit_runtime_destroy(other);
  tmajit_runtime_destroy(runtime);
}

TEST_CASE("choices that cannot be read or stored give an error") {
  const TemporaryFolder folder;
  const std::string cache = folder / "cache";
  tmajit_runtime* runtime = runtime_over(cache.c_str());
  const std::string before = json_of(runtime);
  CallError error;
  for (const std::uint32_t stored : {0U, 1U}) {
    CHECK(tmajit_tuning_add(runtime, "{\"choices\": 7}", 14, stored, error.out()) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring("json"));
    CHECK(tmajit_tuning_add(runtime, nullptr, 14, stored, error.out()) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring("json is null"));
    CHECK(tmajit_tuning_add(runtime, nullptr, 0, stored, error.out()) == TMAJIT_INVALID_ARGUMENT);
  }
  CHECK(tmajit_tuning_add(runtime, foreign.data(), foreign.size(), 2, error.out()) ==
        TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("stored is 2"));
  CHECK(json_of(runtime) == before);
  CHECK(tmajit_tuning_save(runtime, nullptr, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), ContainsSubstring("file is null"));
  CHECK(tmajit_tuning_save(runtime, (folder / "no/folder.json").c_str(), error.out()) == TMAJIT_IO);
  CHECK_THAT(error.text(), ContainsSubstring("folder.json"));
  tmajit_runtime_destroy(runtime);

  // A broken file is not changed; the runtime uses the choices nevertheless.
  std::filesystem::create_directories(cache);
  std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
  tests::write_file(cache + "/tuning.json", "broken");
  runtime = runtime_over(cache.c_str());
  const tests::CapturedLog log;
  CHECK(tmajit_tuning_add(runtime, foreign.data(), foreign.size(), 1, error.out()) == TMAJIT_IO);
  CHECK_THAT(error.text(), ContainsSubstring("tuning.json"));
  CHECK_THAT(log.text(), ContainsSubstring("not stored"));
  CHECK_THAT(json_of(runtime), ContainsSubstring("an example"));
  CHECK(tests::read_file(cache + "/tuning.json") == "broken");
  tmajit_runtime_destroy(runtime);
}
