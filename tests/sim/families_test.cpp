#include "reference/families.hpp"

#include "gpu/random_kernels.hpp"

#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace tmajit;
using reference::Random;
using reference::Tensor;

namespace {

constexpr std::byte poison{0xee};

struct DeviceCopy {
  Buffer buffer;
  DevicePtr address;

  DeviceCopy(const std::shared_ptr<Device>& device, std::span<const std::byte> bytes, std::uint64_t offset)
      : buffer(device, bytes.size() + offset), address(buffer.address() + offset) {
    device->copy_in(address, bytes, nullptr);
  }
};

Tensor run(Runtime& runtime, const gpu::RandomKernel& kernel, const std::vector<Tensor>& inputs,
           std::uint64_t input_offset, std::uint64_t output_offset) {
  Device& device = *runtime.device();
  std::vector<DeviceCopy> copies;
  std::vector<Operand> operands;
  for (const Tensor& input : inputs) {
    copies.emplace_back(runtime.device(), input.bytes, input_offset);
    operands.push_back({input.view, copies.back().address, kernel.l2_promotion, kernel.oob_fill});
  }
  Tensor output(kernel.output, poison);
  const DeviceCopy target(runtime.device(), output.bytes, output_offset);
  runtime.kernel(kernel.spec).launch(operands, {kernel.output, target.address});
  device.synchronize(nullptr);
  device.copy_out(output.bytes, target.address, nullptr);
  return output;
}

Tensor expect(Family family, const gpu::RandomKernel& kernel, const std::vector<Tensor>& inputs) {
  if (family == Family::snapshot)
    return reference::snapshot(kernel.spec, inputs[0], std::byte{0xcd}, kernel.oob_fill);
  Tensor output(kernel.output, poison);
  switch (family) {
    case Family::copy: reference::copy(kernel.spec, inputs[0], output); break;
    case Family::map: reference::map(kernel.spec, inputs, output, kernel.function); break;
    default: reference::bulk(kernel.spec, inputs[0], output, kernel.function);
  }
  return output;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

}  // namespace

TEST_CASE("every family equals the reference, and no correct kernel is reported") {
  const Family family = GENERATE(Family::copy, Family::map, Family::bulk, Family::snapshot);
  const std::uint64_t cases = from_environment("TMAJIT_CASES", 40);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << name(family) << ": TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Random random(seed + static_cast<std::uint64_t>(family));
  for (std::uint64_t n = 0; n < cases; ++n) {
    const gpu::RandomKernel kernel = gpu::random_kernel(random, family);
    SimOptions options;
    constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::late,
                                          SimOptions::Mode::random, SimOptions::Mode::early};
    options.mode = modes[n % 4];
    options.seed = seed + n;
    options.threads = 1 + n % 2;
    Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
    INFO("seed " << seed << ", case " << n << ": " << describe(kernel));
    std::vector<Tensor> inputs;
    for (const TensorView& view : kernel.inputs) inputs.push_back(gpu::random_tensor(random, view));
    std::uint64_t input_offset = 0;
    std::uint64_t output_offset = 0;
    if (family == Family::bulk) {
      input_offset = size_of(kernel.inputs[0].type) * reference::between(random, 0, 16);
      output_offset = size_of(kernel.output.type) * reference::between(random, 0, 16);
      if (reference::one_in(random, 2)) input_offset = output_offset = 8 * reference::between(random, 0, 3);
    }
    const Tensor expected = expect(family, kernel, inputs);
    const Tensor actual = run(runtime, kernel, inputs, input_offset, output_offset);
    std::vector<std::uint64_t> index;
    const bool differs = first_difference(expected, actual, index);
    INFO("first difference at " << (index.empty() ? 0 : index[0]) << ", "
                                << (index.size() < 2 ? 0 : index[1]));
    CHECK_FALSE(differs);
    // NaNs may differ in their bits; everything else is compared byte by byte, the gaps too.
    if (!is_float(expected.view.type)) CHECK(std::ranges::equal(expected.bytes, actual.bytes));
  }
}
