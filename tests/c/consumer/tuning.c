// Tuning: descriptions of launches for combinations of constants, the table of tuned choices, and errors.
// There is no GPU, so nothing is measured.
#include "consumer.h"

static const char fill[] =
    "extern \"C\" __global__ void fill(float* y) {\n"
    "  for (int i = threadIdx.x; i < rows * 64; i += threads) y[i] = value;\n"
    "}\n";

// The launch of `fill` on `y`, which must have 64 elements for each row.
typedef struct fill_launches {
  tmajit_tensor y;
  int described;
  int left_out;
} fill_launches;

static void describe(void* context, const tmajit_named_text* constants, size_t count,
                     tmajit_variant* variant) {
  fill_launches* launches = context;
  EXPECT(count == 2 && strcmp(constants[0].name, "rows") == 0 && strcmp(constants[1].name, "threads") == 0);
  ++launches->described;
  const long rows = strtol(constants[0].text, NULL, 10);
  if (64 * rows > launches->y.extents[0]) {
    EXPECT_OK(tmajit_variant_leave_out(variant, "the tensor has fewer rows", &error));
    ++launches->left_out;
    return;
  }
  const tmajit_argument argument = {.size = sizeof argument, .kind = TMAJIT_ARGUMENT_ADDRESS};
  tmajit_launch launch = {.size = sizeof launch,
                          .block = {(uint32_t)strtoul(constants[1].text, NULL, 10)},
                          .tensors = &launches->y,
                          .tensor_count = 1,
                          .arguments = &argument,
                          .argument_count = 1};
  launch.cooperative = 2;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "cooperative is 2", tmajit_variant_launch(variant, &launch, &error));
  launch.cooperative = 0;
  EXPECT_OK(tmajit_variant_launch(variant, &launch, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "a launch already", tmajit_variant_launch(variant, &launch, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "a launch already",
               tmajit_variant_leave_out(variant, "late", &error));
}

static void expect_progress(void* context, uint32_t done, uint32_t candidates, const char* measured) {
  EXPECT(context == NULL && done <= candidates && measured != NULL);
}

static void tune_kernel(tmajit_runtime* runtime) {
  tmajit_buffer* buffer = make_buffer(runtime, NULL, 4 * 64 * sizeof(float));
  fill_launches launches = {.y = dense_tensor(TMAJIT_F32, 4 * 64, 0, buffer)};
  const tmajit_named_text value = {"value", "2.0f"};
  const tmajit_kernel_source source = {
      .size = sizeof source, .text = fill, .constants = &value, .constant_count = 1};
  const char* const rows[] = {"2", "4", "8"};
  const char* const threads[] = {"32", "64"};
  tmajit_constant_choices choices[] = {{"rows", rows, 3}, {"threads", threads, 2}};
  const tmajit_kernel_tune_options options = {
      .size = sizeof options, .repeats = 3, .progress = expect_progress};
  tmajit_kernel_tune_report* report = NULL;
  EXPECT_ERROR(
      TMAJIT_UNAVAILABLE, "GPU",
      tmajit_kernel_tune(runtime, &source, choices, 2, describe, &launches, &options, &report, &error));
  EXPECT(report == NULL && launches.described == 6 && launches.left_out == 2);

  // Wrong choices: `describe` is not called.
  choices[1].value_count = 0;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "threads has no values",
               tmajit_kernel_tune(runtime, &source, choices, 2, describe, &launches, NULL, &report, &error));
  const char* const words[] = {"32", "many"};
  choices[1] = (tmajit_constant_choices){"threads", words, 2};
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "many",
               tmajit_kernel_tune(runtime, &source, choices, 2, describe, &launches, NULL, &report, &error));
  const char* numbers[100];
  for (int i = 0; i < 100; ++i) numbers[i] = "1";
  choices[0] = (tmajit_constant_choices){"rows", numbers, 100};
  choices[1] = (tmajit_constant_choices){"threads", numbers, 100};
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "4096",
               tmajit_kernel_tune(runtime, &source, choices, 2, describe, &launches, NULL, &report, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "describe is null",
               tmajit_kernel_tune(runtime, &source, NULL, 0, NULL, NULL, NULL, &report, &error));
  EXPECT(report == NULL && launches.described == 6);

  // Functions of reports.
  tmajit_tuned_kernel tuned = {.size = sizeof tuned};
  tmajit_left_out_kernel left_out = {.size = sizeof left_out};
  tmajit_kernel* kernel = NULL;
  EXPECT(tmajit_kernel_tune_report_count(NULL) == 0 && tmajit_kernel_tune_report_left_out_count(NULL) == 0);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "report is null",
               tmajit_kernel_tune_report_item(NULL, 0, &tuned, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "report is null",
               tmajit_kernel_tune_report_left_out(NULL, 0, &left_out, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "report is null",
               tmajit_kernel_tune_report_kernel(NULL, 0, &kernel, &error));
  tmajit_kernel_tune_report_destroy(NULL);
  tmajit_buffer_destroy(buffer);
}

