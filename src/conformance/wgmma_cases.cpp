/// wgmma over boxes that the copy engine loads: every swizzle, operands stored along K and along M or N, A
/// from shared memory and from registers, each element type. All values are small integers, so that sums are
/// exact.
#include "conformance/groups.hpp"
#include "conformance/kernel_text.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::between;
using reference::Random;

namespace {

constexpr std::uint32_t m = 64;
constexpr std::uint32_t n = 64;
constexpr std::uint32_t k = 128;

/// An operand's type, and the bit patterns of -2, -1, 0, 1 and 2.
struct Operand {
  ElementType element;
  const char* word;  ///< unsigned type of as many bytes
  std::array<std::uint32_t, 5> codes;
};

constexpr Operand bf16{ElementType::bf16, "u16", {0xc000, 0xbf80, 0, 0x3f80, 0x4000}};
constexpr Operand f16{ElementType::f16, "u16", {0xc000, 0xbc00, 0, 0x3c00, 0x4000}};
constexpr Operand tf32{ElementType::f32, "u32", {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000}};
constexpr Operand e4m3{ElementType::e4m3, "u8", {0xc0, 0xb8, 0, 0x38, 0x40}};
constexpr Operand e5m2{ElementType::e5m2, "u8", {0xc0, 0xbc, 0, 0x3c, 0x40}};
constexpr Operand s8{ElementType::i8, "u8", {0xfe, 0xff, 0, 1, 2}};
constexpr Operand u8{ElementType::u8, "u8", {3, 4, 0, 1, 2}};  // has no -2 and -1; uses 3 and 4

/// A product that wgmma computes.
struct Product {
  const char* header;    ///< device header "tmajit/wgmma_<header>.cuh"
  const char* function;  ///< function of the header
  Operand a;
  Operand b;
  const char* result = "float";  ///< type of the accumulators
};

constexpr Product products[] = {
    {"bf16", "wgmma_bf16", bf16, bf16},     {"f16", "wgmma_f16", f16, f16},
    {"tf32", "wgmma_tf32", tf32, tf32},     {"fp8", "wgmma_e4m3_e4m3", e4m3, e4m3},
    {"fp8", "wgmma_e4m3_e5m2", e4m3, e5m2}, {"fp8", "wgmma_e5m2_e4m3", e5m2, e4m3},
    {"fp8", "wgmma_e5m2_e5m2", e5m2, e5m2}, {"int8", "wgmma_s8_s8", s8, s8, "i32"},
    {"int8", "wgmma_s8_u8", s8, u8, "i32"}, {"int8", "wgmma_u8_s8", u8, s8, "i32"},
    {"int8", "wgmma_u8_u8", u8, u8, "i32"}, {"int8", "wgmma_s8_s8_saturated", s8, s8, "i32"},
};

/// A product with the layout of its operands in memory.
struct Setup {
  const Product& product;
  Swizzle swizzle;
  bool a_from_registers = false;
  bool a_along_m = false;         ///< whether A is stored along M, not along K
  bool b_along_n = false;         ///< whether B is stored along N, not along K
  std::uint32_t shift = 0;        ///< shift of the tiles from the swizzle's period, in 128 bytes
  std::uint32_t base_offset = 0;  ///< of the descriptors, in 128 bytes; K-major operands only
};

/// The extents of an operand's box, outermost first: rows as long as the swizzle's span, or of 16 bytes
/// without a swizzle.
Dims box(const Setup& setup, const Operand& operand, std::uint32_t side, bool along_mn) {
  const std::uint32_t span = setup.swizzle == Swizzle::none ? 16 : span_bytes(setup.swizzle);
  return {along_mn ? k : side, span / size_of(operand.element)};
}

std::string product_text(const Setup& setup) {
  const auto tile = [&](const Operand& operand, std::uint32_t side, bool along_mn) {
    constexpr const char* swizzles[] = {"none", "b32", "b64", "b128"};
    const Dims sides = box(setup, operand, side, along_mn);
    return fmt::format("MatrixTile<{}, MapSwizzle::{}, Major::{}, {}, {}>", operand.word,
                       swizzles[static_cast<int>(setup.swizzle)], along_mn ? "mn" : "k", sides[0], sides[1]);
  };
  std::string majors;
  if (size_of(setup.product.a.element) == 2) {
    majors = "<Sign::kept, Sign::kept";
    if (!setup.a_from_registers) majors += setup.a_along_m ? ", Major::mn" : ", Major::k";
    majors += setup.b_along_n ? ", Major::mn>" : ", Major::k>";
  }
  return fmt::format(
      R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/matrix_tile.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/wgmma_{0}.cuh"
using namespace tmajit;
using Word = {1};
using Result = {2};
using TileA = {3};
using TileB = {4};
constexpr u32 m = {5}, n = {6}, k = {7};
constexpr u32 a_columns = {8}, b_columns = {9};  // of a box
constexpr u32 a_boxes = {10} / a_columns, b_boxes = {11} / b_columns;
constexpr u32 shift = {15};
constexpr u64 base_offset = static_cast<u64>({16}) << 49;  // of descriptors

extern "C" __global__ void __launch_bounds__(128, 1) multiply(Result* out, const u32* a_rows, const __grid_constant__ TensorMap a_map,
                                                            const __grid_constant__ TensorMap b_map) {{
  __shared__ u64 word;
  const u32 a = ptx::shared_address(aligned_shared_memory()) + shift, b = a + m * k * sizeof(Word);
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x == 0) {{
    arrived.expect((m + n) * k * sizeof(Word));
    for (u32 i = 0; i < a_boxes; ++i)
      ptx::tensor_load(a + i * TileA::box_bytes, a_map, Coordinates<2>{{static_cast<i32>(i * a_columns), 0}}, arrived.address());
    for (u32 i = 0; i < b_boxes; ++i)
      ptx::tensor_load(b + i * TileB::box_bytes, b_map, Coordinates<2>{{static_cast<i32>(i * b_columns), 0}}, arrived.address());
  }}
  const bool completed = completes(arrived.address(), 0);

  constexpr u32 steps = k * sizeof(Word) / 32;
  const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Result d[n / 2] = {{}};
#pragma unroll
  for (u32 step = 0; step < steps; ++step) {{
#if {12}
    u32 operand[4];
    for (u32 i = 0; i < 4; ++i)
      operand[i] = a_rows[(16 * warp + lane / 4 + 8 * (i % 2)) * (8 * steps) + 8 * step + lane % 4 + 4 * (i / 2)];
#else
    const MatrixDescriptor operand{{TileA::descriptor(a, step).bits | base_offset}};
#endif
    ptx::wgmma_fence();
    ptx::{13}{14}(d, operand, MatrixDescriptor{{TileB::descriptor(b, step).bits | base_offset}}, step > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }}
  for (u32 i = 0; i < n / 2; ++i)
    out[(16 * warp + lane / 4 + 8 * (i / 2 % 2)) * n + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = completed ? d[i] : Result(-1);
}}
)",
      setup.product.header, setup.product.a.word, setup.product.result,
      tile(setup.product.a, m, setup.a_along_m), tile(setup.product.b, n, setup.b_along_n), m, n, k,
      box(setup, setup.product.a, m, setup.a_along_m)[1], box(setup, setup.product.b, n, setup.b_along_n)[1],
      setup.a_along_m ? m : k, setup.b_along_n ? n : k, setup.a_from_registers ? 1 : 0,
      setup.product.function, majors, 128 * setup.shift, setup.base_offset);
}

/// A matrix of `side` rows along K. Each element is the index, 0 to 4, of one of the codes.
using Matrix = std::vector<std::uint32_t>;

Matrix random_matrix(Random& random, std::uint32_t side) {
  Matrix matrix(std::size_t{side} * k);
  for (auto& element : matrix) element = static_cast<std::uint32_t>(between(random, 0, 4));
  return matrix;
}

int value_of(const Operand& operand, std::uint32_t code) {
  return operand.element == ElementType::u8 ? static_cast<int>(operand.codes.at(code))
                                            : static_cast<int>(code) - 2;
}

/// Returns the elements in memory order: along k, or along the side.
std::vector<std::byte> image(const Operand& operand, const Matrix& matrix, std::uint32_t side,
                             bool along_mn) {
  const std::uint32_t size = size_of(operand.element);
  std::vector<std::byte> bytes(matrix.size() * size);
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < k; ++column) {
      const std::size_t at = along_mn ? std::size_t{column} * side + row : std::size_t{row} * k + column;
      std::memcpy(bytes.data() + at * size, &operand.codes.at(matrix[std::size_t{row} * k + column]), size);
    }
  }
  return bytes;
}

