#include "gpu/random_kernels.hpp"
#include "gpu/support.hpp"

#include <tmajit/runtime.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace tmajit;
using gpu::DeviceCopy, gpu::poison;
using reference::Random;

namespace {

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += digits[std::to_integer<unsigned>(bytes[i]) & 15];
  }
  return text;
}

/// Describes how the outputs differ. Empty if all elements agree and the bytes between elements are
/// unchanged.
std::string difference(const reference::Tensor& expected, reference::Tensor actual) {
  std::vector<std::uint64_t> index;
  const std::size_t size = size_of(expected.view.type);
  if (first_difference(expected, actual, index)) {
    std::string at;
    for (const std::uint64_t i : index) at += (at.empty() ? "" : ", ") + std::to_string(i);
    return "element [" + at + "] is " + hex(actual.at(index), size) + ", expected " +
           hex(expected.at(index), size);
  }
  // NaNs of floats may differ in their bits. Other types are compared byte by byte, including the gaps.
  if (is_float(expected.view.type)) return {};
  const auto [a, b] = std::ranges::mismatch(expected.bytes, actual.bytes);
  if (a == expected.bytes.end()) return {};
  return "byte " + std::to_string(a - expected.bytes.begin()) + ", between elements, was written";
}

}  // namespace

TEST_CASE("every tile family gives the reference's results for random views and expressions", "[gpu]") {
  REQUIRE_HOPPER(device);
  const FamilyInfo family = GENERATE(from_range(gpu::tile_families()));
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 150);
  Random random(gpu::seed_of(family, gpu::seed()));
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  std::uint64_t redrawn = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const gpu::RandomKernel kernel = gpu::random_kernel(random, family);
    redrawn += kernel.redrawn;
    INFO("case " << n << ": " << describe(kernel));
    std::vector<reference::Tensor> inputs;
    for (const TensorView& view : kernel.inputs) inputs.push_back(gpu::random_tensor(random, view));
    const gpu::Offsets offsets = gpu::random_offsets(random, kernel);
    const std::string wrong =
        difference(expected_output(kernel, inputs, poison), gpu::run(runtime, kernel, inputs, offsets));
    INFO("offsets " << offsets.inputs << ", " << offsets.output);
    INFO(wrong);
    CHECK(wrong.empty());
  }
  std::cout << family.name << ": " << cases << " random cases, " << redrawn << " illegal draws" << std::endl;
}

