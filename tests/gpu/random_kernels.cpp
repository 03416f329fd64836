#include "gpu/random_kernels.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
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

constexpr std::uint64_t most_elements = 60'000;

/// Row-major, or with the outer dimensions in another order; rows padded to 16 bytes and sometimes further.
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

RandomKernel draw_tiled(Random& random, Family family) {
  RandomKernel kernel;
  const auto rank = static_cast<std::uint32_t>(between(random, 1, max_map_rank));
  const auto inputs =
      family == Family::map && one_in(random, 3) ? static_cast<std::uint32_t>(between(random, 2, 8)) : 1U;
  const bool converts = family == Family::map && one_in(random, 2);
  const ElementType type = one_of(random, all_element_types);

  TileOptions options;
  options.swizzle = one_of(random, std::array{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128});
  std::vector<std::uint32_t> element_strides(rank, 1);
  if (one_in(random, 4)) {
    for (std::uint32_t d = 0; d + 1 < rank; ++d)
      element_strides[d] = static_cast<std::uint32_t>(between(random, 1, 8));
  }

  std::vector<std::uint64_t> shape(rank);
  std::vector<std::uint64_t> source_shape(rank);
  std::vector<std::uint32_t> box(rank);
  std::uint64_t budget = most_elements;
  for (std::uint32_t d = rank; d-- > 0;) {
    const bool inner = d + 1 == rank;
    shape[d] = between(random, 1,
                       std::clamp<std::uint64_t>(budget, 1, inner ? 400 : (one_in(random, 4) ? 200 : 12)));
    budget /= shape[d];
    // Elements of the source: what the last stride leaves over may or may not be there.
    source_shape[d] = (shape[d] - 1) * element_strides[d] + between(random, 1, element_strides[d]);
    const std::uint64_t most = inner ? 256 : std::min<std::uint64_t>(256 / element_strides[d], shape[d] + 3);
    box[d] =
        static_cast<std::uint32_t>(between(random, 1, std::max<std::uint64_t>(most, 1))) * element_strides[d];
  }
  // Sixteen bytes of a one-byte type are sixteen elements; half of the draws ask for no more than they must.
  const std::uint32_t granule = converts || one_in(random, 2) ? 16 : 16 / size_of(type);
  box[rank - 1] = std::max(box[rank - 1] / granule, 1U) * granule;
  if (options.swizzle != Swizzle::none)
    box[rank - 1] = std::min(box[rank - 1], span_bytes(options.swizzle) / size_of(type));
  if (!one_in(random, 5)) options.box = box;
  options.element_strides = element_strides;
  if (one_in(random, 2)) {
    options.stages = static_cast<std::uint32_t>(between(random, 1, 6));
    options.warps = family == Family::map ? static_cast<std::uint32_t>(between(random, 1, 12)) : 1;
    options.ctas_per_sm = static_cast<std::uint32_t>(between(random, 1, 4));
    options.tiles_per_cta = static_cast<std::uint32_t>(between(random, 0, 5));
    options.output_stages = family == Family::map ? static_cast<std::uint32_t>(between(random, 2, 4)) : 0;
  }

  kernel.inputs.push_back(random_view(random, type, source_shape));
  for (std::uint32_t i = 1; i < inputs; ++i) {
    kernel.inputs.push_back(
        random_view(random, converts ? one_of(random, all_element_types) : type, source_shape));
  }
  kernel.output = random_view(random, converts ? one_of(random, all_element_types) : type, shape);
  kernel.l2_promotion =
      one_of(random, std::array{L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256});
  switch (family) {
    case Family::copy: kernel.spec = copy_spec(kernel.inputs[0], kernel.output, options); break;
    case Family::snapshot:
      kernel.spec = snapshot_spec(kernel.inputs[0], options);
      kernel.output = output_view(kernel.spec, kernel.inputs[0]);
      kernel.oob_fill = can_fill_nan(type) && one_in(random, 2) ? OobFill::nan : OobFill::zero;
      break;
    default: {
      const Expression expression = random_expression(random, inputs, rank);
      kernel.spec = map_spec(expression.text, kernel.inputs, kernel.output, options);
      kernel.function = expression.function;
    }
  }
  return kernel;
}

RandomKernel draw_bulk(Random& random) {
  RandomKernel kernel;
  const ElementType type = one_of(random, all_element_types);
  const ElementType output = one_in(random, 2) ? type : one_of(random, all_element_types);
  const std::uint64_t count = one_in(random, 3) ? between(random, 1, 40) : between(random, 1, most_elements);
  const std::array shape{count};
  kernel.inputs = {TensorView::contiguous(type, shape)};
  kernel.output = TensorView::contiguous(output, shape);
  const std::array<std::uint32_t, 1> chunk{static_cast<std::uint32_t>(16 * between(random, 1, 64))};
  TileOptions options;
  if (!one_in(random, 4)) options.box = chunk;
  if (one_in(random, 2)) {
    options.stages = static_cast<std::uint32_t>(between(random, 1, 6));
    options.warps = static_cast<std::uint32_t>(between(random, 1, 12));
    options.output_stages = static_cast<std::uint32_t>(between(random, 2, 4));
  }
  const Expression expression = random_expression(random, 1, 1);
  kernel.spec = bulk_spec(expression.text, type, output, options);
  kernel.function = expression.function;
  return kernel;
}

std::vector<TensorView> all_views(const RandomKernel& kernel) {
  std::vector<TensorView> views = kernel.inputs;
  views.push_back(kernel.output);
  return views;
}

void print(std::ostream& out, const TensorView& view) {
  out << name(view.type) << " [";
  for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ", ") << view.shape[d];
  out << "] strides [";
  for (std::uint32_t d = 0; d < view.rank; ++d) out << (d == 0 ? "" : ", ") << view.strides[d];
  out << "]";
}

}  // namespace

RandomKernel random_kernel(Random& random, Family family) {
  for (std::uint64_t redrawn = 0;; ++redrawn) {
    RandomKernel kernel = family == Family::bulk ? draw_bulk(random) : draw_tiled(random, family);
    if (!validate(kernel.spec, all_views(kernel)).empty()) continue;
    kernel.redrawn = redrawn;
    return kernel;
  }
}

std::string describe(const RandomKernel& kernel) {
  const KernelSpec& spec = kernel.spec;
  std::ostringstream out;
  out << name(spec.family) << " tile";
  for (std::uint32_t d = 0; d < spec.rank; ++d) out << (d == 0 ? " " : "x") << spec.tile[d];
  out << " element strides";
  for (std::uint32_t d = 0; d < spec.rank; ++d) out << ' ' << int{spec.input(0).element_strides[d]};
  out << " swizzle " << name(spec.input(0).swizzle) << " stages " << int{spec.stages} << " output stages "
      << int{spec.output_stages} << " warps " << int{spec.warps} << " ctas " << int{spec.ctas_per_sm}
      << " tiles a CTA " << int{spec.tiles_per_cta} << " oob " << name(kernel.oob_fill) << " expression \""
      << spec.expression_text() << '"';
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

}  // namespace gpu
