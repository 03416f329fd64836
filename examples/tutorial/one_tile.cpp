// Step 1 of the tutorial (docs/tutorial): one tile through shared memory, unchanged and changed by threads.
// The kernels are in one_tile.cu.
#include "tutorial/one_tile.hpp"

#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

namespace {

Kernel kernel(example::Session& session, const char* entry) {
  return session.kernel({.text = kernel_text::one_tile, .file = "one_tile.cu", .entry = entry}, 0);
}

/// A launch that computes `out` from `in`, a matrix of the same shape, with one CTA for each box.
OwnLaunch launch_of(const Tensor& out, const Tensor& in, const Dims& box, const LaunchShape& shape) {
  return {.tensors = {out, in},
          .arguments = {MapArgument{0, TensorMapSpec::of(out.view, box)},
                        MapArgument{1, TensorMapSpec::of(in.view, box)}},
          .shape = shape};
}

void one_tile(example::Session& session) {
  const Kernel copy_tile = kernel(session, "copy_tile");
  const Kernel add_index = kernel(session, "add_index");
  if (session.compile_only()) return;

  // 8192 different bit patterns, all of them finite f16, in one box.
  std::vector<std::uint16_t> halves(std::size_t{128} * 64);
  std::iota(halves.begin(), halves.end(), std::uint16_t{0});
  const TensorView tile = TensorView::contiguous(ElementType::f16, {128, 64});
  const Buffer halves_in = session.upload(halves);
  const Buffer halves_out = session.poisoned(halves_in.bytes());
  copy_tile.prepare(launch_of({tile, halves_out.address()}, {tile, halves_in.address()}, {128, 64},
                              {.grid = {1, 1, 1}, .block = {1, 1, 1}}))();
  example::expect_equal(session.download<std::uint16_t>(halves_out), halves);

  // 0 to 63 as a matrix of 8 × 8, in four boxes.
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), 0.0F);
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {8, 8});
  const Buffer in = session.upload(x);
  const Buffer out = session.poisoned(in.bytes());
  add_index.prepare(launch_of({matrix, out.address()}, {matrix, in.address()}, {4, 4},
                              {.grid = {2, 2, 1}, .block = {16, 1, 1}}))();
  const std::vector<float> y = session.download<float>(out);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      std::printf("%4.0f", static_cast<double>(y[row * 8 + column]));
      x[row * 8 + column] += static_cast<float>(row % 4 * 4 + column % 4);
    }
    std::printf("\n");
  }
  example::expect_equal(y, x);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "One tile through shared memory: copied, and with its indices added.",
                      one_tile);
}
