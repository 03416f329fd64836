/// Compares kernels of examples/ with plain loops.
#include "ptx_alone.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include <catch2/generators/catch_generators.hpp>

namespace examples_test {

using namespace tmajit;

namespace {

Artifact compile_example(const std::string& file, const std::string& entry) {
  std::ifstream in(std::string(TMAJIT_EXAMPLE_FILES) + "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return compile(custom_source(text.str(), entry, file), tests::ptx_alone);
}

EncodedTensorMap map_of(SimDevice& device, const Tensor& tensor, const Dims& box,
                        Swizzle swizzle = Swizzle::none) {
  return device.maps().encode(TensorMapSpec::of(tensor.view, box, swizzle), tensor.address);
}

template <typename T>
Buffer upload(const std::shared_ptr<SimDevice>& device, const std::vector<T>& values) {
  Buffer buffer(device, values.size() * sizeof(T));
  device->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
  return buffer;
}
template <typename T>
std::vector<T> download(const std::shared_ptr<SimDevice>& device, const Buffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  device->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
  return values;
}

SimOptions::Mode any_mode() {
  return GENERATE(SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random);
}

}  // namespace

TEST_CASE("the transpose example equals a plain loop and has no reports") {
  const auto device = make_sim_device({.mode = any_mode()});
  constexpr std::uint64_t rows = 64;
  constexpr std::uint64_t columns = 96;
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Buffer in = upload(device, values);
  const Buffer out(device, in.bytes());
  const auto kernel = device->kernels().load(compile_example("kernels/transpose.cu", "transpose"));
  const Tensor destination = Tensor::contiguous(ElementType::f32, {columns, rows}, out.address());
  const Tensor source = Tensor::contiguous(ElementType::f32, {rows, columns}, in.address());
  auto to = map_of(*device, destination, {32, 32}, Swizzle::b128);
  auto from = map_of(*device, source, {32, 32}, Swizzle::b128);
  void* const parameters[] = {&to, &from};
  kernel->launch(
      {.grid = {columns / 32, rows / 32, 1}, .block = {256, 1, 1}, .shared_bytes = 1024 + 2 * 4096},
      parameters, nullptr);
  device->streams().synchronize(nullptr);
  const std::vector<float> result = download<float>(device, out);
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) wrong += result[c * rows + r] != values[r * columns + c];
  }
  CHECK(wrong == 0);
}

TEST_CASE("the example of a matrix product's tile equals a plain loop and has no reports") {
  const auto device = make_sim_device({.mode = any_mode()});
  constexpr std::size_t m = 128;
  constexpr std::size_t n = 256;
  constexpr std::size_t k = 64;
  // Small integers, exact in bf16 and in every sum.
  const auto bf16 = [](std::size_t i) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(i % 7) - 3.0F) >> 16);
  };
  const auto number = [](std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); };
  std::vector<std::uint16_t> a(m * k);
  std::vector<std::uint16_t> b(k * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(i * 5 + i / 9);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16(i * 3 + i / 11);
  const Buffer a_buffer = upload(device, a);
  const Buffer b_buffer = upload(device, b);
  const Buffer c_buffer(device, m * n * 4);
  const auto kernel = device->kernels().load(compile_example("tutorial/tensor_cores.cu", "tensor_cores"));
  auto a_map = map_of(*device, Tensor::contiguous(ElementType::bf16, {m, k}, a_buffer.address()), {m, k},
                      Swizzle::b128);
  auto b_map = map_of(*device, Tensor::contiguous(ElementType::bf16, {k, n}, b_buffer.address()), {k, 64},
                      Swizzle::b128);
  std::uint64_t c = c_buffer.address();
  void* const parameters[] = {&c, &a_map, &b_map};
  kernel->allow_shared_bytes(1024 + 2 * (m * k + k * n));
  kernel->launch({.grid = {1, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 1024 + 2 * (m * k + k * n)},
                 parameters, nullptr);
  device->streams().synchronize(nullptr);
  const std::vector<float> result = download<float>(device, c_buffer);
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += number(a[row * k + i]) * number(b[i * n + column]);
      wrong += result[row * n + column] != sum;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the moves example equals a plain loop in one to five dimensions and has no reports") {
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<std::uint32_t> box;
  };
  const Case cases[] = {{{1000}, {64}},
                        {{37, 20}, {5, 20}},
                        {{9, 7, 12}, {2, 7, 12}},
                        {{5, 3, 4, 8}, {2, 3, 4, 8}},
                        {{4, 3, 2, 5, 4}, {1, 3, 2, 5, 4}}};
  for (const Case& example : cases) {
    const auto device = make_sim_device();
    const std::size_t rank = example.shape.size();
    std::size_t elements = 1;
    std::uint32_t slab_bytes = 4;
    for (const std::uint64_t extent : example.shape) elements *= extent;
    for (const std::uint32_t extent : example.box) slab_bytes *= extent;
    std::vector<std::uint32_t> values(elements);
    for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761U);
    const Buffer in = upload(device, values);
    const Buffer out(device, in.bytes());
    const auto kernel =
        device->kernels().load(compile_example("kernels/moves.cu", "move_" + std::to_string(rank) + "d"));
    auto to =
        map_of(*device, Tensor::contiguous(ElementType::u32, example.shape, out.address()), example.box);
    auto from =
        map_of(*device, Tensor::contiguous(ElementType::u32, example.shape, in.address()), example.box);
    std::uint32_t extent = example.box[0];
    auto slabs = static_cast<std::uint32_t>((example.shape[0] + extent - 1) / extent);
    void* const parameters[] = {&to, &from, &slabs, &extent, &slab_bytes};
    kernel->launch(
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 1024 + 2 * ((slab_bytes + 127) / 128 * 128)},
        parameters, nullptr);
    CAPTURE(rank);
    device->streams().synchronize(nullptr);
    CHECK(download<std::uint32_t>(device, out) == values);
  }
}

TEST_CASE("the embedding example equals a plain loop and has no reports") {
  const auto device = make_sim_device({.mode = any_mode()});
  const auto matrix = TensorView::contiguous(ElementType::f32, {100, 1024});
  std::vector<float> x(matrix.elements());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 2001) / 100 - 10;
  const Buffer in = upload(device, x);
  const Buffer out(device, in.bytes());
  Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  const KernelPlan plan = plan_tiles({.family = "map",
                                      .destination = {matrix, out.address()},
                                      .sources = {{matrix, in.address()}},
                                      .expression = "x / (1 + expf(-x))"});
  runtime.kernel(plan).launch(plan);
  device->streams().synchronize(nullptr);
  const std::vector<float> y = download<float>(device, out);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = static_cast<double>(x[i]) / (1 + std::exp(-static_cast<double>(x[i])));
    wrong += !(std::abs(static_cast<double>(y[i]) - want) <= 8 * 0x1p-23 * std::abs(want));
  }
  CHECK(wrong == 0);
}

}  // namespace examples_test
