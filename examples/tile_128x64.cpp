// A 128×64 tile of f16 copied in one box: one load, one store, 16 KiB.
#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

static void tile_128x64(example::Session& session) {
  const TensorView tile = TensorView::contiguous(ElementType::f16, {128, 64});
  TileRequest request{.family = "copy", .destination = tile, .sources = {tile}, .tiles = {.box = {128, 64}}};
  const Kernel kernel = session.kernel(plan_tiles(request));
  if (session.compile_only()) return;

  // A copy moves bits: each element gets a bit pattern of its own, 0 to 0x1FFF, all of them finite f16.
  std::vector<std::uint16_t> x(tile.elements());
  std::iota(x.begin(), x.end(), std::uint16_t{0});
  const Buffer input = session.upload(x);
  const Buffer output = session.poisoned(input.bytes());
  request.sources[0].address = input.address();
  request.destination.address = output.address();
  const PreparedLaunch launch = kernel.prepare(plan_tiles(request));
  launch();
  std::printf("%u CTA, %llu bytes read and written\n", launch.shape().grid[0],
              static_cast<unsigned long long>(launch.bytes_moved()));

  example::expect_equal(session.download<std::uint16_t>(output), x);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "A 128x64 tile of f16 copied in one box.", tile_128x64);
}
