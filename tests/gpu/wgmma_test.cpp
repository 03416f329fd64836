// wgmma on a real GPU, over boxes that the copy engine brings: every swizzle, both majors, A from shared
// memory and from registers, each element type. All values are small integers, so that every sum is exact.
#include "gpu/support.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstring>
#include <vector>

#include <spdlog/fmt/fmt.h>

using namespace tmajit;

namespace {

constexpr std::uint32_t m = 64;
constexpr std::uint32_t n = 64;
constexpr std::uint32_t k = 128;

/// An operand's type: the header of its products, their function, and the codes of -2, -1, 0, 1 and 2.
struct Type {
  const char* header;
  const char* function;
  const char* word;  ///< of as many bytes
  ElementType element;
  std::array<std::uint32_t, 5> codes;
  const char* result = "float";
};

constexpr Type types[] = {
    {"bf16", "wgmma_bf16", "u16", ElementType::bf16, {0xc000, 0xbf80, 0, 0x3f80, 0x4000}},
    {"f16", "wgmma_f16", "u16", ElementType::f16, {0xc000, 0xbc00, 0, 0x3c00, 0x4000}},
    {"tf32", "wgmma_tf32", "u32", ElementType::f32, {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000}},
    {"fp8", "wgmma_e4m3_e4m3", "u8", ElementType::e4m3, {0xc0, 0xb8, 0, 0x38, 0x40}},
    {"fp8", "wgmma_e5m2_e5m2", "u8", ElementType::e5m2, {0xc0, 0xbc, 0, 0x3c, 0x40}},
    {"int8", "wgmma_s8_s8", "u8", ElementType::i8, {0xfe, 0xff, 0, 1, 2}, "i32"},
};

struct Case {
  const Type& type;
  Swizzle swizzle;
  bool a_from_registers;
  bool a_along_m;
  bool b_along_n;
};

/// The sides of an operand's box, outermost first: whole lines of the swizzle's span, or of 16 bytes.
Dims box(const Case& c, std::uint32_t side, bool along_mn) {
  const std::uint32_t span = c.swizzle == Swizzle::none ? 16 : span_bytes(c.swizzle);
  return {along_mn ? k : side, span / size_of(c.type.element)};
}

std::string kernel(const Case& c) {
  const auto tile = [&](std::uint32_t side, bool along_mn) {
    constexpr const char* swizzles[] = {"none", "b32", "b64", "b128"};
    const Dims sides = box(c, side, along_mn);
    return fmt::format("MatrixTile<{}, MapSwizzle::{}, Major::{}, {}, {}>", c.type.word,
                       swizzles[static_cast<int>(c.swizzle)], along_mn ? "mn" : "k", sides[0], sides[1]);
  };
  std::string majors;
  if (size_of(c.type.element) == 2) {
    majors = "<Sign::kept, Sign::kept";
    if (!c.a_from_registers) majors += c.a_along_m ? ", Major::mn" : ", Major::k";
    majors += c.b_along_n ? ", Major::mn>" : ", Major::k>";
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

extern "C" __global__ void __launch_bounds__(128, 1) k0(Result* out, const u32* a_rows, const __grid_constant__ TensorMap a_map,
                                                      const __grid_constant__ TensorMap b_map) {{
  __shared__ u64 word;
  const u32 a = ptx::shared_address(aligned_shared_memory()), b = a + m * k * sizeof(Word);
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x == 0) {{
    arrived.expect((m + n) * k * sizeof(Word));
    for (u32 i = 0; i < a_boxes; ++i)
      ptx::tensor_load(a + i * TileA::box_bytes, a_map, Coordinates<2>{{static_cast<i32>(i * a_columns), 0}}, arrived.address());
    for (u32 i = 0; i < b_boxes; ++i)
      ptx::tensor_load(b + i * TileB::box_bytes, b_map, Coordinates<2>{{static_cast<i32>(i * b_columns), 0}}, arrived.address());
  }}
  arrived.wait(0u);

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
    const MatrixDescriptor operand = TileA::descriptor(a, step);
#endif
    ptx::wgmma_fence();
    ptx::{13}{14}(d, operand, TileB::descriptor(b, step), step > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }}
  for (u32 i = 0; i < n / 2; ++i)
    out[(16 * warp + lane / 4 + 8 * (i / 2 % 2)) * n + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = d[i];
}}
)",
      c.type.header, c.type.word, c.type.result, tile(m, c.a_along_m), tile(n, c.b_along_n), m, n, k,
      box(c, m, c.a_along_m)[1], box(c, n, c.b_along_n)[1], c.a_along_m ? m : k, c.b_along_n ? n : k,
      c.a_from_registers ? 1 : 0, c.type.function, majors);
}

