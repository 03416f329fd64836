// Kernels made beforehand: a machine without a GPU plans for the chip of another machine, and stores the
// kernels in a folder. On the machine with the GPU the same calls find them there, and nothing is compiled.
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

static void beforehand(example::Session& session) {
  const std::filesystem::path folder = DiskCache::default_directory() / "beforehand";

  // In CI there is no device. The chip is given by its name and number of SMs, as `jitc doctor` shows them.
  const Chip chip =
      session.compile_only() ? chip_of({.name = "NVIDIA H200", .sm_count = 132}) : session.runtime().chip();
  const Runtime maker({.cache_directory = folder, .chip = chip});
  for (const Operation& operation : operations(1ULL << 40, 1ULL << 41)) (void)plan(maker, operation);
  if (session.compile_only()) return;

  // On the machine with the GPU, with the same folder.
  const Runtime runtime({.device = session.runtime().device(), .cache_directory = folder});
  std::vector<float> x(std::size_t{64} * 96);
  std::iota(x.begin(), x.end(), 0.0F);
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
    const Plan move = plan(runtime, wanted[n]);
    for (const Kernel& kernel : move.kernels()) {
      std::printf("%s: from %s\n", kernel.artifact().entry.c_str(), name(kernel.level()).data());
      if (kernel.level() != CacheLevel::disk) throw example::Mismatch("a kernel was not made beforehand");
    }
    move();
    example::expect_equal(session.download<float>(output), n == 0 ? turned : doubled);
  }
}

int main(int argc, char** argv) {
  return example::run(argc, argv, "Makes kernels without a GPU, and runs them on a GPU without compiling.",
                      beforehand);
}
