#include "operations/references.hpp"
#include "operations/shared/indexed_reference.hpp"
#include "operations/shared/source_values_reference.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

namespace reference {
namespace {

bool is_double(const tmajit::Tensor& tensor) {
  return tensor.view.type == tmajit::ElementType::f64;
}

/// A range of terms: `end` is not included.
struct Terms {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The offset of a bag, clamped to the number of indices.
std::uint64_t offset_at(const tmajit::Tensor& offsets, std::uint64_t bag, std::uint64_t indices) {
  const Scalar element = decode(offsets.view.type, element_at(offsets, offset_of(offsets.view, Index{bag})));
  const std::int64_t offset = std::holds_alternative<std::int32_t>(element) ? std::get<std::int32_t>(element)
                                                                            : std::get<std::int64_t>(element);
  return offset < 0 ? 0 : std::min(static_cast<std::uint64_t>(offset), indices);
}

/// Calls visit(index of the destination, sum) for each element of a part.
template <class Visit>
void for_each_sum(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const auto& what = std::get<tmajit::GatherSum>(move.body);
  IndexedMove indexed = indexed_move(move, what, true);
  const tmajit::Tensor& index = move.sources[1];
  const bool weighted = move.sources.size() > (what.ragged ? 3 : 2);
  const bool in_f64 = is_double(move.sources[0]) || (weighted && is_double(move.sources[2]));
  const std::uint32_t terms = index.view.rank - 1;
  const std::int64_t axis = what.axes[0];
  const auto first = static_cast<std::uint32_t>(axis < 0 ? axis + indexed.selected.view.rank : axis);
  for_each_index(move.destination.view.rank, part, [&](const Index& at) {
    CompensatedSum sum;
    SumError error;
    std::optional<Scalar> whole;
    bool is_empty = true;
    Terms added{0, index.view.shape.at(terms)};
    if (what.ragged) {
      const std::uint64_t indices = added.end;
      added = {offset_at(move.sources.back(), at.at(first), indices),
               offset_at(move.sources.back(), at.at(first) + 1, indices)};
    }
    for (std::uint64_t k = added.begin; k < added.end; ++k) {
      indexed.term = k;
      const std::optional<Index> selected = selected_index(indexed, at);
      if (!selected) continue;
      const Scalar value = decode(indexed.selected.view.type,
                                  element_at(indexed.selected, offset_of(indexed.selected.view, *selected)));
      if (!weighted && !std::holds_alternative<float>(value) && !std::holds_alternative<double>(value)) {
        whole = whole ? add(*whole, widened(value)) : widened(value);
        continue;
      }
      is_empty = false;
      double product = in_f64 ? as_double(value) : static_cast<float>(as_double(value));
      if (weighted) {
        const tmajit::Tensor& weights = move.sources[2];
        Index own{};
        for (std::uint32_t d = 0; d < terms; ++d) own.at(d) = at.at(first + d);
        own.at(terms) = k;
        product *= as_double(decode(weights.view.type, element_at(weights, offset_of(weights.view, own))));
      }
      sum.add(product);
      error.add(in_f64 ? Computed(product) : Computed(static_cast<float>(product)));
    }
    if (whole) return visit(at, Computed(*whole));
    if (is_empty) return visit(at, in_f64 ? Computed(0.0) : Computed(0.0F));
    const double value = sum.value();
    const double unit = in_f64 ? 0x1p-51 : 0x1p-22;
    const double allowed = error.error() + (error.error() > 0x1p-1000 ? unit * std::fabs(value) : 0);
    if (in_f64) return visit(at, Computed{value, allowed});
    visit(at, Computed{static_cast<float>(value), allowed});
  });
}

constexpr OperationReference gather_sum_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const tmajit::Tensor& to = move.destination;
          for_each_sum(move, part, [&](const Index& at, const Computed& sum) {
            encode(to.view.type, sum.value, element_at(to, offset_of(to.view, at)));
          });
        },
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          for_each_sum(move, part, [&](const Index& /*at*/, const Computed& sum) {
            errors.push_back(stored_error(move.destination.view.type, sum));
          });
          return errors;
        },
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          const tmajit::TensorView& index = move.sources[1].view;
          const std::uint64_t terms = index.shape.at(index.rank - 1);
          const bool ragged = std::get<tmajit::GatherSum>(move.body).ragged;
          // Each index is in one bag.
          const std::uint64_t bags = ragged ? move.sources.back().view.shape[0] : 1;
          return move.sources.size() * element_count(part, move.destination.view.rank) * terms / bags;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::GatherSum& /*gather_sum*/) noexcept {
  return gather_sum_reference;
}

}  // namespace reference