/// A value from -2 to 2 of each element of a matrix.
int value(std::uint32_t row, std::uint32_t column, std::uint32_t matrix) {
  return static_cast<int>((row * 7 + column * 13 + row * column % 11 + matrix * 3) % 5) - 2;
}

/// The elements of a `side` × k matrix as they lie in memory: along k, or along the side.
std::vector<std::byte> image(const Case& c, std::uint32_t side, bool along_mn, std::uint32_t matrix) {
  const std::uint32_t size = size_of(c.type.element);
  std::vector<std::byte> bytes(std::size_t{side} * k * size);
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < k; ++column) {
      const std::uint32_t code = c.type.codes.at(static_cast<std::size_t>(value(row, column, matrix) + 2));
      const std::size_t at = along_mn ? std::size_t{column} * side + row : std::size_t{row} * k + column;
      std::memcpy(bytes.data() + at * size, &code, size);
    }
  }
  return bytes;
}

/// How many results differ from the product.
std::size_t wrong_results(const std::shared_ptr<Device>& device, const Case& c) {
  const auto loaded = device->kernels().load(compile(custom_source(kernel(c), "k0", "wgmma")));
  const auto uploaded = [&](const std::vector<std::byte>& bytes) {
    Buffer buffer(device, bytes.size());
    device->memory().copy_in(buffer.address(), bytes, nullptr);
    return buffer;
  };
  const Buffer a = uploaded(image(c, m, c.a_along_m, 0));
  const Buffer b = uploaded(image(c, n, c.b_along_n, 1));
  const Buffer out(device, std::size_t{m} * n * 4);
  const auto map = [&](const Buffer& buffer, std::uint32_t side, bool along_mn) {
    const Dims shape = along_mn ? Dims{k, side} : Dims{side, k};
    const TensorView view = TensorView::contiguous(c.type.element, shape);
    return device->maps().encode(TensorMapSpec::of(view, box(c, side, along_mn), c.swizzle),
                                 buffer.address());
  };
  EncodedTensorMap a_map = map(a, m, c.a_along_m);
  EncodedTensorMap b_map = map(b, n, c.b_along_n);
  std::uint64_t out_address = out.address();
  std::uint64_t a_address = a.address();
  const std::array<void*, 4> parameters{&out_address, &a_address, &a_map, &b_map};
  const auto shared_bytes = static_cast<std::uint32_t>(1024 + (m + n) * k * size_of(c.type.element));
  loaded->allow_shared_bytes(shared_bytes);
  loaded->launch({.grid = {1, 1, 1}, .block = {128, 1, 1}, .shared_bytes = shared_bytes}, parameters,
                 nullptr);
  std::vector<std::uint32_t> found(std::size_t{m} * n);
  device->memory().copy_out(std::as_writable_bytes(std::span(found)), out.address(), nullptr);
  device->streams().synchronize(nullptr);

  std::size_t wrong = 0;
  for (std::uint32_t row = 0; row < m; ++row) {
    for (std::uint32_t column = 0; column < n; ++column) {
      int sum = 0;
      for (std::uint32_t i = 0; i < k; ++i) sum += value(row, i, 0) * value(column, i, 1);
      const auto as_float = static_cast<float>(sum);
      std::uint32_t want = static_cast<std::uint32_t>(sum);
      if (std::string_view(c.type.result) == "float") std::memcpy(&want, &as_float, 4);
      wrong += found[row * n + column] == want ? 0U : 1U;
    }
  }
  return wrong;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Type& type : types) {
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      all.push_back({type, swizzle, true, false, false});
      for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
          if ((a || b) && size_of(type.element) != 2) continue;
          all.push_back({type, swizzle, false, a, b});
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("wgmma multiplies boxes of every swizzle, major and type, by the descriptors of their tiles",
          "[gpu]") {
  REQUIRE_HOPPER(device);
  for (const Case& c : cases()) {
    INFO(c.type.function << ", swizzle " << name(c.swizzle)
                         << (c.a_from_registers ? ", A from registers" : "")
                         << (c.a_along_m ? ", A along M" : "") << (c.b_along_n ? ", B along N" : ""));
    CHECK(wrong_results(device, c) == 0);
  }
}
