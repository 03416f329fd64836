#include "operations/stencil/reference.hpp"

#include "operations/references.hpp"
#include "reference/closeness.hpp"

#include <algorithm>
#include <array>

namespace reference {

using tmajit::Boundary, tmajit::ElementType, tmajit::Tensor;

std::optional<std::int64_t> neighbour_index(std::int64_t at, std::int64_t extent, Boundary boundary) {
  if (at >= 0 && at < extent) return at;
  switch (boundary) {
    case Boundary::clamp: return std::clamp<std::int64_t>(at, 0, extent - 1);
    case Boundary::wrap: return (at % extent + extent) % extent;
    case Boundary::reflect: {
      if (extent == 1) return 0;
      // Step by step from edge to edge.
      while (at < 0 || at >= extent) at = at < 0 ? -at : 2 * (extent - 1) - at;
      return at;
    }
    default: return std::nullopt;
  }
}

void stencil(const Tensor& destination, const Expression& expression, std::span<const Tensor> sources,
             const tmajit::Stencil& stencil, const Part& part) {
  const std::uint32_t rank = destination.view.rank;
  std::vector<std::size_t> dims;
  for (const std::int64_t d : stencil.dims) dims.push_back(static_cast<std::size_t>(d < 0 ? d + rank : d));
  for (std::size_t k = dims.size(); stencil.dims.empty() && k < expression.offsets(); ++k)
    dims.push_back(rank - expression.offsets() + k);

  for_each_index(rank, part, [&](const Index& index) {
    const auto neighbour = [&](std::uint32_t i, std::span<const std::int64_t> offsets) {
      const Tensor& source = sources[i];
      Index at = index;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        const std::size_t d = dims[k];
        const auto extent = static_cast<std::int64_t>(destination.view.shape.at(d));
        const auto found =
            neighbour_index(static_cast<std::int64_t>(index.at(d)) + offsets[k], extent, stencil.boundary);
        if (found) {
          at.at(d) = static_cast<std::uint64_t>(*found);
          continue;
        }
        std::array<std::byte, 8> beyond{};
        if (stencil.boundary == Boundary::constant)
          encode(source.view.type, scalar(stencil.value), beyond.data());
        return decode(source.view.type, beyond.data());
      }
      return decode(source.view.type, element_at(source, offset_of(source.view, at)));
    };
    encode(destination.view.type, expression.evaluate(neighbour),
           element_at(destination, offset_of(destination.view, index)));
  });
}

namespace {

std::optional<Expression> expression_of(const tmajit::Move& move) {
  return Expression::parse(std::get<tmajit::Stencil>(move.body).expression);
}

constexpr OperationReference stencil_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          stencil(move.destination, expression_of(move).value(), move.sources,
                  std::get<tmajit::Stencil>(move.body), part);
        },
    .understands = [](const tmajit::Move& move) { return expression_of(move).has_value(); },
    .rounding =
        [](const tmajit::Move& move) {
          return computes_in_f32(move.sources) ? Rounding::in_f32 : Rounding::in_f64;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Stencil& /*stencil*/) noexcept {
  return stencil_reference;
}

}  // namespace reference
