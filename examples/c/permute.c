// Permutes a tensor from C99: [heads, tokens, width] becomes [tokens, heads, width], once by a call and once
// by a plan, which writes to another buffer.
//
//   c_permute [--device gpu|sim]     exits with 77 without a Hopper GPU
#include <tmajit/c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { heads = 6, tokens = 100, width = 64, elements = heads * tokens * width };

// If a call failed, prints its error and exits.
static void check(tmajit_status status, tmajit_error** error) {
  if (status == TMAJIT_OK) return;
  fprintf(stderr, "c_permute: %s: %s\n", tmajit_status_name(status), tmajit_error_message(*error));
  tmajit_error_destroy(*error);
  exit(status == TMAJIT_UNAVAILABLE ? 77 : 1);
}

// Makes a buffer that holds `values`.
static tmajit_buffer* upload(tmajit_runtime* runtime, const float* values) {
  tmajit_error* error;
  tmajit_buffer* buffer;
  check(tmajit_buffer_make(runtime, elements * sizeof(float), &buffer, &error), &error);
  check(tmajit_buffer_write(buffer, 0, values, elements * sizeof(float), NULL, &error), &error);
  return buffer;
}

// Whether the buffer holds `x` permuted.
static int is_permuted(tmajit_runtime* runtime, const tmajit_buffer* buffer, const float* x) {
  static float y[elements];
  tmajit_error* error;
  check(tmajit_buffer_read(buffer, 0, y, sizeof y, NULL, &error), &error);
  check(tmajit_synchronize(runtime, NULL, &error), &error);
  for (int h = 0; h < heads; ++h)
    for (int t = 0; t < tokens; ++t)
      for (int w = 0; w < width; ++w)
        if (y[(t * heads + h) * width + w] != x[(h * tokens + t) * width + w]) return 0;
  return 1;
}

int main(int argc, char** argv) {
  const int simulated = argc == 3 && strcmp(argv[2], "sim") == 0;
  static float x[elements];
  for (int i = 0; i < elements; ++i) x[i] = (float)i;

  tmajit_error* error;
  tmajit_runtime* runtime;
  const tmajit_runtime_options options = {.size = sizeof options,
                                          .device = simulated ? TMAJIT_DEVICE_SIMULATED : TMAJIT_DEVICE_GPU};
  check(tmajit_runtime_make(&options, &runtime, &error), &error);
  tmajit_buffer* from = upload(runtime, x);
  tmajit_buffer* to = upload(runtime, x);

  const tmajit_tensor source = {.size = sizeof source,
                                .address = tmajit_buffer_address(from),
                                .dtype = TMAJIT_F32,
                                .rank = 3,
                                .extents = {heads, tokens, width}};
  const tmajit_tensor destination = {.size = sizeof destination,
                                     .address = tmajit_buffer_address(to),
                                     .dtype = TMAJIT_F32,
                                     .rank = 3,
                                     .extents = {tokens, heads, width}};
  const tmajit_permute_arguments arguments = {.size = sizeof arguments, .axes = {3, 0, {1, 0, 2}}};
  check(tmajit_permute(runtime, &destination, &source, &arguments, NULL, &error), &error);
  int right = is_permuted(runtime, to, x);

  tmajit_plan* plan;
  check(tmajit_permute_plan(runtime, &destination, &source, &arguments, NULL, &plan, &error), &error);
  tmajit_buffer* elsewhere = upload(runtime, x);
  const uint64_t new_destination = tmajit_buffer_address(elsewhere);
  check(tmajit_plan_launch_on(plan, &new_destination, 1, &source.address, 1, NULL, &error), &error);
  right = right && is_permuted(runtime, elsewhere, x);
  printf("%zu kernel, %llu bytes moved: %s\n", tmajit_plan_kernel_count(plan),
         (unsigned long long)tmajit_plan_bytes_moved(plan), right ? "right" : "wrong");

  tmajit_plan_destroy(plan);
  tmajit_buffer_destroy(elsewhere);
  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
  tmajit_runtime_destroy(runtime);
  return right ? 0 : 1;
}
