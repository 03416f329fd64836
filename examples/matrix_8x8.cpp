// Adds to each element of an 8×8 matrix its index in its tile of 4×4.
//
// The matrix is 0 1 … 63. The first row of its last tile, 36 37 38 39, becomes 36 38 40 42.
#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

static void matrix_8x8(example::Session& session) {
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {8, 8});
  TileRequest request{.family = "map",
                      .destination = matrix,
                      .sources = {matrix},
                      .expression = "x + tile_index",
                      .tiles = {.box = {4, 4}}};
  const Kernel kernel = session.kernel(plan_tiles(request));
  if (session.compile_only()) return;

  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), 0.0F);
  const Buffer input = session.upload(x);
  const Buffer output = session.poisoned(input.bytes());
  request.sources[0].address = input.address();
  request.destination.address = output.address();
  kernel.launch(plan_tiles(request));
  const std::vector<float> y = session.download<float>(output);

  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      std::printf("%4.0f", static_cast<double>(y[row * 8 + column]));
    }
    std::printf("\n");
  }

  std::vector<float> want = x;
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      want[row * 8 + column] += static_cast<float>(row % 4 * 4 + column % 4);
    }
  }
  example::expect_equal(y, want);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "An 8x8 matrix in 4x4 tiles, each element plus its index in its tile.",
                      matrix_8x8);
}
