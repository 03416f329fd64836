#include "gpu/random_kernels.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>

#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;

namespace gpu {
namespace {

struct Expression {
  std::string text;
  reference::Function function;
};

Expression random_expression(Random& random, std::uint32_t inputs, std::uint32_t rank) {
  using Values = std::span<const reference::Scalar>;
  if (inputs > 1) {
    std::string text = "x0";
    for (std::uint32_t i = 1; i < inputs; ++i) text += fmt::format(" + x{}", i);
    return {text, [](Values x, const reference::Element&) {
              reference::Scalar sum = x[0];
              for (std::size_t i = 1; i < x.size(); ++i) sum = reference::add(sum, x[i]);
              return sum;
            }};
  }
  const auto d = static_cast<std::uint32_t>(between(random, 0, rank - 1));
  const std::string at = fmt::format("[{}]", d);
  switch (between(random, 0, 4)) {
    case 0: return {"x", [](Values x, const reference::Element&) { return x[0]; }};
    case 1:
      return {"x0 + 1",
              [](Values x, const reference::Element&) { return reference::add(x[0], std::int32_t{1}); }};
    case 2:
      return {"x + tile_index",
              [](Values x, const reference::Element& e) { return reference::add(x[0], e.tile_index); }};
    case 3:
      return {"x + t" + at,
              [d](Values x, const reference::Element& e) { return reference::add(x[0], e.t[d]); }};
    default:
      return {"x + (unsigned)g" + at, [d](Values x, const reference::Element& e) {
                return reference::add(x[0], static_cast<std::uint32_t>(e.g[d]));
              }};
  }
}

constexpr std::uint64_t max_elements = 60'000;

/// A view in row-major order, or with the outer dimensions in another order. Rows are padded to 16 bytes,
/// sometimes further.
TensorView random_view(Random& random, ElementType type, std::span<const std::uint64_t> shape) {
  const std::size_t rank = shape.size();
  const std::uint64_t size = size_of(type);
  std::vector<std::int64_t> strides(rank, 1);
  std::vector<std::size_t> order(rank - 1);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::reverse(order);
  if (one_in(random, 3)) std::ranges::shuffle(order, random);
  std::uint64_t bytes = shape[rank - 1] * size;
  for (const std::size_t d : order) {
    bytes = (bytes + 15) / 16 * 16 + (one_in(random, 3) ? 16 * between(random, 1, 4) : 0);
    strides[d] = static_cast<std::int64_t>(bytes / size);
    bytes *= shape[d];
  }
  return TensorView::strided(type, shape, strides);
}

RandomKernel draw_tiled(Random& random, const FamilyInfo& family) {
  RandomKernel kernel{.family = family};
  const auto rank = static_cast<std::uint32_t>(between(random, 1, max_map_rank));
  const auto inputs = family.max_inputs > 1 && one_in(random, 3)
                          ? static_cast<std::uint32_t>(between(random, 2, family.max_inputs))
                          : 1U;
  const bool converts = family.computes && one_in(random, 2);
  if (family.does("reduce_into")) kernel.combine = one_of(random, all_combine_ops);
  ElementType type = one_of(random, all_element_types);
  while (family.does("reduce_into") && !combined_as(kernel.combine, type))
    type = one_of(random, all_element_types);

  TileOptions& options = kernel.options;
  options.swizzle = one_of(random, std::array{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128});
  kernel.element_strides.assign(rank, 1);
  std::vector<std::uint32_t>& element_strides = kernel.element_strides;
  if (one_in(random, 4)) {
    for (std::uint32_t d = 0; d + 1 < rank; ++d)
      element_strides[d] = static_cast<std::uint32_t>(between(random, 1, 8));
  }

  std::vector<std::uint64_t> shape(rank);
  std::vector<std::uint64_t> source_shape(rank);
  std::vector<std::uint32_t> box(rank);
  std::uint64_t budget = max_elements;
  for (std::uint32_t d = rank; d-- > 0;) {
    const bool inner = d + 1 == rank;
    shape[d] = between(random, 1,
                       std::clamp<std::uint64_t>(budget, 1, inner ? 400 : (one_in(random, 4) ? 200 : 12)));
    budget /= shape[d];
    // The source may or may not have the elements after the last one that the element stride reads.
    source_shape[d] = (shape[d] - 1) * element_strides[d] + between(random, 1, element_strides[d]);
    const std::uint64_t most = inner ? 256 : std::min<std::uint64_t>(256 / element_strides[d], shape[d] + 3);
    box[d] =
        static_cast<std::uint32_t>(between(random, 1, std::max<std::uint64_t>(most, 1))) * element_strides[d];
  }
  // A box's rows must have a multiple of 16 bytes of the smallest type. A converting kernel may have a
  // one-byte type.
  const std::uint32_t granule = converts || one_in(random, 2) ? 16 : 16 / size_of(type);
  box[rank - 1] = std::max(box[rank - 1] / granule, 1U) * granule;
  if (options.swizzle != Swizzle::none)
    box[rank - 1] = std::min(box[rank - 1], span_bytes(options.swizzle) / size_of(type));
  if (!one_in(random, 5)) kernel.box = box;
  if (one_in(random, 2)) {
    options.stages = static_cast<std::uint32_t>(between(random, 1, 6));
    options.warps = family.computes ? static_cast<std::uint32_t>(between(random, 1, 12)) : 1;
    options.ctas_per_sm = static_cast<std::uint32_t>(between(random, 1, 4));
    options.tiles_per_cta = static_cast<std::uint32_t>(between(random, 0, 5));
    options.output_stages = family.computes ? static_cast<std::uint32_t>(between(random, 2, 4)) : 0;
  }

  kernel.inputs.push_back(random_view(random, type, source_shape));
  for (std::uint32_t i = 1; i < inputs; ++i) {
    kernel.inputs.push_back(
        random_view(random, converts ? one_of(random, all_element_types) : type, source_shape));
  }
  kernel.output = random_view(random, converts ? one_of(random, all_element_types) : type, shape);
  options.l2_promotion =
      one_of(random, std::array{L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256});
  if (family.computes) {
    Expression expression = random_expression(random, inputs, rank);
    kernel.expression = std::move(expression.text);
    kernel.function = std::move(expression.function);
  }
  if (family.writes_images) {
    options.oob_fill = can_fill_nan(type) && one_in(random, 2) ? OobFill::nan : OobFill::zero;
  }
  return kernel;
}

RandomKernel draw_flat(Random& random, const FamilyInfo& family) {
  RandomKernel kernel{.family = family};
  const ElementType type = one_of(random, all_element_types);
  const ElementType output = one_in(random, 2) ? type : one_of(random, all_element_types);
  const std::uint64_t count = one_in(random, 3) ? between(random, 1, 40) : between(random, 1, max_elements);
  const std::array shape{count};
  kernel.inputs = {TensorView::contiguous(type, shape)};
  kernel.output = TensorView::contiguous(output, shape);
  const auto chunk = static_cast<std::uint32_t>(16 * between(random, 1, 64));
  if (!one_in(random, 4)) kernel.box = {chunk};
  if (one_in(random, 2)) {
    kernel.options.stages = static_cast<std::uint32_t>(between(random, 1, 6));
    kernel.options.warps = static_cast<std::uint32_t>(between(random, 1, 12));
    kernel.options.output_stages = static_cast<std::uint32_t>(between(random, 2, 4));
  }
  Expression expression = random_expression(random, 1, 1);
  kernel.expression = std::move(expression.text);
  kernel.function = std::move(expression.function);
  return kernel;
}

reference::Tiling tiling_of(const RandomKernel& kernel) {
  const KernelPlan plan = plan_tiles(kernel.request());
  return {.tile = plan.shape().tile,
          .element_strides = kernel.element_strides,
          .swizzle = kernel.options.swizzle,
          .oob_fill = kernel.options.oob_fill};
}

void print(std::ostream& out, const TensorView& view) {
  out << name(view.type) << " [";
  for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ", ") << view.shape[d];
  out << "] strides [";
  for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ", ") << view.strides[d];
  out << "]";
}

}  // namespace

