// A chain of two operations as one kernel, from C99: y = softmax(x / 8), without x / 8 in memory. The plan
// then runs on another destination.
//
//   c_chain [--device gpu|sim]     exits with 77 without a Hopper GPU
#include <tmajit/c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 16, columns = 1000, elements = rows * columns };

static tmajit_error* error;

// If a call failed, prints its error and exits.
static void check(tmajit_status status) {
  if (status == TMAJIT_OK) return;
  fprintf(stderr, "c_chain: %s: %s\n", tmajit_status_name(status), tmajit_error_message(error));
  tmajit_error_destroy(error);
  exit(status == TMAJIT_UNAVAILABLE ? 77 : 1);
}

// A matrix in a new buffer.
static tmajit_tensor make_matrix(tmajit_runtime* runtime, tmajit_buffer** buffer) {
  check(tmajit_buffer_make(runtime, elements * sizeof(float), buffer, &error));
  const tmajit_tensor matrix = {.size = sizeof matrix,
                                .address = tmajit_buffer_address(*buffer),
                                .dtype = TMAJIT_F32,
                                .rank = 2,
                                .extents = {rows, columns}};
  return matrix;
}

// Whether each row of the buffer holds weights whose sum is 1.
static int has_weights(tmajit_runtime* runtime, const tmajit_buffer* buffer) {
  static float y[elements];
  check(tmajit_buffer_read(buffer, 0, y, sizeof y, NULL, &error));
  check(tmajit_synchronize(runtime, NULL, &error));
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += y[r * columns + c];
    if (fabs(sum - 1) > 1e-4) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  const int simulated = argc == 3 && strcmp(argv[2], "sim") == 0;
  tmajit_runtime* runtime;
  const tmajit_runtime_options options = {.size = sizeof options,
                                          .device = simulated ? TMAJIT_DEVICE_SIMULATED : TMAJIT_DEVICE_GPU};
  check(tmajit_runtime_make(&options, &runtime, &error));

  tmajit_buffer* buffers[4];
  const tmajit_tensor x = make_matrix(runtime, &buffers[0]);
  const tmajit_tensor scaled = make_matrix(runtime, &buffers[1]);
  const tmajit_tensor y = make_matrix(runtime, &buffers[2]);
  static float values[elements];
  for (int i = 0; i < elements; ++i) values[i] = (float)(i % 97);
  check(tmajit_buffer_write(buffers[0], 0, values, sizeof values, NULL, &error));

  tmajit_operation* operations[2];
  const tmajit_map_arguments scale = {.size = sizeof scale, .expression = "x * 0.125f"};
  check(tmajit_map_operation(&scaled, &x, 1, &scale, &operations[0], &error));
  check(tmajit_softmax_operation(&y, &scaled, NULL, &operations[1], &error));
  tmajit_plan* plan;
  const tmajit_operation* const chain[] = {operations[0], operations[1]};
  check(tmajit_chain_plan(runtime, chain, 2, &scaled, 1, &plan, &error));  // nothing else reads `scaled`
  for (int i = 0; i < 2; ++i) tmajit_operation_destroy(operations[i]);
  for (size_t i = 0; i < tmajit_plan_sentence_count(plan); ++i) printf("%s\n", tmajit_plan_sentence(plan, i));

  check(tmajit_plan_launch(plan, NULL, &error));
  int right = has_weights(runtime, buffers[2]);
  const tmajit_tensor other = make_matrix(runtime, &buffers[3]);
  check(tmajit_plan_launch_moved(plan, &y, &other.address, 1, NULL, &error));  // y is at other.address
  right = right && has_weights(runtime, buffers[3]);
  printf("%zu kernel, %llu bytes moved: %s\n", tmajit_plan_kernel_count(plan),
         (unsigned long long)tmajit_plan_bytes_moved(plan), right ? "right" : "wrong");

  tmajit_plan_destroy(plan);
  for (int i = 0; i < 4; ++i) tmajit_buffer_destroy(buffers[i]);
  tmajit_runtime_destroy(runtime);
  return right ? 0 : 1;
}