std::vector<std::byte> product_of(const Setup& setup, const Matrix& a, const Matrix& b) {
  std::vector<std::byte> out(std::size_t{m} * n * 4);
  for (std::uint32_t row = 0; row < m; ++row) {
    for (std::uint32_t column = 0; column < n; ++column) {
      int sum = 0;
      for (std::uint32_t i = 0; i < k; ++i)
        sum += value_of(setup.product.a, a[std::size_t{row} * k + i]) *
               value_of(setup.product.b, b[std::size_t{column} * k + i]);
      const auto as_float = static_cast<float>(sum);
      auto* const to = out.data() + (std::size_t{row} * n + column) * 4;
      if (std::string_view(setup.product.result) == "float") {
        std::memcpy(to, &as_float, 4);
      } else {
        std::memcpy(to, &sum, 4);
      }
    }
  }
  return out;
}

/// The matrix as a descriptor with a base offset reads it (docs/tma.md). The engine writes with a swizzle
/// pattern that begins at the period. The descriptor reads with one that begins at the base offset after it.
Matrix as_read(const Setup& setup, const Operand& operand, const Matrix& matrix) {
  if (setup.base_offset == 0) return matrix;
  const std::uint32_t span = span_bytes(setup.swizzle);
  const std::uint32_t chunks = span / 16;
  const std::uint32_t chunk_elements = 16 / size_of(operand.element);
  Matrix read(matrix.size());
  for (std::uint32_t at = 0; at < matrix.size(); ++at) {
    // The number of the 128-byte line, counted from the beginning of the period.
    const std::uint32_t line = setup.shift + at / k * span / 128;
    // The bits of the chunk's index that differ between the two patterns.
    const std::uint32_t flipped = (line ^ (line - setup.base_offset)) & (chunks - 1);
    read[at] = matrix[at ^ flipped * chunk_elements];
  }
  return read;
}

