// Operations in one call: arguments of every type, results, views and streams.
#include "consumer.h"

enum { rows = 4, columns = 6 };

void use_operations(tmajit_runtime* runtime) {
  float x[rows * columns];
  for (int i = 0; i < rows * columns; ++i) x[i] = (float)i;
  tmajit_buffer* from = make_buffer(runtime, x, sizeof x);
  tmajit_buffer* to = make_buffer(runtime, NULL, 4 * sizeof x);
  const tmajit_tensor source = dense_tensor(TMAJIT_F32, rows, columns, from);
  float y[4 * rows * columns];

  // Dimensions, and a destination that tmajit_permute_results() describes.
  const tmajit_permute_arguments swap = {.size = sizeof swap, .axes = {2, 0, {-1, 0}}};
  tmajit_tensor result = {.size = sizeof result};
  EXPECT_OK(tmajit_permute_results(&source, &swap, &result, &error));
  EXPECT(result.rank == 2 && result.extents[0] == columns && result.dtype == TMAJIT_F32);
  result.address = tmajit_buffer_address(to);
  EXPECT_OK(tmajit_permute(runtime, &result, &source, &swap, NULL, &error));
  read_buffer(runtime, to, y);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) EXPECT(y[c * rows + r] == x[r * columns + c]);

  // Widths and a number.
  const tmajit_pad_arguments around = {
      .size = sizeof around, .widths = {2, 0, {1, 0}, {0, 2}}, .value = {.value = 7, .given = 1}};
  const tmajit_tensor padded = dense_tensor(TMAJIT_F32, rows + 1, columns + 2, to);
  EXPECT_OK(tmajit_pad(runtime, &padded, &source, &around, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(y[0] == 7 && y[columns + 2] == 0 && y[2 * (columns + 2) - 1] == 7);

  // Texts, a choice, and two sources.
  const tmajit_reduce_arguments norm = {
      .size = sizeof norm, .op = "sum", .axes = {1, 0, {1}}, .expression = "x0 * x1", .keep_dims = "yes"};
  const tmajit_tensor both[2] = {source, source};
  const tmajit_tensor sums = dense_tensor(TMAJIT_F32, rows, 1, to);
  EXPECT_OK(tmajit_reduce(runtime, &sums, both, 2, &norm, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(y[0] == 0 + 1 + 4 + 9 + 16 + 25);

  // Numbers of a range that are not given have Python's defaults.
  tmajit_slice_arguments odd = {.size = sizeof odd};
  odd.slices.count = 2;
  odd.slices.values[0].start = (tmajit_integer){.value = 1, .given = 1};
  odd.slices.values[1].step = (tmajit_integer){.value = -2, .given = 1};
  const tmajit_tensor part = dense_tensor(TMAJIT_F32, rows - 1, columns / 2, to);
  EXPECT_OK(tmajit_slice(runtime, &part, &source, &odd, NULL, &error));
  read_buffer(runtime, to, y);
  EXPECT(y[0] == 11 && y[1] == 9 && y[3] == 17);

  // Several destinations: the first call gives their number, the second their shapes.
  const int64_t lengths[2] = {1, 3};
  const tmajit_split_arguments cut = {
      .size = sizeof cut, .axis = {.given = 1}, .parts = {.count = 2, .values = lengths}};
  size_t count = 0;
  EXPECT_OK(tmajit_split_results(&source, &cut, NULL, &count, &error));
  EXPECT(count == 2);
  tmajit_tensor parts[2] = {{.size = sizeof parts[0]}, {.size = sizeof parts[0]}};
  EXPECT_OK(tmajit_split_results(&source, &cut, parts, &count, &error));
  EXPECT(parts[1].extents[0] == 3);
  parts[0].address = tmajit_buffer_address(to);
  parts[1].address = tmajit_buffer_address(to) + sizeof x;
  EXPECT_OK(tmajit_split(runtime, parts, 2, &source, &cut, NULL, &error));
  EXPECT_OK(tmajit_synchronize(runtime, NULL, &error));

  // An operation without arguments, on a stream, from a strided view.
  void* stream = NULL;
  EXPECT_OK(tmajit_stream_make(runtime, &stream, &error));
  tmajit_tensor column = {.size = sizeof column};
  const tmajit_ranges last = {.count = 2, .values = {{{0}, {0}, {0}}, {.start = {.value = 5, .given = 1}}}};
  EXPECT_OK(tmajit_tensor_sliced(&source, &last, &column, &error));
  EXPECT(column.strided == 1 && column.strides[0] == columns && column.extents[1] == 1);
  const tmajit_tensor wide = dense_tensor(TMAJIT_BF16, rows, 1, to);
  EXPECT_OK(tmajit_cast(runtime, &wide, &column, NULL, stream, &error));
  EXPECT_OK(tmajit_synchronize(runtime, stream, &error));
  uint16_t halves[rows];
  EXPECT_OK(tmajit_buffer_read(to, 0, halves, sizeof halves, stream, &error));
  EXPECT_OK(tmajit_synchronize(runtime, stream, &error));
  EXPECT(halves[0] == 0x40a0);  // 5 in bf16
  tmajit_stream_destroy(runtime, stream);

  // Other views.
  tmajit_tensor view = {.size = sizeof view};
  EXPECT_OK(tmajit_tensor_permuted(&source, &swap.axes, &view, &error));
  EXPECT(view.strides[0] == 1);
  EXPECT_OK(tmajit_tensor_reshaped(&source, &(const tmajit_dims){1, 0, {rows * columns}}, &view, &error));
  EXPECT(view.rank == 1 && view.extents[0] == rows * columns);
  EXPECT_OK(tmajit_tensor_flipped(&view, 0, &view, &error));
  uint64_t before = 0;
  uint64_t bytes = 0;
  EXPECT_OK(tmajit_tensor_memory(&view, &before, &bytes, &error));
  EXPECT(before == sizeof x - 4 && bytes == sizeof x);
  EXPECT_OK(tmajit_tensor_reinterpreted(&source, TMAJIT_I32, &view, &error));
  EXPECT(view.dtype == TMAJIT_I32);
  EXPECT_OK(tmajit_tensor_broadcast(&source, &(const tmajit_dims){3, 0, {2, rows, columns}}, &view, &error));
  EXPECT(view.rank == 3 && view.strides[0] == 0);

  tmajit_buffer_destroy(to);
  tmajit_buffer_destroy(from);
  printf("operations: permute, pad, reduce, slice, split, cast\n");
}
