// Calls every part of the C interface on the simulated device, and checks the results.
#include "consumer.h"

tmajit_tensor dense_tensor(tmajit_dtype dtype, int64_t rows, int64_t columns, const tmajit_buffer* buffer) {
  const tmajit_tensor tensor = {.size = sizeof tensor,
                                .address = tmajit_buffer_address(buffer),
                                .dtype = dtype,
                                .rank = columns == 0 ? 1 : 2,
                                .extents = {rows, columns}};
  return tensor;
}

tmajit_buffer* make_buffer(tmajit_runtime* runtime, const void* values, uint64_t bytes) {
  tmajit_buffer* buffer = NULL;
  EXPECT_OK(tmajit_buffer_make(runtime, bytes, &buffer, &error));
  if (values == NULL) {
    EXPECT_OK(tmajit_buffer_fill(buffer, 0, 0, bytes, NULL, &error));
  } else {
    EXPECT_OK(tmajit_buffer_write(buffer, 0, values, bytes, NULL, &error));
  }
  EXPECT(tmajit_buffer_bytes(buffer) == bytes && tmajit_buffer_address(buffer) != 0);
  return buffer;
}

void read_buffer(tmajit_runtime* runtime, const tmajit_buffer* buffer, void* values) {
  EXPECT_OK(tmajit_buffer_read(buffer, 0, values, tmajit_buffer_bytes(buffer), NULL, &error));
  EXPECT_OK(tmajit_synchronize(runtime, NULL, &error));
}

int main(void) {
  const tmajit_runtime_options options = {.size = sizeof options, .device = TMAJIT_DEVICE_SIMULATED};
  tmajit_runtime* runtime = NULL;
  EXPECT_OK(tmajit_runtime_make(&options, &runtime, &error));
  tmajit_device_info info = {.size = sizeof info};
  EXPECT_OK(tmajit_runtime_device(runtime, &info, &error));
  EXPECT(info.size == sizeof info && info.major == 9 && info.minor == 0 && info.ordinal == -1);
  printf("tmajit %s on %s\n", tmajit_version(), info.name);

  use_operations(runtime);
  use_plans(runtime);
  use_kernels(runtime);
  use_tuning(runtime);
  use_checks();
  use_errors(runtime);
  tmajit_runtime_destroy(runtime);
  printf("right\n");
  return 0;
}