Trial product_trial(const Setup& setup, Random& random) {
  const Matrix a = random_matrix(random, m);
  const Matrix b = random_matrix(random, n);
  const auto memory = [](std::string_view name, const std::vector<std::byte>& bytes) {
    return Memory{name, ElementType::u32, bytes, bytes};
  };
  const auto map = [&](const Operand& operand, std::uint32_t side, bool along_mn) {
    const TensorView view = TensorView::contiguous(operand.element, along_mn ? Dims{k, side} : Dims{side, k});
    return TensorMapSpec::of(view, box(setup, operand, side, along_mn), setup.swizzle);
  };
  const auto shared_bytes =
      static_cast<std::uint32_t>(2048 + 128 * setup.shift + (m + n) * k * size_of(setup.product.a.element));
  return {
      .what = fmt::format("{}, swizzle {}{}{}{}, tiles {} bytes off, base offset {}", setup.product.function,
                          name(setup.swizzle), setup.a_from_registers ? ", A from registers" : "",
                          setup.a_along_m ? ", A along M" : "", setup.b_along_n ? ", B along N" : "",
                          128 * setup.shift, setup.base_offset),
      .kernel = kernel_of(product_text(setup), "multiply"),
      .memories = {{"product", ElementType::u32, std::vector<std::byte>(std::size_t{m} * n * 4),
                    product_of(setup, as_read(setup, setup.product.a, a),
                               as_read(setup, setup.product.b, b))},
                   memory("A", image(setup.product.a, a, m, setup.a_along_m)),
                   memory("B", image(setup.product.b, b, n, setup.b_along_n))},
      .arguments = {AddressArgument{0}, AddressArgument{1},
                    MapArgument{1, map(setup.product.a, m, setup.a_along_m)},
                    MapArgument{2, map(setup.product.b, n, setup.b_along_n)}},
      .shape = {.block = {128, 1, 1}, .shared_bytes = shared_bytes}};
}

constexpr std::array swizzles{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};

std::vector<Trial> trials_of(const Product& product, Random& random) {
  std::vector<Trial> trials;
  for (const Swizzle swizzle : swizzles) {
    trials.push_back(
        product_trial({.product = product, .swizzle = swizzle, .a_from_registers = true}, random));
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        if ((a || b) && size_of(product.a.element) != 2) continue;
        trials.push_back(
            product_trial({.product = product, .swizzle = swizzle, .a_along_m = a, .b_along_n = b}, random));
      }
    }
  }
  return trials;
}

/// Trials whose tiles begin at each 128-byte line of their swizzle's period except the first, or whose
/// descriptors have the base offset of such a line, or both.
std::vector<Trial> shifted(Random& random, bool tiles, bool descriptors) {
  std::vector<Trial> trials;
  for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    for (std::uint32_t shift = 1; shift < span_bytes(swizzle) / 16; ++shift) {
      trials.push_back(product_trial({.product = products[0],
                                      .swizzle = swizzle,
                                      .shift = tiles ? shift : 0,
                                      .base_offset = descriptors ? shift : 0},
                                     random));
    }
  }
  return trials;
}

}  // namespace

void add_products(std::vector<Case>& cases) {
  const std::vector<std::string> instructions{"wgmma.mma_async", "wgmma.fence", "wgmma.commit_group",
                                              "wgmma.wait_group"};
  for (const Product& product : products) {
    cases.push_back({.name = fmt::format("wgmma.{}", std::string_view(product.function).substr(6)),
                     .instructions = instructions,
                     .what = "every swizzle and major, A from shared memory and from registers",
                     .trials = [&product](Random& random) { return trials_of(product, random); }});
  }
  cases.push_back({.name = "settle: matrix tiles off the swizzle's period",
                   .instructions = instructions,
                   .what = "descriptors of base offset 0 read such tiles as the engine writes them",
                   .trials = [](Random& random) { return shifted(random, true, false); },
                   .reports = {"copy.swizzle-base"}});
  cases.push_back(
      {.name = "settle: base offsets of tiles at the swizzle's period",
       .instructions = instructions,
       .what = "the pattern begins as many lines of 128 bytes after the period as the base offset says",
       .trials = [](Random& random) { return shifted(random, false, true); }});
  cases.push_back({.name = "settle: matrix tiles with a base offset",
                   .instructions = instructions,
                   .what = "with bits 7 to 9 of the address as base offset, the pattern begins with the tile",
                   .trials = [](Random& random) { return shifted(random, true, true); },
                   .reports = {"copy.swizzle-base"}});
}

}  // namespace conformance