static void tune_plan(tmajit_runtime* runtime) {
  tmajit_buffer* from = make_buffer(runtime, NULL, 4096);
  tmajit_buffer* to = make_buffer(runtime, NULL, 4096);
  const tmajit_tensor source = dense_tensor(TMAJIT_F32, 1024, 0, from);
  const tmajit_tensor destination = dense_tensor(TMAJIT_F32, 1024, 0, to);
  tmajit_plan* plan = NULL;
  EXPECT_OK(tmajit_copy_plan(runtime, &destination, &source, NULL, NULL, &plan, &error));
  const tmajit_tune_options options = {
      .size = sizeof options, .repeats = 1, .not_stored = 1, .progress = expect_progress};
  tmajit_tune_report* report = NULL;
  EXPECT_ERROR(TMAJIT_UNAVAILABLE, "GPU", tmajit_plan_tune(plan, &options, &report, &error));
  tmajit_tuned tuned = {.size = sizeof tuned};
  tmajit_left_out left_out = {.size = sizeof left_out};
  EXPECT(report == NULL && tmajit_tune_report_count(report) == 0);
  EXPECT(tmajit_tune_report_left_out_count(report) == 0);
  EXPECT(strcmp(tmajit_tune_report_shape_class(report), "") == 0);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "report is null", tmajit_tune_report_item(report, 0, &tuned, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "report is null",
               tmajit_tune_report_left_out(report, 0, &left_out, &error));
  tmajit_tune_report_destroy(report);
  tmajit_plan_destroy(plan);
  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
}

// All choices of one runtime are added to another one.
static void copy_choices(tmajit_runtime* runtime) {
  tmajit_text* json = NULL;
  EXPECT_OK(tmajit_tuning_json(runtime, &json, &error));
  EXPECT(strstr(tmajit_text_data(json), "\"choices\"") != NULL);
  const tmajit_runtime_options options = {
      .size = sizeof options, .device = TMAJIT_DEVICE_NONE, .cache_directory = ""};
  tmajit_runtime* other = NULL;
  EXPECT_OK(tmajit_runtime_make(&options, &other, &error));
  const uint64_t before = tmajit_tuning_generation(other);
  EXPECT_OK(tmajit_tuning_add(other, tmajit_text_data(json), tmajit_text_size(json), 0, &error));
  EXPECT(tmajit_tuning_generation(other) > before && tmajit_tuning_generation(NULL) == 0);
  tmajit_text_destroy(json);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "json", tmajit_tuning_add(other, "[", 1, 0, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "stored is 7", tmajit_tuning_add(other, "[", 1, 7, &error));
  EXPECT_ERROR(TMAJIT_IO, "no folder", tmajit_tuning_save(other, "/dev/null/no folder/t.json", &error));
  tmajit_runtime_destroy(other);
}

void use_tuning(tmajit_runtime* runtime) {
  tune_kernel(runtime);
  tune_plan(runtime);
  copy_choices(runtime);
  printf("tuning: launches described, choices copied\n");
}
