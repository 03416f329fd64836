// Step 7, the last of the tutorial (docs/tutorial): C = A · Bᵀ of bf16 by tensor cores, overlapped with loads
// and stores. The kernel is matrix_product.cu.
//
// Without options the program checks the kernel bit for bit, with small integers, whose sums are exact. With
// --repeat it times the product of --size and prints TFLOP/s.
#include "tutorial/matrix_product.hpp"

#include "support/example.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

using namespace tmajit;

namespace {

constexpr std::uint32_t tile_m = 128, tile_k = 64;  // as in the kernel
constexpr std::uint32_t threads = 384;

std::uint16_t bf16(float value) {  // round to nearest, ties to even
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
double from_bf16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

/// The kernel's constants, which also determine its launch.
struct Shape {
  std::uint32_t tile_n, stages, cluster, band;
  std::uint32_t clusters;  ///< limit for the number of clusters; 0: as many as the device holds

  [[nodiscard]] std::uint32_t shared_bytes() const {
    const std::uint32_t stage = (tile_m + tile_n) * tile_k * 2;
    return 1024 + stages * stage + 2 * 2 * 64 * 64 * 2;
  }
  [[nodiscard]] OwnKernel kernel() const {
    return {.text = kernel_text::matrix_product,
            .file = "matrix_product.cu",
            .constants = {{"tile_n", tile_n}, {"stages", stages}, {"cluster", cluster}, {"band", band}}};
  }
};

/// A row-major matrix of bf16.
struct Matrix {
  std::uint32_t rows, columns;
  std::vector<std::uint16_t> bits;

  /// Draws random elements: integers from −2 to 2, or real numbers from −1 to 1.
  Matrix(std::uint32_t m, std::uint32_t n, bool integers, std::uint32_t seed)
      : rows(m), columns(n), bits(std::size_t{m} * n) {
    std::minstd_rand random(seed);
    std::uniform_int_distribution<int> integer(-2, 2);
    std::uniform_real_distribution<float> real(-1.0F, 1.0F);
    for (std::uint16_t& bit : bits) {
      bit = bf16(integers ? static_cast<float>(integer(random)) : real(random));
    }
  }
  [[nodiscard]] TensorView view() const { return TensorView::contiguous(ElementType::bf16, {rows, columns}); }
};

/// Compares one element of C with the product in f64. Sums of small integers are exact, so C must be the
/// rounded sum. For real numbers the tensor cores truncate the sum of every 16 products. Each truncation
/// loses at most 2^-22 of `magnitude`, the sum of the products' absolute values.
void check(const Matrix& a, const Matrix& b, const std::vector<std::uint16_t>& c, std::uint32_t row,
           std::uint32_t column, bool integers) {
  double want = 0;
  double magnitude = 0;
  for (std::uint32_t i = 0; i < a.columns; ++i) {
    const double product = from_bf16(a.bits[std::size_t{row} * a.columns + i]) *
                           from_bf16(b.bits[std::size_t{column} * a.columns + i]);
    want += product;
    magnitude += std::abs(product);
  }
  const std::uint16_t got = c[std::size_t{row} * b.rows + column];
  const double tolerance = 0x1p-8 * std::abs(want) + a.columns * 0x1p-22 / 16 * magnitude;
  const bool right =
      integers ? got == bf16(static_cast<float>(want)) : std::abs(from_bf16(got) - want) <= tolerance;
  if (!right) {
    throw example::Mismatch("C[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
                            std::to_string(from_bf16(got)) + " instead of " + std::to_string(want));
  }
}

/// Computes, checks and times C for one size: m × n sums of k products.
void product(example::Session& session, const Kernel& kernel, const Shape& shape, std::uint32_t m,
             std::uint32_t n, std::uint32_t k) {
  const bool integers = session.repeats() == 0;
  const Matrix a(m, k, integers, 1);
  const Matrix b(n, k, integers, 2);
  const Buffer a_buffer = session.upload(a.bits);
  const Buffer b_buffer = session.upload(b.bits);
  const Buffer c_buffer = session.poisoned(std::uint64_t{m} * n * 2);
  // As many clusters as the device holds at a time, but no more than the tiles need.
  const auto tiles = [](std::uint32_t extent, std::uint32_t tile) { return (extent + tile - 1) / tile; };
  const std::uint32_t clusters =
      std::min(shape.clusters > 0 ? shape.clusters : session.device().info().sm_count / shape.cluster,
               tiles(m, tile_m * shape.cluster) * tiles(n, shape.tile_n));
  const TensorView c_view = TensorView::contiguous(ElementType::bf16, {m, n});
  const auto map = [](std::uint32_t tensor, const TensorView& view, std::uint32_t rows) {
    return MapArgument{tensor, TensorMapSpec::of(view, {rows, 64}, Swizzle::b128)};
  };
  const PreparedLaunch launch =
      kernel.prepare({.tensors = {{c_view, c_buffer.address()},
                                  {a.view(), a_buffer.address()},
                                  {b.view(), b_buffer.address()}},
                      .arguments = {map(0, c_view, 64), map(1, a.view(), tile_m),
                                    map(2, b.view(), shape.tile_n / shape.cluster), ValueArgument::of(m),
                                    ValueArgument::of(n), ValueArgument::of(k)},
                      .shape = {.grid = {clusters * shape.cluster, 1, 1},
                                .block = {threads, 1, 1},
                                .shared_bytes = shape.shared_bytes(),
                                .cluster = {shape.cluster, 1, 1}}});
  launch();

  const std::vector<std::uint16_t> c = session.download<std::uint16_t>(c_buffer);
  std::minstd_rand random(3);
  for (std::uint32_t row = 0; row < m; ++row) {
    if (integers) {
      for (std::uint32_t column = 0; column < n; ++column) check(a, b, c, row, column, integers);
    } else {
      check(a, b, c, row, static_cast<std::uint32_t>(random() % n), integers);
    }
  }
  std::printf("%u x %u x %u: right, by %u CTAs\n", m, n, k, launch.shape().grid[0]);
  session.time(launch, 2e-12 * m * n * k, "TFLOP/s");
}

void matrix_product(example::Session& session) {
  const auto number = [&](std::string_view name) { return session.option(name)[0]; };
  const Shape shape{number("--tile"), number("--stages"), number("--cluster"), number("--band"),
                    number("--clusters")};
  const Kernel kernel = session.kernel(shape.kernel(), shape.shared_bytes());
  if (session.compile_only()) return;
  const std::vector<std::uint32_t>& size = session.option("--size");
  if (size[0] == 0 || size[1] == 0 || size[2] == 0) {
    throw std::invalid_argument("--size: a product of matrices needs m, n and k of at least 1");
  }
  product(session, kernel, shape, size[0], size[1], size[2]);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(
      argc, argv, "C = A B^T of bf16, m x n x k: persistent, warp-specialised, with multicast and wgmma.",
      matrix_product,
      {{"--size", {600, 1000, 328}, "m,n,k; n and k are multiples of 8"},
       {"--tile", {256}, "columns of a tile of C: 64, 128, 192 or 256"},
       {"--stages", {4}, "stages of shared memory: as many as fit"},
       {"--cluster", {2}, "CTAs that share a tile of B: 1, 2 or 4"},
       {"--clusters", {0}, "clusters at a time; 0: as many as the device holds"},
       {"--band", {8}, "rows of cluster tiles in a band, which is processed column by column"}});
}
