// Step 2 of the tutorial (docs/tutorial): a transpose through shared memory, plain and swizzled, and the bank
// conflicts of both. The kernel is swizzle.cu.
#include "tutorial/swizzle.hpp"

#include "support/example.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <array>
#include <cstdio>
#include <numeric>

using namespace tmajit;

namespace {

constexpr std::array box{64U, 64U};

void transpose(example::Session& session, Swizzle swizzle) {
  constexpr std::uint32_t shared_bytes = 1024 + 2 * 64 * 64 * 2;
  const Kernel kernel = session.kernel({.text = kernel_text::swizzle,
                                        .file = "swizzle.cu",
                                        .constants = {{"swizzled", swizzle == Swizzle::b128}}},
                                       shared_bytes);
  const Conflicts read =
      conflicts(BoxLayout(ElementType::f16, box, swizzle), AccessPattern::matrix_transposed, 16);
  std::printf("swizzle %s: ldmatrix reads a tile in %llu wavefronts, without conflicts in %llu\n",
              std::string(name(swizzle)).c_str(), static_cast<unsigned long long>(read.wavefronts),
              static_cast<unsigned long long>(read.ideal));
  if (session.compile_only()) return;

  const std::uint32_t rows = session.option("--size")[0];
  const std::uint32_t columns = session.option("--size")[1];
  std::vector<std::uint16_t> x(std::size_t{rows} * columns);
  std::iota(x.begin(), x.end(), std::uint16_t{0});
  const Buffer in = session.upload(x);
  const Buffer out = session.poisoned(in.bytes());
  const Tensor source = Tensor::contiguous(ElementType::f16, {rows, columns}, in.address());
  const Tensor destination = Tensor::contiguous(ElementType::f16, {columns, rows}, out.address());
  const PreparedLaunch launch =
      kernel.prepare({.tensors = {destination, source},
                      .arguments = {MapArgument{0, TensorMapSpec::of(destination.view, {64, 64}, swizzle)},
                                    MapArgument{1, TensorMapSpec::of(source.view, {64, 64}, swizzle)}},
                      .shape = {.grid = {(columns + 63) / 64, (rows + 63) / 64, 1},
                                .block = {256, 1, 1},
                                .shared_bytes = shared_bytes}});
  launch();

  std::vector<std::uint16_t> want(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column)
      want[column * rows + row] = x[row * columns + column];
  }
  example::expect_equal(session.download<std::uint16_t>(out), want);
  session.time(launch);
}

void swizzle(example::Session& session) {
  transpose(session, Swizzle::none);
  transpose(session, Swizzle::b128);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "A transpose of f16 through shared memory, plain and swizzled.", swizzle,
                      {{"--size", {200, 328}, "rows,columns of the matrix: multiples of 8"}});
}
