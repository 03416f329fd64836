// The first program: transposes a matrix on the first Hopper GPU, or on the simulated device where there is
// none.
#include <tmajit/sim.hpp>
#include <tmajit/tmajit.hpp>

#include <cstdio>
#include <vector>

using namespace tmajit;

static std::shared_ptr<Device> first_device() {
  try {
    return open_gpu(0);
  } catch (const Error&) {
    return make_sim_device({});
  }
}

int main() {
  constexpr std::uint64_t rows = 96;
  constexpr std::uint64_t columns = 1000;
  const auto device = first_device();
  Runtime runtime({.device = device});

  std::vector<float> numbers(rows * columns);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const Buffer input(device, numbers.size() * sizeof(float));
  const Buffer output(device, input.bytes());
  device->memory().copy_in(input.address(), std::as_bytes(std::span(numbers)), nullptr);

  const Tensor x = Tensor::contiguous(ElementType::f32, {rows, columns}, input.address());
  const Tensor y = Tensor::contiguous(ElementType::f32, {columns, rows}, output.address());
  const Plan transpose = plan(runtime, operation::permute(y, x, {1, 0}));
  transpose();

  std::vector<float> result(numbers.size());
  device->memory().copy_out(std::as_writable_bytes(std::span(result)), output.address(), nullptr);
  device->streams().synchronize(nullptr);
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < columns; ++j) {
      if (result[j * rows + i] != numbers[i * columns + j]) return 1;
    }
  }
  std::printf("%s: all %zu elements are right\n", device->info().name.c_str(), result.size());
}
