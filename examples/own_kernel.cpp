// Write a kernel of your own against the device headers and let the runtime compile, cache and launch it:
// a matrix transposed through swizzled shared memory. The kernel is kernels/transpose.cu.
#include "kernels/transpose.hpp"
#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

static void own_kernel(example::Session& session) {
  // 1. The kernel: a text, and its file name in errors and profilers. The runtime finds it in memory or on
  // disk, or compiles it, and loads it if there is a device.
  constexpr std::uint32_t shared_bytes = 1024 + sizeof(float) * 2 * 32 * 32;
  const Kernel kernel =
      session.kernel({.text = kernel_text::transpose, .file = "transpose.cu"}, shared_bytes);
  if (session.compile_only()) return;

  // 2. Its tensors. No extent is a multiple of 32; the bytes of a row must be a multiple of 16.
  constexpr std::uint32_t rows = 1004;
  constexpr std::uint32_t columns = 2012;
  std::vector<float> x(std::size_t{rows} * columns);
  std::iota(x.begin(), x.end(), 0.0F);
  const Buffer input = session.upload(x);
  const Buffer output = session.poisoned(input.bytes());
  const Tensor destination = Tensor::contiguous(ElementType::f32, {columns, rows}, output.address());
  const Tensor matrix = Tensor::contiguous(ElementType::f32, {rows, columns}, input.address());

  // 3. The launch: its arguments are checked against the kernel, its tensor maps against the rules.
  const PreparedLaunch launch = kernel.prepare(
      {.tensors = {destination, matrix},
       .arguments = {MapArgument{0, TensorMapSpec::of(destination.view, {32, 32}, Swizzle::b128)},
                     MapArgument{1, TensorMapSpec::of(matrix.view, {32, 32}, Swizzle::b128)}},
       .shape = {.grid = {(columns + 31) / 32, (rows + 31) / 32, 1},
                 .block = {256, 1, 1},
                 .shared_bytes = shared_bytes}});
  launch();  // can be repeated, and used on other memory after rebind()

  std::vector<float> want(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      want[column * rows + row] = x[row * columns + column];
    }
  }
  example::expect_equal(session.download<float>(output), want);
  std::printf("%u x %u transposed\n", rows, columns);
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Your own kernel: a transpose through swizzled shared memory.", own_kernel);
}
