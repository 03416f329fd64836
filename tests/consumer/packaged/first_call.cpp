// The first call of a program that was built against installed packages: without NVRTC, its kernel comes from
// the library's packs. Prints the time from the start of main().
#include <tmajit/sim.hpp>
#include <tmajit/tmajit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

using namespace tmajit;

int main() try {
  const auto start = std::chrono::steady_clock::now();
  const auto device = make_sim_device();
  const Runtime runtime({.device = device});
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {64, 128});
  const Buffer from(device, matrix.span_bytes());
  const Buffer to(device, 2 * matrix.span_bytes());
  std::vector<float> x(matrix.elements());
  std::iota(x.begin(), x.end(), 0.0F);
  device->memory().copy_in(from.address(), std::as_bytes(std::span(x)), nullptr);
  const Tensor source{matrix, from.address()};
  const Plan plan = tmajit::plan(
      runtime,
      operation::concat(Tensor::contiguous(ElementType::f32, {128, 128}, to.address()), {source, source}, 0));
  plan();
  device->streams().synchronize(nullptr);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;

  std::vector<float> y(2 * x.size());
  device->memory().copy_out(std::as_writable_bytes(std::span(y)), to.address(), nullptr);
  device->streams().synchronize(nullptr);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] == x[i % x.size()]) continue;
    std::fprintf(stderr, "y[%zu] is %g\n", i, static_cast<double>(y[i]));
    return EXIT_FAILURE;
  }
  for (const Kernel& kernel : plan.kernels()) {
    std::printf("from the %s, first call after %.1f ms\n", name(kernel.level()).data(), took.count());
    if (kernel.level() != CacheLevel::pack) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return EXIT_FAILURE;
}
