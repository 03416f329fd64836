// Plans: launches, kernels, explanations.
#include "consumer.h"

static void count_messages(void* context, int32_t level, const char* message, size_t bytes) {
  EXPECT(level >= TMAJIT_LOG_TRACE && level < TMAJIT_LOG_OFF && message != NULL && bytes > 0);
  ++*(int*)context;
}

// If the cache cannot be written, calls succeed, and the program's callback gets a message.
static void use_log(const tmajit_tensor* destination, const tmajit_tensor* source) {
  int messages = 0;
  EXPECT_OK(tmajit_set_log(count_messages, &messages, TMAJIT_LOG_WARN, &error));
  const tmajit_runtime_options options = {.size = sizeof options,
                                          .device = TMAJIT_DEVICE_NONE,
                                          .arch = "compute_90a",
                                          .cache_directory = "/dev/null/no folder"};
  tmajit_runtime* runtime = NULL;
  EXPECT_OK(tmajit_runtime_make(&options, &runtime, &error));
  tmajit_plan* plan = NULL;
  const tmajit_map_arguments arguments = {.size = sizeof arguments, .expression = "x * 3 + 1"};
  EXPECT_OK(tmajit_map_plan(runtime, destination, source, 1, &arguments, NULL, &plan, &error));
  tmajit_plan_destroy(plan);
  tmajit_runtime_destroy(runtime);
  EXPECT_OK(tmajit_set_log(NULL, NULL, TMAJIT_LOG_WARN, &error));
  EXPECT(messages > 0);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "min_level is 6", tmajit_set_log(NULL, NULL, 6, &error));
}

// A chain whose intermediate tensor nothing reads is one kernel.
static void use_chain(tmajit_runtime* runtime, const tmajit_tensor* destination,
                      const tmajit_tensor* source) {
  tmajit_buffer* buffer = make_buffer(runtime, NULL, (size_t)source->extents[0] * sizeof(int32_t));
  tmajit_tensor between = *source;
  between.address = tmajit_buffer_address(buffer);
  tmajit_operation* operations[2] = {NULL, NULL};
  const tmajit_map_arguments twice = {.size = sizeof twice, .expression = "x * 2"};
  EXPECT_OK(tmajit_map_operation(&between, source, 1, &twice, &operations[0], &error));
  const tmajit_flip_arguments flip = {.size = sizeof flip, .axes = {1, 0, {0}}};
  EXPECT_OK(tmajit_flip_operation(destination, &between, &flip, &operations[1], &error));
  const tmajit_operation* const chain[] = {operations[0], operations[1]};
  tmajit_plan* plan = NULL;
  EXPECT_OK(tmajit_chain_plan(runtime, chain, 2, &between, 1, &plan, &error));
  tmajit_operation_destroy(operations[0]);
  tmajit_operation_destroy(operations[1]);
  EXPECT(tmajit_plan_kernel_count(plan) == 1 && tmajit_plan_sentence_count(plan) == 1);
  EXPECT(strstr(tmajit_plan_sentence(plan, 0), "is fused") != NULL);
  EXPECT_OK(tmajit_plan_launch_moved(plan, destination, &destination->address, 1, NULL, &error));
  tmajit_plan_destroy(plan);
  tmajit_buffer_destroy(buffer);
}

// Kernels that are made in the background.
static void use_prefetch(tmajit_runtime* runtime, const tmajit_tensor* destination,
                         const tmajit_tensor* source) {
  tmajit_operation* operation = NULL;
  EXPECT_OK(tmajit_copy_operation(destination, source, NULL, &operation, &error));
  const tmajit_operation* const operations[] = {operation};
  tmajit_prefetch* prefetch = NULL;
  EXPECT_OK(tmajit_prefetch_make(runtime, operations, 1, NULL, &prefetch, &error));
  tmajit_operation_destroy(operation);
  EXPECT(tmajit_prefetch_wait(prefetch, 60000) == 1);
  EXPECT(tmajit_prefetch_done(prefetch) == 1 && tmajit_prefetch_total(prefetch) == 1);
  EXPECT(tmajit_prefetch_made(prefetch) == 1 && tmajit_prefetch_failure_count(prefetch) == 0);
  tmajit_text* text = NULL;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "there is no failure 0",
               tmajit_prefetch_failure(prefetch, 0, &text, &error));
  tmajit_prefetch_cancel(prefetch);
  tmajit_prefetch_destroy(prefetch);
}

void use_plans(tmajit_runtime* runtime) {
  enum { count = 1000 };
  int32_t x[count];
  int32_t y[count];
  for (int i = 0; i < count; ++i) x[i] = i;
  tmajit_buffer* from = make_buffer(runtime, x, sizeof x);
  tmajit_buffer* to = make_buffer(runtime, NULL, sizeof y);
  tmajit_buffer* other = make_buffer(runtime, NULL, sizeof y);
  const tmajit_tensor source = dense_tensor(TMAJIT_I32, count, 0, from);
  const tmajit_tensor destination = dense_tensor(TMAJIT_I32, count, 0, to);

  tmajit_plan* plan = NULL;
  const tmajit_map_arguments arguments = {.size = sizeof arguments, .expression = "x * 2 + 1"};
  EXPECT_OK(tmajit_map_plan(runtime, &destination, &source, 1, &arguments, NULL, &plan, &error));
  EXPECT_OK(tmajit_plan_launch(plan, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(y[0] == 1 && y[count - 1] == 2 * count - 1);
  const uint64_t address = tmajit_buffer_address(other);
  EXPECT_OK(tmajit_plan_launch_on(plan, &address, 1, &source.address, 1, NULL, &error));
  read_buffer(runtime, other, y);
  EXPECT(y[count / 2] == count + 1);
  EXPECT(tmajit_runtime_instructions(runtime) > count);
  EXPECT(tmajit_plan_bytes_moved(plan) == 2 * sizeof x && tmajit_plan_kernel_count(plan) == 1);

  tmajit_kernel* kernel = NULL;
  EXPECT_OK(tmajit_plan_kernel(plan, 0, &kernel, &error));
  tmajit_text* text = NULL;
  EXPECT_OK(tmajit_kernel_text(kernel, TMAJIT_KERNEL_SOURCE, &text, &error));
  EXPECT(strstr(tmajit_text_data(text), "x * 2 + 1") != NULL);
  EXPECT(tmajit_text_size(text) == strlen(tmajit_text_data(text)));
  tmajit_text_destroy(text);
  EXPECT_OK(tmajit_kernel_text(kernel, TMAJIT_KERNEL_PTX, &text, &error));
  EXPECT(strstr(tmajit_text_data(text), tmajit_kernel_entry(kernel)) != NULL);
  tmajit_text_destroy(text);
  EXPECT_OK(tmajit_plan_explanation(plan, &text, &error));
  EXPECT(tmajit_text_size(text) > 0);
  tmajit_text_destroy(text);
  EXPECT_OK(tmajit_plan_explanation_json(plan, &text, &error));
  EXPECT(tmajit_text_data(text)[0] == '{');
  tmajit_text_destroy(text);

  use_chain(runtime, &destination, &source);
  use_prefetch(runtime, &destination, &source);
  use_log(&destination, &source);
  tmajit_plan_destroy(plan);
  tmajit_kernel_destroy(kernel);
  tmajit_buffer_destroy(other);
  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
  printf("plan: launched at two addresses, explained\n");
}
