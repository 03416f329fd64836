// Calls that must fail: each gives a status and a sentence, and no call crashes.
#include "consumer.h"

void use_errors(tmajit_runtime* runtime) {
  tmajit_tensor x = {.size = sizeof x, .address = 1 << 20, .dtype = TMAJIT_F32, .rank = 1, .extents = {8}};
  tmajit_tensor y = x;
  y.address += 1 << 12;
  const tmajit_copy_arguments none = {.size = sizeof none};

  // Null handles and pointers.
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "runtime is null", tmajit_copy(NULL, &y, &x, NULL, NULL, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "copy: source is null",
               tmajit_copy(runtime, &y, NULL, NULL, NULL, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "plan is null",
               tmajit_copy_plan(runtime, &y, &x, &none, NULL, NULL, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "plan is null", tmajit_plan_launch(NULL, NULL, &error));
  EXPECT(tmajit_copy(runtime, NULL, &x, NULL, NULL, NULL) == TMAJIT_INVALID_ARGUMENT);
  tmajit_plan_destroy(NULL);
  tmajit_runtime_destroy(NULL);
  tmajit_error_destroy(NULL);
  EXPECT(tmajit_error_status(NULL) == TMAJIT_OK && strcmp(tmajit_error_message(NULL), "") == 0);

  // Sizes of structs.
  tmajit_tensor wrong = x;
  wrong.size = 0;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "set it to sizeof(tmajit_tensor)",
               tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong.size = sizeof wrong + 8;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "size is", tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  const tmajit_copy_arguments unsized = {0};
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "sizeof(tmajit_copy_arguments)",
               tmajit_copy(runtime, &y, &x, &unsized, NULL, &error));

  // Unknown types, ranks, extents and reserved members.
  wrong = x;
  wrong.dtype = 99;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "99 is no element type",
               tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong.dtype = TMAJIT_F32;
  wrong.rank = 9;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "rank is 9", tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong.rank = 1;
  wrong.extents[0] = -1;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "extent of dimension 0",
               tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong = x;
  wrong.is_number = 1;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "its rank is 0",
               tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong.rank = 0;
  EXPECT_ERROR(TMAJIT_ILLEGAL_SPEC, "no expression", tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));
  wrong.is_number = 2;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "is_number", tmajit_copy(runtime, &y, &wrong, NULL, NULL, &error));

  // Arguments: missing, unknown, out of range.
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "permute needs axes",
               tmajit_permute(runtime, &y, &x, NULL, NULL, &error));
  const tmajit_reduce_arguments misspelt = {.size = sizeof misspelt, .op = "sun"};
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "sum", tmajit_reduce(runtime, &y, &x, 1, &misspelt, NULL, &error));
  tmajit_permute_arguments long_axes = {.size = sizeof long_axes};
  long_axes.axes.count = 9;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "count is 9",
               tmajit_permute(runtime, &y, &x, &long_axes, NULL, &error));
  const tmajit_tiles_arguments few = {.size = sizeof few, .stages = {.value = -1, .given = 1}};
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "stages is -1", tmajit_tiles(runtime, &y, &x, 1, &few, NULL, &error));

  // A broken rule and its texts.
  tmajit_error* error = NULL;
  EXPECT(tmajit_copy(runtime, &x, &x, NULL, NULL, &error) == TMAJIT_ILLEGAL_SPEC);
  EXPECT(tmajit_error_violation_count(error) > 0);
  tmajit_violation violation = {.size = sizeof violation};
  EXPECT(tmajit_error_violation(error, 0, &violation) == TMAJIT_OK);
  printf("violation: %s: %s; legal: %s\n", violation.rule, violation.found, violation.legal);
  EXPECT(strlen(violation.rule) > 0 && strlen(violation.legal) > 0);
  EXPECT(tmajit_error_violation(error, 99, &violation) == TMAJIT_INVALID_ARGUMENT);
  tmajit_error_destroy(error);

  // The compiler's log.
  const tmajit_map_arguments bad = {.size = sizeof bad, .expression = "x + nothing"};
  EXPECT(tmajit_map(runtime, &y, &x, 1, &bad, NULL, &error) == TMAJIT_COMPILE_FAILED);
  EXPECT(strstr(tmajit_error_log(error), "nothing") != NULL);
  tmajit_error_destroy(error);

  // A runtime without a device makes plans, but launches fail.
  tmajit_runtime_options options = {.size = sizeof options, .device = TMAJIT_DEVICE_NONE};
  tmajit_runtime* deviceless = NULL;
  EXPECT_OK(tmajit_runtime_make(&options, &deviceless, &error));
  EXPECT_ERROR(TMAJIT_UNAVAILABLE, "", tmajit_copy(deviceless, &y, &x, NULL, NULL, &error));
  tmajit_findings* findings = NULL;
  EXPECT_ERROR(TMAJIT_UNSUPPORTED, "simulated", tmajit_runtime_findings(deviceless, &findings, &error));
  tmajit_buffer* buffer = NULL;
  EXPECT_ERROR(TMAJIT_UNAVAILABLE, "without a device", tmajit_buffer_make(deviceless, 4, &buffer, &error));
  EXPECT(buffer == NULL);
  tmajit_runtime_destroy(deviceless);
  options.device = 7;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "device is 7", tmajit_runtime_make(&options, &deviceless, &error));

  // Packs. One that does not exist is skipped.
  const char* const packs[] = {"no-such.pack"};
  options.device = TMAJIT_DEVICE_NONE;
  options.no_shipped_packs = 2;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "no_shipped_packs is 2",
               tmajit_runtime_make(&options, &deviceless, &error));
  options.no_shipped_packs = 1;
  options.pack_count = 1;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "packs", tmajit_runtime_make(&options, &deviceless, &error));
  options.packs = packs;
  options.record = "";
  EXPECT_OK(tmajit_runtime_make(&options, &deviceless, &error));
  tmajit_runtime_destroy(deviceless);

  // Bytes beyond a buffer's end.
  EXPECT_OK(tmajit_buffer_make(runtime, 16, &buffer, &error));
  char bytes[16] = "";
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "beyond the end",
               tmajit_buffer_write(buffer, 8, bytes, UINT64_MAX, NULL, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "memory is null",
               tmajit_buffer_read(buffer, 0, NULL, sizeof bytes, NULL, &error));
  tmajit_buffer_destroy(buffer);

  EXPECT(strcmp(tmajit_status_name(TMAJIT_ILLEGAL_SPEC), "illegal_spec") == 0);
  EXPECT(strcmp(tmajit_status_name(99), "unknown") == 0);
  EXPECT(tmajit_dtype_of("float32") == TMAJIT_F32 && tmajit_dtype_of("f31") == 0 &&
         tmajit_dtype_of(NULL) == 0);
  EXPECT(tmajit_dtype_bytes(TMAJIT_E4M3) == 1 && tmajit_dtype_name(0) == NULL);
  printf("errors: each call that must fail gave its status and a sentence\n");
}