TileRequest RandomKernel::request(const TensorAddresses& addresses) const {
  TileRequest request{.family = family.name,
                      .destination = {output, addresses.output},
                      .expression = expression,
                      .combine = combine,
                      .tiles = options};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    request.sources.push_back({inputs[i], addresses.inputs.empty() ? 0 : addresses.inputs.at(i)});
  }
  request.tiles.box = box;
  request.tiles.element_strides = element_strides;
  return request;
}

std::vector<FamilyInfo> tile_families() {
  std::vector<FamilyInfo> found;
  std::ranges::copy_if(families(), std::back_inserter(found),
                       [](const FamilyInfo& family) { return family.does("tiles"); });
  return found;
}

std::uint64_t seed_of(const FamilyInfo& family, std::uint64_t seed) {
  for (const char c : family.name) seed = seed * 131 + static_cast<unsigned char>(c);
  return seed;
}

RandomKernel random_kernel(Random& random, const FamilyInfo& family) {
  for (std::uint64_t redrawn = 0;; ++redrawn) {
    RandomKernel kernel = family.flat ? draw_flat(random, family) : draw_tiled(random, family);
    if (family.writes_images) kernel.output = destination_view(kernel.request());
    if (!validate(kernel.request()).empty()) continue;
    kernel.redrawn = redrawn;
    return kernel;
  }
}

