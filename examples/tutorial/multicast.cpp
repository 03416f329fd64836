// Step 5 of the tutorial (docs/tutorial): the CTAs of a cluster load a table together. Each CTA loads a part
// and multicasts it to all. The kernel is multicast.cu.
#include "tutorial/multicast.hpp"

#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

static void multicast(example::Session& session) {
  const std::uint32_t cluster = session.option("--cluster")[0];
  constexpr std::uint32_t tile_bytes = 64 * 32 * 4;
  constexpr std::uint32_t shared_bytes = 1024 + 2 * tile_bytes;
  const Kernel kernel = session.kernel(
      {.text = kernel_text::multicast, .file = "multicast.cu", .constants = {{"cluster", cluster}}},
      shared_bytes);
  // A CTA loads its matrix's tile and a part of the table's tile. It receives both tiles whole.
  std::printf("clusters of %u: a CTA loads %u bytes and receives %u\n", cluster,
              tile_bytes + tile_bytes / cluster, 2 * tile_bytes);
  if (session.compile_only()) return;

  const std::vector<std::uint32_t>& size = session.option("--size");
  const std::uint32_t matrices = size[0];
  const std::size_t elements = std::size_t{size[1]} * size[2];
  std::vector<float> x(matrices * elements);
  std::vector<float> table(elements);
  std::iota(x.begin(), x.end(), 0.0F);
  std::iota(table.begin(), table.end(), 0.5F);
  const Buffer in = session.upload(x);
  const Buffer out = session.poisoned(in.bytes());
  const Buffer table_buffer = session.upload(table);
  const TensorView batch = TensorView::contiguous(ElementType::f32, {matrices, size[1], size[2]});
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {size[1], size[2]});
  const TensorMapSpec map = TensorMapSpec::of(batch, {1, 64, 32});
  // The grid has whole clusters. CTAs beyond the batch load zeros and store nothing.
  const PreparedLaunch launch = kernel.prepare(
      {.tensors = {{batch, out.address()}, {batch, in.address()}, {matrix, table_buffer.address()}},
       .arguments = {MapArgument{0, map}, MapArgument{1, map},
                     MapArgument{2, TensorMapSpec::of(matrix, {64 / cluster, 32})}},
       .shape = {
           .grid = {(matrices + cluster - 1) / cluster * cluster, (size[2] + 31) / 32, (size[1] + 63) / 64},
           .block = {256, 1, 1},
           .shared_bytes = shared_bytes,
           .cluster = {cluster, 1, 1}}});
  launch();

  for (std::size_t i = 0; i < x.size(); ++i) x[i] += table[i % elements];
  example::expect_equal(session.download<float>(out), x);
  session.time(launch);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Adds a table to each matrix of a batch; clusters load it together.",
                      multicast,
                      {{"--size", {7, 100, 72}, "matrices,rows,columns; columns are a multiple of 4"},
                       {"--cluster", {4}, "CTAs that share the table's tiles: 1, 2, 4 or 8"}});
}
