// Step 6 of the tutorial (docs/tutorial): one tile of a matrix product by the tensor cores, A (128×64) times
// B (64×256) in bf16, both loaded with a 128-byte swizzle. The kernel is tensor_cores.cu.
//
// The matrices are smaller than their tiles (120×60 and 60×250) and stored in larger buffers full of NaN.
// TMA's copy engine must fill the rest of each tile with zeros. If it read NaN instead, the product would be
// NaN.
#include "tutorial/tensor_cores.hpp"

#include "support/example.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

using namespace tmajit;

namespace {

constexpr std::size_t tile_m = 128, tile_n = 256, tile_k = 64;
constexpr std::size_t m = 120, n = 250, k = 60;

/// A rows × columns matrix of random bf16 in the corner of a pitch × height buffer of NaN.
struct Matrix {
  Matrix(std::size_t rows, std::size_t columns, std::size_t height, std::size_t row_pitch, std::uint32_t seed)
      : pitch(row_pitch), bits(height * row_pitch, 0x7FFF) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        // The upper half of a float is a bf16; a truncated random number is random, too.
        const auto value = std::bit_cast<std::uint32_t>(uniform(random));
        bits[row * pitch + column] = static_cast<std::uint16_t>(value >> 16);
      }
    }
  }

  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    const std::uint32_t value = bits[row * pitch + column];
    return static_cast<double>(std::bit_cast<float>(value << 16));
  }

  std::size_t pitch;
  std::vector<std::uint16_t> bits;
};

/// Compares every element of the 128×256 tile with a product in f64.
void check(const std::vector<float>& c, const Matrix& a, const Matrix& b) {
  double worst = 0;
  for (std::size_t row = 0; row < tile_m; ++row) {
    for (std::size_t column = 0; column < tile_n; ++column) {
      double want = 0;
      double magnitude = 0;
      if (row < m && column < n) {
        for (std::size_t i = 0; i < k; ++i) {
          const double product = a.at(row, i) * b.at(i, column);
          want += product;
          magnitude += std::abs(product);
        }
      }
      // The product of two bf16 has 16 bits and is exact in f32. Tensor cores add 16 products at a time and
      // truncate the sum. Each truncation loses at most 2^-22 of `magnitude`, the sum of the products'
      // absolute values. Elements beyond the matrices are exactly 0.
      const double tolerance = static_cast<double>(tile_k) / 16 * 0x1p-22 * magnitude;
      const double error = std::abs(static_cast<double>(c[row * tile_n + column]) - want);
      if (!(error <= tolerance)) {
        throw example::Mismatch("C[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
                                std::to_string(c[row * tile_n + column]) + " instead of " +
                                std::to_string(want));
      }
      worst = std::max(worst, error);
    }
  }
  std::printf("largest error against f64: %.2g\n", worst);
}

void tensor_cores(example::Session& session) {
  constexpr std::uint32_t shared_bytes = 1024 + 2 * (tile_m * tile_k + tile_k * tile_n);
  const Kernel kernel =
      session.kernel({.text = kernel_text::tensor_cores, .file = "tensor_cores.cu"}, shared_bytes);
  if (session.compile_only()) return;

  const Matrix a(m, k, tile_m, tile_k, 1);
  const Matrix b(k, n, tile_k, tile_n, 2);
  const Buffer a_buffer = session.upload(a.bits);
  const Buffer b_buffer = session.upload(b.bits);
  const Buffer c_buffer = session.poisoned(tile_m * tile_n * sizeof(float));

  const Tensor a_tensor = Tensor::strided(ElementType::bf16, {m, k}, {tile_k, 1}, a_buffer.address());
  const Tensor b_tensor = Tensor::strided(ElementType::bf16, {k, n}, {tile_n, 1}, b_buffer.address());
  const Tensor c_tensor = Tensor::contiguous(ElementType::f32, {tile_m, tile_n}, c_buffer.address());
  // A row of a swizzled box has at most 128 bytes.
  const PreparedLaunch launch = kernel.prepare(
      {.tensors = {c_tensor, a_tensor, b_tensor},
       .arguments = {AddressArgument{0},
                     MapArgument{1, TensorMapSpec::of(a_tensor.view, {128, 64}, Swizzle::b128)},
                     MapArgument{2, TensorMapSpec::of(b_tensor.view, {64, 64}, Swizzle::b128)}},
       .shape = {.grid = {1, 1, 1}, .block = {256, 1, 1}, .shared_bytes = shared_bytes}});
  launch();
  check(session.download<float>(c_buffer), a, b);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "One tile of a bf16 matrix product by the tensor cores.", tensor_cores);
}