std::string describe(const RandomKernel& kernel) {
  const KernelPlan plan = plan_tiles(kernel.request());
  std::ostringstream out;
  out << plan.choice().text() << "; element strides";
  for (const std::uint32_t stride : kernel.element_strides) out << ' ' << stride;
  out << " swizzle " << name(kernel.options.swizzle) << " output stages " << kernel.options.output_stages
      << " oob " << name(kernel.options.oob_fill) << " expression \"" << kernel.expression << '"';
  if (kernel.family.does("reduce_into")) out << ' ' << name(kernel.combine);
  for (const TensorView& view : kernel.inputs) print(out << "\n  in  ", view);
  print(out << "\n  out ", kernel.output);
  return out.str();
}

reference::Tensor random_tensor(Random& random, const TensorView& view) {
  reference::Tensor tensor(view);
  std::size_t i = 0;
  for (; i + 8 <= tensor.bytes.size(); i += 8) {
    const std::uint64_t bits = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&bits), 8,
                tensor.bytes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (; i < tensor.bytes.size(); ++i) tensor.bytes[i] = static_cast<std::byte>(random());
  return tensor;
}

reference::Tensor expected_output(const RandomKernel& kernel, const std::vector<reference::Tensor>& inputs,
                                  std::byte untouched) {
  const reference::Tiling tiling = tiling_of(kernel);
  // A kernel that writes images of shared memory fills it with 0xcd before each load.
  if (kernel.family.writes_images) return reference::snapshot(tiling, inputs[0], std::byte{0xcd});
  reference::Tensor output(kernel.output, untouched);
  if (kernel.family.does("reduce_into")) {
    reference::reduce_into(tiling, kernel.combine, output, inputs[0]);
  } else if (!kernel.family.computes) {
    reference::copy(tiling, output, inputs[0]);
  } else if (kernel.family.flat) {
    reference::bulk(tiling, output, inputs[0], kernel.function);
  } else {
    reference::map(tiling, output, inputs, kernel.function);
  }
  return output;
}

Offsets random_offsets(Random& random, const RandomKernel& kernel) {
  if (!kernel.family.flat) return {};
  // Inputs and output often have the same misalignment, so that the kernel's aligned path runs, too.
  if (one_in(random, 2)) {
    const std::uint64_t both = 8 * between(random, 0, 3);
    return {both, both};
  }
  return {size_of(kernel.inputs[0].type) * between(random, 0, 16),
          size_of(kernel.output.type) * between(random, 0, 16)};
}

DeviceCopy::DeviceCopy(const std::shared_ptr<Device>& device, std::span<const std::byte> bytes,
                       std::uint64_t offset)
    : buffer(device, bytes.size() + offset), address(buffer.address() + offset) {
  device->memory().copy_in(address, bytes, nullptr);
}

reference::Tensor run(Runtime& runtime, const RandomKernel& kernel,
                      const std::vector<reference::Tensor>& inputs, Offsets offsets) {
  Device& device = *runtime.device();
  std::vector<DeviceCopy> copies;
  TensorAddresses addresses;
  for (const reference::Tensor& input : inputs) {
    copies.emplace_back(runtime.device(), input.bytes, offsets.inputs);
    addresses.inputs.push_back(copies.back().address);
  }
  reference::Tensor output(kernel.output, poison);
  const DeviceCopy target(runtime.device(), output.bytes, offsets.output);
  addresses.output = target.address;
  TileRequest request = kernel.request(addresses);
  request.chip = runtime.chip();
  const KernelPlan plan = plan_tiles(request);
  runtime.kernel(plan).launch(plan);
  device.streams().synchronize(nullptr);
  device.memory().copy_out(output.bytes, target.address, nullptr);
  device.streams().synchronize(nullptr);
  return output;
}

}  // namespace gpu
