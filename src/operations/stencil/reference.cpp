#include "operations/references.hpp"
#include "operations/shared/source_values_reference.hpp"
#include "reference/expression.hpp"

#include <algorithm>
#include <array>

namespace reference {

using tmajit::Boundary, tmajit::Tensor;

namespace {

/// The index of the element that a stencil reads for index `at`, which may be outside of 0 … extent − 1;
/// nothing if it reads the boundary's constant.
std::optional<std::int64_t> neighbour_index(std::int64_t at, std::int64_t extent, Boundary boundary) {
  if (at >= 0 && at < extent) return at;
  switch (boundary) {
    case Boundary::clamp: return std::clamp<std::int64_t>(at, 0, extent - 1);
    case Boundary::wrap: return (at % extent + extent) % extent;
    case Boundary::reflect: {
      if (extent == 1) return 0;
      // Each step mirrors the index at one edge.
      while (at < 0 || at >= extent) at = at < 0 ? -at : 2 * (extent - 1) - at;
      return at;
    }
    default: return std::nullopt;
  }
}

std::optional<Expression> stencil_expression(const tmajit::Move& move) {
  return Expression::parse(std::get<tmajit::Stencil>(move.body).expression, number_names(move));
}

/// Calls visit(index, value) for each element of a part.
template <class Visit>
void stencil_each(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const auto& stencil = std::get<tmajit::Stencil>(move.body);
  const Expression expression = stencil_expression(move).value();
  const tmajit::TensorView& to = move.destination.view;
  std::vector<std::size_t> dims;
  for (const std::int64_t d : stencil.dims) dims.push_back(static_cast<std::size_t>(d < 0 ? d + to.rank : d));
  for (std::size_t k = dims.size(); stencil.dims.empty() && k < expression.offsets(); ++k)
    dims.push_back(to.rank - expression.offsets() + k);

  for_each_index(to.rank, part, [&](const Index& index) {
    const auto neighbour = [&](std::uint32_t i, std::span<const std::int64_t> offsets) {
      const Tensor& source = move.sources[i];
      Index at = index;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        const std::size_t d = dims[k];
        const auto found = neighbour_index(static_cast<std::int64_t>(index.at(d)) + offsets[k],
                                           static_cast<std::int64_t>(to.shape.at(d)), stencil.boundary);
        if (found) {
          at.at(d) = static_cast<std::uint64_t>(*found);
          continue;
        }
        std::array<std::byte, 8> outside{};
        if (stencil.boundary == Boundary::constant)
          encode(source.view.type, scalar(stencil.value), outside.data());
        return decode(source.view.type, outside.data());
      }
      return decode(source.view.type, element_at(source, offset_of(source.view, at)));
    };
    visit(index, expression.evaluate(neighbour));
  });
}

constexpr OperationReference stencil_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const Tensor& to = move.destination;
          stencil_each(move, part, [&](const Index& index, const Computed& value) {
            encode(to.view.type, value.value, element_at(to, offset_of(to.view, index)));
          });
        },
    .understands = [](const tmajit::Move& move) { return stencil_expression(move).has_value(); },
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          stencil_each(move, part, [&](const Index& /*index*/, const Computed& value) {
            errors.push_back(stored_error(move.destination.view.type, value));
          });
          return errors;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Stencil& /*stencil*/) noexcept {
  return stencil_reference;
}

}  // namespace reference
