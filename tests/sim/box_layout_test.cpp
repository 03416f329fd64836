#include "gpu/random_kernels.hpp"
#include "ptx_alone.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>

#include <catch2/catch_test_macros.hpp>

namespace box_layout_test {

using namespace tmajit;

namespace {

constexpr std::byte untouched{0xcd};

/// Counts the bytes of the first tile in shared memory, `image`, that differ from the tensor's elements which
/// `layout` places there. Elements outside the tensor are zeros.
std::uint32_t differences(const BoxLayout& layout, const TensorMapSpec& map, std::span<const std::byte> image,
                          std::span<const std::byte> tensor) {
  std::uint32_t wrong = 0;
  for (std::uint32_t offset = 0; offset < layout.bytes(); ++offset) {
    const auto element = layout.element(offset);
    if (!element) {
      wrong += image[offset] == untouched ? 0 : 1;
      continue;
    }
    const auto index = layout.index(*element);
    std::uint64_t from = offset - layout.offset_of(*element);
    bool inside = true;
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      const auto at = index[d] * map.element_strides[d];
      inside = inside && at < map.shape[d];
      from += at * map.strides[d];
    }
    wrong += image[offset] == (inside ? tensor[from] : std::byte{0}) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("in a snapshot of shared memory every element is at its offset by BoxLayout") {
  const auto seed = reference::seed(20261125);
  std::cout << "box layout: TMAJIT_SEED=" << seed << std::endl;
  reference::Random random(seed);
  for (int n = 0; n < 25; ++n) {
    auto kernel = gpu::random_kernel(random, find_family("snapshot"));
    kernel.options.oob_fill = OobFill::zero;
    const auto& view = kernel.inputs[0];
    if (view.type == ElementType::tf32 || view.type == ElementType::tf32_ftz)
      continue;  // loads round these elements
    INFO("seed " << seed << ", case " << n << ": " << describe(kernel));
    const auto tensor = gpu::random_tensor(random, view);
    const auto device = make_sim_device();
    Runtime runtime(
        {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
    const Buffer source(device, tensor.bytes.size());
    const Buffer images(device, kernel.output.span_bytes());
    device->memory().copy_in(source.address(), tensor.bytes, nullptr);
    const KernelPlan plan = plan_tiles(kernel.request({images.address(), {source.address()}}));
    runtime.kernel(plan).launch(plan);
    std::vector<std::byte> bytes(kernel.output.span_bytes());
    device->memory().copy_out(bytes, images.address(), nullptr);
    device->streams().synchronize(nullptr);

    const std::vector<Parameter> parameters = plan.parameters();
    const auto of_source = std::ranges::find(parameters, 1, &Parameter::map_of);
    REQUIRE(of_source != parameters.end());
    const TensorMapSpec& map = of_source->map.value();
    const BoxLayout layout(map);
    REQUIRE(layout.bytes() == kernel.output.shape[1]);
    CHECK(differences(layout, map, bytes, tensor.bytes) == 0);
  }
}

}  // namespace box_layout_test
