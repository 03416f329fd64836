#include "reference/random_stencils.hpp"

#include "reference/random_maps.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace tmajit;

namespace reference {
namespace {

constexpr ElementType types[] = {ElementType::f32,  ElementType::f32, ElementType::f64, ElementType::f16,
                                 ElementType::bf16, ElementType::u8,  ElementType::i32, ElementType::i16};
constexpr Boundary boundaries[] = {Boundary::zero, Boundary::constant, Boundary::clamp, Boundary::wrap,
                                   Boundary::reflect};

/// How a tensor lies: mostly as tensor maps like it.
StencilOperand operand(Random& random, ElementType type, const std::vector<std::uint64_t>& shape,
                       bool may_repeat) {
  const std::uint64_t unit = 16 / size_of(type);
  const bool mapped = !one_in(random, 3);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (d + 1 == shape.size() && mapped) step += static_cast<std::int64_t>((unit - shape[d] % unit) % unit);
    if (!mapped && one_in(random, 3)) step += 3;
  }
  if (!mapped && one_in(random, 4)) {
    const auto d = between(random, 0, shape.size() - 1);
    strides[d] = -strides[d];
  }
  if (may_repeat && one_in(random, 8)) strides[between(random, 0, shape.size() - 1)] = 0;
  if (!mapped && one_in(random, 6)) std::shuffle(strides.begin(), strides.end(), random);
  StencilOperand result{.view = TensorView::strided(type, shape, strides)};
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t last = strides[d] * static_cast<std::int64_t>(shape[d] - 1);
    (last < 0 ? low : high) += last;
  }
  const std::uint64_t shift = mapped ? 0 : between(random, 0, 3) * size_of(type);
  result.first = shift + static_cast<std::uint64_t>(-low) * size_of(type);
  result.bytes = result.first + static_cast<std::uint64_t>(high + 1) * size_of(type);
  return result;
}

std::string call(Random& random, const std::string& name, std::size_t dims, std::int64_t reach) {
  std::ostringstream out;
  out << name << '(';
  for (std::size_t k = 0; k < dims; ++k) {
    const auto offset =
        static_cast<std::int64_t>(between(random, 0, static_cast<std::uint64_t>(2 * reach))) - reach;
    out << (k > 0 ? ", " : "") << offset;
  }
  out << ')';
  return out.str();
}

/// Whether each index is an element of its own.
bool is_apart(const TensorView& view) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dimensions;  // stride, extent
  for (std::uint32_t d = 0; d < view.rank; ++d)
    dimensions.emplace_back(static_cast<std::uint64_t>(std::abs(view.strides[d])), view.shape[d]);
  std::ranges::sort(dimensions);
  std::uint64_t reach = 0;
  for (const auto& [stride, extent] : dimensions) {
    if (extent == 1) continue;
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

}  // namespace

RandomStencil random_stencil(std::uint64_t seed, std::uint64_t most_elements) {
  Random random(seed);
  RandomStencil result;
  const std::size_t rank = between(random, 1, 5);
  const std::size_t dims = between(random, 1, std::min<std::size_t>(rank, max_stencil_dims));
  std::vector<std::uint64_t> shape(rank, 1);
  std::uint64_t elements = 1;
  for (std::size_t d = rank; d-- > 0;) {
    const std::uint64_t most = std::max<std::uint64_t>(most_elements / elements, 1);
    const std::uint64_t longest = d + 1 == rank ? 400 : d + 2 == rank ? 40 : 9;
    shape[d] = between(random, 1, std::min(most, longest));
    if (d + 1 == rank && one_in(random, 2)) shape[d] = (shape[d] + 15) / 16 * 16;
    elements *= shape[d];
  }
  if (!one_in(random, 3)) {
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), one_in(random, 2) ? 0 : -static_cast<std::int64_t>(rank));
    std::shuffle(order.begin(), order.end(), random);
    order.resize(dims);
    result.stencil.dims = order;
  }
  result.stencil.boundary = one_of(random, boundaries);
  result.stencil.value = one_of(random, std::vector<double>{1.5, -2, 3});

  const auto reach = static_cast<std::int64_t>(dims == 3 ? between(random, 1, 2) : between(random, 1, 3));
  const std::size_t sources = one_in(random, 3) ? between(random, 2, 3) : 1;
  const std::uint64_t taps = between(random, 1, 5);
  std::ostringstream expression;
  for (std::size_t i = 0; i < sources; ++i) {
    const std::string name = sources == 1 && one_in(random, 3) ? "x" : "x" + std::to_string(i);
    for (std::uint64_t t = 0; t < taps; ++t) {
      if (i + t > 0) expression << (one_in(random, 3) ? " - " : " + ");
      if (one_in(random, 2)) expression << between(random, 2, 3) << " * ";
      expression << (i + t > 0 && one_in(random, 6) ? name : call(random, name, dims, reach));
    }
  }
  result.expression = expression.str();
  const ElementType type = one_of(random, types);
  do {
    result.destination = operand(random, one_in(random, 4) ? one_of(random, types) : type, shape, false);
  } while (!is_apart(result.destination.view));
  for (std::size_t i = 0; i < sources; ++i)
    result.sources.push_back(operand(random, one_in(random, 4) ? one_of(random, types) : type, shape, true));
  return result;
}

std::string RandomStencil::text() const {
  std::ostringstream out;
  const auto add = [&](const StencilOperand& operand) {
    const TensorView& view = operand.view;
    out << ' ' << name(view.type) << ' ';
    for (std::uint32_t d = 0; d < view.rank; ++d) out << (d > 0 ? "x" : "") << view.shape[d];
    out << ':';
    for (std::uint32_t d = 0; d < view.rank; ++d) out << (d > 0 ? "," : "") << view.strides[d];
    out << '+' << operand.first;
  };
  out << expression << ", " << name(stencil.boundary) << ", dims";
  for (const std::int64_t d : stencil.dims) out << ' ' << d;
  out << ';';
  add(destination);
  out << " <-";
  for (const StencilOperand& source : sources) add(source);
  return out.str();
}

}  // namespace reference
