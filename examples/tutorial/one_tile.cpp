// Step 1 of the tutorial (docs/tutorial): the copy engine moves tiles through shared memory. The kernel
// copy_tile leaves its tile unchanged; in add_index, threads change it. Both kernels are in one_tile.cu.
#include "tutorial/one_tile.hpp"

#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

namespace {

/// Compiles the kernel `entry` of one_tile.cu.
Kernel compile_kernel(example::Session& session, const char* entry) {
  constexpr std::uint32_t dynamic_shared_bytes = 0;
  return session.kernel({.text = kernel_text::one_tile, .file = "one_tile.cu", .entry = entry},
                        dynamic_shared_bytes);
}

/// A launch that computes `destination` from `source`, which has the same shape. `shape` must have one CTA
/// for each box. The kernel has two arguments: a tensor map of tensor 0, the destination, and one of tensor
/// 1, the source. (tmajit calls kernels that it did not generate "own" kernels.)
OwnLaunch launch_of(const Tensor& destination, const Tensor& source, const Dims& box,
                    const LaunchShape& shape) {
  return {.tensors = {destination, source},
          .arguments = {MapArgument{0, TensorMapSpec::of(destination.view, box)},
                        MapArgument{1, TensorMapSpec::of(source.view, box)}},
          .shape = shape};
}

/// Copies a matrix of 128 × 64 f16 as one tile. The elements are the bit patterns 0 to 8191, which are all
/// finite.
void run_copy_tile(example::Session& session, const Kernel& copy_tile) {
  std::vector<std::uint16_t> elements(std::size_t{128} * 64);
  std::iota(elements.begin(), elements.end(), std::uint16_t{0});
  const TensorView view = TensorView::contiguous(ElementType::f16, {128, 64});
  const Buffer source = session.upload(elements);
  const Buffer destination = session.poisoned(source.bytes());
  const PreparedLaunch launch =
      copy_tile.prepare(launch_of({view, destination.address()}, {view, source.address()}, {128, 64},
                                  {.grid = {1, 1, 1}, .block = {1, 1, 1}}));
  launch();
  example::expect_equal(session.download<std::uint16_t>(destination), elements);
}

/// Adds to each element of a matrix of 8 × 8 floats its index in its tile of 4 × 4. The elements are the
/// numbers 0 to 63.
void run_add_index(example::Session& session, const Kernel& add_index) {
  std::vector<float> elements(64);
  std::iota(elements.begin(), elements.end(), 0.0F);
  const TensorView view = TensorView::contiguous(ElementType::f32, {8, 8});
  const Buffer source = session.upload(elements);
  const Buffer destination = session.poisoned(source.bytes());
  const PreparedLaunch launch =
      add_index.prepare(launch_of({view, destination.address()}, {view, source.address()}, {4, 4},
                                  {.grid = {2, 2, 1}, .block = {16, 1, 1}}));
  launch();
  const std::vector<float> results = session.download<float>(destination);
  std::vector<float> expected = elements;
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      std::printf("%4.0f", static_cast<double>(results[row * 8 + column]));
      expected[row * 8 + column] += static_cast<float>(row % 4 * 4 + column % 4);
    }
    std::printf("\n");
  }
  example::expect_equal(results, expected);
}

void one_tile(example::Session& session) {
  const Kernel copy_tile = compile_kernel(session, "copy_tile");
  const Kernel add_index = compile_kernel(session, "add_index");
  if (session.compile_only()) return;
  run_copy_tile(session, copy_tile);
  run_add_index(session, add_index);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(
      argc, argv, "Copies a tile through shared memory; then adds to each element of other tiles its index.",
      one_tile);
}