TEST_CASE("maps whose rows are no multiple of 16 bytes store every tile at its position", "[gpu]") {
  REQUIRE_HOPPER(device);
  // ptxas 13.0 left a coordinate of the store uninitialised if two uniform conditions were nested.
  Random random(gpu::seed());
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  constexpr std::array<std::uint64_t, 3> shape{1, 39, 282};
  const auto view = TensorView::strided(ElementType::i32, shape, std::array<std::int64_t, 3>{11092, 284, 1});
  for (const std::uint32_t tiles_per_cta : {0U, 1U, 2U, 4U}) {
    for (const std::string expression : {"x + (int)g[1]", "x + (int)(g[0] + g[2])", "x + 1"}) {
      INFO(tiles_per_cta << " tiles a CTA, " << expression);
      const reference::Tensor input = gpu::random_tensor(random, view);
      const DeviceCopy from(device, input.bytes, 0);
      const DeviceCopy to(device, std::vector<std::byte>(input.bytes.size(), poison), 0);
      const KernelPlan plan =
          plan_tiles({.family = "map",
                      .destination = {view, to.address},
                      .sources = {{view, from.address}},
                      .expression = expression,
                      .tiles = {.box = {4, 5, 160}, .stages = 2, .tiles_per_cta = tiles_per_cta},
                      .chip = runtime.chip()});
      runtime.kernel(plan).launch(plan);
      reference::Tensor output(view);
      device->streams().synchronize(nullptr);
      device->memory().copy_out(output.bytes, to.address, nullptr);
      device->streams().synchronize(nullptr);
      std::uint64_t wrong = 0;
      for (std::uint64_t r = 0; r < shape[1]; ++r) {
        for (std::uint64_t c = 0; c < shape[2]; ++c) {
          const std::vector<std::uint64_t> at{0, r, c};
          std::uint32_t before = 0;
          std::uint32_t after = 0;
          std::memcpy(&before, input.at(at), 4);
          std::memcpy(&after, output.at(at), 4);
          const std::uint64_t more = expression == "x + 1" ? 1 : expression == "x + (int)g[1]" ? r : c;
          wrong += after == before + static_cast<std::uint32_t>(more) ? 0 : 1;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("bulk works in place", "[gpu]") {
  REQUIRE_HOPPER(device);
  Random random(gpu::seed());
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  for (const std::uint64_t count : {1ULL, 3ULL, 16ULL, 1024ULL, 100'003ULL, 5'000'001ULL}) {
    for (const std::uint64_t offset : {0ULL, 4ULL, 12ULL}) {
      INFO(count << " elements from byte " << offset);
      const auto view = TensorView::contiguous(ElementType::i32, std::array{count});
      const reference::Tensor input = gpu::random_tensor(random, view);
      const DeviceCopy copy(device, input.bytes, offset);
      const KernelPlan plan = plan_tiles({.family = "bulk",
                                          .destination = {view, copy.address},
                                          .sources = {{view, copy.address}},
                                          .expression = "(int)((unsigned)x + 1)"});
      runtime.kernel(plan).launch(plan);
      reference::Tensor output(view);
      device->streams().synchronize(nullptr);
      device->memory().copy_out(output.bytes, copy.address, nullptr);
      device->streams().synchronize(nullptr);
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint32_t before = 0;
        std::uint32_t after = 0;
        std::memcpy(&before, input.bytes.data() + 4 * i, 4);
        std::memcpy(&after, output.bytes.data() + 4 * i, 4);
        wrong += after != before + 1;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("tensors of more than 2^32 elements give right results", "[gpu][large]") {
  REQUIRE_HOPPER(device);
  // 4.4 · 10^9 bytes in rows that the box does not divide. The contents of row r depend on r.
  constexpr std::uint64_t rows = 1'100'003;
  constexpr std::uint64_t columns = 4000;
  static_assert(rows * columns > 1ULL << 32);
  const auto view = TensorView::contiguous(ElementType::u8, std::array{rows, columns});
  const Buffer source(device, rows * columns);
  const Buffer middle(device, rows * columns);
  const Buffer result(device, rows * columns);
  device->memory().fill(source.address(), std::byte{1}, rows * columns, nullptr);
  device->memory().fill(middle.address(), poison, rows * columns, nullptr);
  device->memory().fill(result.address(), poison, rows * columns, nullptr);

  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const tmajit::Tensor in{view, source.address()};
  const tmajit::Tensor between{view, middle.address()};
  const tmajit::Tensor out{view, result.address()};
  const auto launch = [&](const TileRequest& request) {
    const KernelPlan plan = plan_tiles(request);
    runtime.kernel(plan).launch(plan);
  };
  launch({.family = "map", .destination = between, .sources = {in}, .expression = "x + g[0] * 7 + g[1]"});
  launch({.family = "copy", .destination = out, .sources = {between}});

  std::vector<std::byte> window(columns * 50'000);
  std::uint64_t wrong = 0;
  for (std::uint64_t row = 0; row < rows; row += 50'000) {
    const std::uint64_t count = std::min<std::uint64_t>(50'000, rows - row);
    device->memory().copy_out(std::span(window).first(count * columns), result.address() + row * columns,
                              nullptr);
    device->streams().synchronize(nullptr);
    for (std::uint64_t r = 0; r < count; ++r) {
      for (std::uint64_t c = 0; c < columns; ++c) {
        wrong += window[r * columns + c] != static_cast<std::byte>(1 + (row + r) * 7 + c);
      }
    }
  }
  CHECK(wrong == 0);

  SECTION("bulk, whose index is 64 bits") {
    const auto line = TensorView::contiguous(ElementType::u8, std::array{rows * columns});
    launch({.family = "bulk",
            .destination = {line, result.address()},
            .sources = {{line, source.address()}},
            .expression = "x + (g[0] >> 20)"});
    constexpr std::uint64_t tail = 100'000'000;
    std::vector<std::byte> end(tail);
    device->memory().copy_out(end, result.address() + rows * columns - tail, nullptr);
    device->streams().synchronize(nullptr);
    for (std::uint64_t i = 0; i < tail; ++i) {
      wrong += end[i] != static_cast<std::byte>(1 + ((rows * columns - tail + i) >> 20));
    }
    CHECK(wrong == 0);
  }
}
