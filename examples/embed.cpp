// Embed tmajit in twenty lines: y = x / (1 + exp(-x)) over a matrix, compiled when it is first asked for.
//
// With --compile-only there is no device: everything up to the cubin needs neither GPU nor driver.
#include <tmajit/tmajit.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tmajit;

static int embed(const std::shared_ptr<Device>& gpu) {
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {1000, 1024});
  Runtime runtime({.device = gpu});
  TileRequest request{
      .family = "map", .destination = matrix, .sources = {matrix}, .expression = "x / (1 + expf(-x))"};
  const Kernel silu = runtime.kernel(plan_tiles(request));
  std::printf("%u registers, from %s\n", silu.resources().registers, name(silu.level()).data());
  if (!gpu) return EXIT_SUCCESS;

  std::vector<float> x(matrix.elements());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 2001) / 100 - 10;
  const Buffer input(gpu, matrix.span_bytes());
  const Buffer output(gpu, matrix.span_bytes());
  gpu->memory().copy_in(input.address(), std::as_bytes(std::span(x)), nullptr);
  request.sources[0].address = input.address();
  request.destination.address = output.address();
  silu.launch(plan_tiles(request));
  std::vector<float> y(x.size());
  gpu->memory().copy_out(std::as_writable_bytes(std::span(y)), output.address(), nullptr);
  gpu->streams().synchronize(nullptr);

  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = static_cast<double>(x[i]) / (1 + std::exp(-static_cast<double>(x[i])));
    // Four operations in f32, each within 2 units in the last place (CUDA's expf included).
    if (!(std::abs(static_cast<double>(y[i]) - want) <= 8 * 0x1p-23 * std::abs(want))) {
      std::fprintf(stderr, "y[%zu] is %g instead of %g\n", i, static_cast<double>(y[i]), want);
      return EXIT_FAILURE;
    }
  }
  std::printf("%s: %zu elements are right\n", gpu->info().name.c_str(), y.size());
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  const std::string option = argc > 1 ? argv[1] : "";
  const std::string device = option == "--device" && argc > 2 ? argv[2] : "auto";
  try {
    if (option == "--compile-only") return embed(nullptr);
    return embed(open_gpu(device.starts_with("gpu:") ? std::atoi(device.c_str() + 4) : 0));
  } catch (const Error& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return error.code() == ErrorCode::unavailable ? 77 : EXIT_FAILURE;
  }
}
