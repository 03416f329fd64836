// Kernels of the caller's own: constants, headers, values, addresses, tensor maps, prepared launches.
#include "consumer.h"

static const char scale[] =
    "#include \"bias.h\"\n"
    "struct Views { float* y; const float* x; int n; };\n"
    "extern \"C\" __global__ void scale(Views v, float f) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < v.n) v.y[i] = v.x[i] * f * factor + bias;\n"
    "}\n";

static const char copy_tile[] =
    "#include \"tmajit/barrier.cuh\"\n"
    "#include \"tmajit/bulk_group.cuh\"\n"
    "#include \"tmajit/bulk_tensor.cuh\"\n"
    "using namespace tmajit;\n"
    "extern \"C\" __global__ void copy_tile(const __grid_constant__ TensorMap to,\n"
    "                                     const __grid_constant__ TensorMap from) {\n"
    "  __shared__ alignas(128) float tile[8 * 32];\n"
    "  __shared__ u64 word;\n"
    "  const auto arrived = Barrier<>(word).init(1, true);\n"
    "  arrived.expect(sizeof tile);\n"
    "  ptx::tensor_load(ptx::shared_address(tile), from, Coordinates<2>{0, 0}, arrived.address());\n"
    "  arrived.wait(0);\n"
    "  ptx::tensor_store(to, Coordinates<2>{0, 0}, ptx::shared_address(tile));\n"
    "  ptx::commit_group();\n"
    "  ptx::wait_group_read<0>();\n"
    "}\n";

static void use_values(tmajit_runtime* runtime) {
  enum { count = 100 };
  float x[count];
  float y[count];
  for (int i = 0; i < count; ++i) x[i] = (float)i;
  tmajit_buffer* from = make_buffer(runtime, x, sizeof x);
  tmajit_buffer* to = make_buffer(runtime, NULL, sizeof y);
  const tmajit_tensor tensors[2] = {dense_tensor(TMAJIT_F32, count, 0, to),
                                    dense_tensor(TMAJIT_F32, count, 0, from)};

  const tmajit_named_text constants[] = {{"factor", "2.0f"}};
  const tmajit_named_text headers[] = {{"bias.h", "constexpr float bias = 0.5f;\n"}};
  const tmajit_kernel_source source = {.size = sizeof source,
                                       .text = scale,
                                       .file = "scale.cu",
                                       .constants = constants,
                                       .constant_count = 1,
                                       .headers = headers,
                                       .header_count = 1};
  tmajit_kernel* kernel = NULL;
  EXPECT_OK(tmajit_kernel_make(runtime, &source, &kernel, &error));
  EXPECT(strcmp(tmajit_kernel_entry(kernel), "scale") == 0);
  tmajit_resources resources = {.size = sizeof resources};
  EXPECT_OK(tmajit_kernel_resources(kernel, &resources, &error));

  const struct {
    uint64_t y, x;
    int32_t n;
  } views = {0, 0, count};
  const float three = 3;
  const tmajit_value_address addresses[] = {{.at = 0, .tensor = 0}, {.at = 8, .tensor = 1}};
  const tmajit_argument arguments[] = {{.size = sizeof arguments[0],
                                        .kind = TMAJIT_ARGUMENT_VALUE,
                                        .value = &views,
                                        .value_bytes = sizeof views,
                                        .addresses = addresses,
                                        .address_count = 2},
                                       {.size = sizeof arguments[0],
                                        .kind = TMAJIT_ARGUMENT_VALUE,
                                        .value = &three,
                                        .value_bytes = sizeof three}};
  const tmajit_launch launch = {.size = sizeof launch,
                                .grid = {2},
                                .block = {64},
                                .tensors = tensors,
                                .tensor_count = 2,
                                .arguments = arguments,
                                .argument_count = 2};
  EXPECT_OK(tmajit_kernel_launch(kernel, &launch, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(y[0] == 0.5f && y[count - 1] == 6 * (count - 1) + 0.5f);

  // A launch that is prepared once, and then rebound to another buffer.
  tmajit_prepared* prepared = NULL;
  EXPECT_OK(tmajit_kernel_prepare(kernel, &launch, &prepared, &error));
  EXPECT_OK(tmajit_prepared_launch(prepared, NULL, &error));
  tmajit_buffer* other = make_buffer(runtime, NULL, sizeof y);
  const uint64_t moved[2] = {tmajit_buffer_address(other), tmajit_buffer_address(from)};
  EXPECT_OK(tmajit_prepared_rebind(prepared, moved, 2, &error));
  EXPECT_OK(tmajit_prepared_launch(prepared, NULL, &error));
  read_buffer(runtime, other, y);
  EXPECT(y[1] == 6.5f);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "address", tmajit_prepared_rebind(prepared, moved, 1, &error));

  tmajit_prepared_destroy(prepared);
  tmajit_kernel_destroy(kernel);
  tmajit_buffer_destroy(other);
  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
}

static void use_maps(tmajit_runtime* runtime) {
  float x[8 * 32];
  float y[8 * 32];
  for (int i = 0; i < 8 * 32; ++i) x[i] = (float)(i * i);
  tmajit_buffer* from = make_buffer(runtime, x, sizeof x);
  tmajit_buffer* to = make_buffer(runtime, NULL, sizeof y);
  const tmajit_tensor tensors[2] = {dense_tensor(TMAJIT_F32, 8, 32, to),
                                    dense_tensor(TMAJIT_F32, 8, 32, from)};
  const tmajit_kernel_source source = {.size = sizeof source, .text = copy_tile};
  tmajit_kernel* kernel = NULL;
  EXPECT_OK(tmajit_kernel_make(runtime, &source, &kernel, &error));

  tmajit_tensor_map map = {.size = sizeof map, .box = {8, 32}};
  const tmajit_argument arguments[] = {
      {.size = sizeof arguments[0], .kind = TMAJIT_ARGUMENT_MAP, .tensor = 0, .map = &map},
      {.size = sizeof arguments[0], .kind = TMAJIT_ARGUMENT_MAP, .tensor = 1, .map = &map}};
  const tmajit_launch launch = {.size = sizeof launch,
                                .tensors = tensors,
                                .tensor_count = 2,
                                .arguments = arguments,
                                .argument_count = 2};
  EXPECT_OK(tmajit_kernel_launch(kernel, &launch, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(memcmp(x, y, sizeof x) == 0);

  // The stride of a dimension of extent 1 is not used, so it may be one that no tensor map can have.
  tmajit_tensor row = tensors[1];
  row.strided = 1;
  row.extents[0] = 1;
  row.strides[0] = -3;
  row.strides[1] = 1;
  const tmajit_tensor rows[2] = {tensors[0], row};
  tmajit_launch one_row = launch;
  one_row.tensors = rows;
  EXPECT_OK(tmajit_kernel_launch(kernel, &one_row, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(memcmp(x, y, 32 * sizeof x[0]) == 0 && y[32] == 0);

  map.box[1] = 3;  // 12 bytes
  EXPECT_ERROR(TMAJIT_ILLEGAL_SPEC, "16", tmajit_kernel_launch(kernel, &launch, NULL, &error));
  map.box[1] = 32;
  map.swizzle = "12B";
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "128B", tmajit_kernel_launch(kernel, &launch, NULL, &error));
  tmajit_kernel_destroy(kernel);
  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
}

void use_kernels(tmajit_runtime* runtime) {
  use_values(runtime);
  use_maps(runtime);
  printf("kernels: values, addresses in a struct, tensor maps, a prepared launch\n");
}
