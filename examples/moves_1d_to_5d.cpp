// Global → shared and shared → global in one to five dimensions: the life of an mbarrier from init to inval,
// its phases, and commit and wait groups. The kernel is kernels/moves.cu.
#include "kernels/moves.hpp"
#include "support/example.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

using namespace tmajit;

namespace {

/// A tensor of floats and the box that divides it into slabs. The box's outermost extent does not divide the
/// tensor's, so the last slab extends beyond the tensor; the 2-D case does so in both dimensions.
struct Case {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint32_t> box;
};

const std::array<Case, 5> cases{{
    {{1000}, {256}},
    {{37, 60}, {8, 64}},
    {{11, 6, 20}, {3, 6, 20}},
    {{7, 3, 5, 12}, {2, 3, 5, 12}},
    {{5, 3, 2, 4, 8}, {2, 3, 2, 4, 8}},
}};

void move(example::Session& session, const Case& sizes) {
  const TensorView tensor = TensorView::contiguous(ElementType::f32, sizes.shape);
  std::uint32_t slab_bytes = sizeof(float);
  for (const std::uint32_t extent : sizes.box) slab_bytes *= extent;
  const std::uint32_t slab_extent = sizes.box[0];
  const std::uint32_t slabs = (static_cast<std::uint32_t>(sizes.shape[0]) + slab_extent - 1) / slab_extent;
  // Two buffers of whole 128-byte lines, and up to 1024 bytes to align the first.
  const std::uint32_t shared_bytes = 1024 + 2 * ((slab_bytes + 127) / 128 * 128);

  const std::string entry = "move_" + std::to_string(sizes.shape.size()) + "d";
  const Kernel kernel =
      session.kernel({.text = kernel_text::moves, .file = "moves.cu", .entry = entry}, shared_bytes);
  if (session.compile_only()) return;

  std::vector<float> x(tensor.elements());
  std::iota(x.begin(), x.end(), 1.0F);
  const Buffer input = session.upload(x);
  const Buffer output = session.poisoned(input.bytes());
  const TensorMapSpec map = TensorMapSpec::of(tensor, sizes.box);
  const PreparedLaunch launch =
      kernel.prepare({.tensors = {{tensor, output.address()}, {tensor, input.address()}},
                      .arguments = {MapArgument{0, map}, MapArgument{1, map}, ValueArgument::of(slabs),
                                    ValueArgument::of(slab_extent), ValueArgument::of(slab_bytes)},
                      .shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = shared_bytes}});
  launch();

  example::expect_equal(session.download<float>(output), x);
  std::printf("%zuD: %llu floats in %u slabs of %u bytes\n", sizes.shape.size(),
              static_cast<unsigned long long>(tensor.elements()), slabs, slab_bytes);
}

void moves_1d_to_5d(example::Session& session) {
  for (const Case& sizes : cases) move(session, sizes);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "Tensors of one to five dimensions through shared memory and back.",
                      moves_1d_to_5d);
}
