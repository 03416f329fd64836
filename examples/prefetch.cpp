// Kernels before they are asked for: a program makes the kernels of its first request in background threads
// while it loads its data. The request then finds them in memory.
#include "support/example.hpp"

#include <cstdio>
#include <numeric>

using namespace tmajit;

/// Operations that the program will run. Any addresses with the alignment of the later ones may be used.
static std::vector<Operation> operations(DevicePtr to, DevicePtr from) {
  const Tensor y = Tensor::contiguous(ElementType::f32, {96, 64}, to);
  const Tensor x = Tensor::contiguous(ElementType::f32, {64, 96}, from);
  return {operation::permute(y, x, {1, 0}), operation::map({x.view, to}, "2 * x", {x})};
}

static void prefetch_kernels(example::Session& session) {
  const Prefetch kernels = prefetch(
      session.runtime(), operations(1ULL << 40, 1ULL << 41), {.progress = [](const PrefetchProgress& now) {
        std::printf("%zu of %zu: %s%s\n", now.done, now.total, now.kernel.c_str(), now.error.c_str());
      }});
  std::vector<float> x(std::size_t{64} * 96);
  std::iota(x.begin(), x.end(), 0.0F);
  kernels.wait();
  if (kernels.made() != 2) throw example::Mismatch("a kernel was not made");
  if (session.compile_only()) return;

  const Buffer input = session.upload(x);
  const Buffer output = session.poisoned(input.bytes());
  std::vector<float> turned(x.size());
  std::vector<float> doubled(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    turned[i % 96 * 64 + i / 96] = x[i];
    doubled[i] = 2 * x[i];
  }
  const std::vector<Operation> wanted = operations(output.address(), input.address());
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    plan(session.runtime(), wanted[n])();
    example::expect_equal(session.download<float>(output), n == 0 ? turned : doubled);
  }
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Makes the kernels of two operations in the background, then runs them.",
                      prefetch_kernels);
}
