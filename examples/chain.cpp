// A chain of launches, each of which needs the result of the previous one, with and without programmatic
// dependent launch, by which a launch begins while the previous one still runs. The kernel, a step of the
// heat equation, is kernels/heat.cu.
#include "kernels/heat.hpp"
#include "support/example.hpp"

#include <array>
#include <cstdio>
#include <utility>

using namespace tmajit;

namespace {

constexpr std::uint32_t steps = 8;  // even: the last step writes the buffer that the first one reads

std::vector<float> expected(std::vector<float> rod, const std::vector<float>& conductivity) {
  std::vector<float> next = rod;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::size_t i = 1; i + 1 < rod.size(); ++i) {
      next[i] = rod[i] + conductivity[i] * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
    }
    std::swap(rod, next);
  }
  return rod;
}

void chain(example::Session& session) {
  const Kernel kernel = session.kernel({.text = kernel_text::heat, .file = "heat.cu"}, 0);
  if (session.compile_only()) return;

  const std::uint32_t length = session.option("--length")[0];
  std::vector<float> rod(length);
  std::vector<float> conductivity(length);
  // Small numbers with few bits, so that all sums of the eight steps are exact.
  for (std::uint32_t i = 0; i < length; ++i) {
    rod[i] = static_cast<float>(i % 16);
    conductivity[i] = i % 3 == 0 ? 0.5F : 0.25F;
  }
  const std::vector<float> want = expected(rod, conductivity);
  const Buffer weights = session.upload(conductivity);

  for (const bool overlaps : {false, true}) {
    const Buffer even = session.upload(rod);
    const Buffer odd = session.poisoned(even.bytes());
    const auto tensor = [&](const Buffer& buffer) {
      return Tensor::contiguous(ElementType::f32, {length}, buffer.address());
    };
    const auto step = [&](const Buffer& next, const Buffer& now) {
      return kernel.prepare(
          {.tensors = {tensor(next), tensor(now), tensor(weights)},
           .arguments = {AddressArgument{0}, AddressArgument{1}, AddressArgument{2},
                         ValueArgument::of(length)},
           .shape = {.grid = {(length + 511) / 512, 1, 1}, .block = {128, 1, 1}, .overlaps = overlaps}});
    };
    const std::array<PreparedLaunch, 2> launches{step(odd, even), step(even, odd)};
    const auto run = [&](Stream stream) {
      for (std::uint32_t i = 0; i < steps; ++i) launches[i % 2](stream);
    };
    run(nullptr);
    example::expect_equal(session.download<float>(even), want);
    std::printf("%u steps of %u elements, %s\n", steps, length,
                overlaps ? "each begins before the previous one has ended" : "one after the other");
    session.time(run, steps, "steps/s");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "A chain of launches that overlap: programmatic dependent launch.", chain,
                      {{"--length", {100'003}, "LENGTH: elements of the rod (100003)"}});
}
