#include "operations/references.hpp"
#include "operations/shared/indexed_reference.hpp"
#include "operations/shared/source_values_reference.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace reference {
namespace {

const tmajit::Gather& gather_of(const tmajit::Move& move) {
  return std::get<tmajit::Gather>(move.body);
}

/// Copies the selected elements, and writes the value where an index selects none.
void move_elements(const tmajit::Move& move, const Part& part) {
  const auto& what = gather_of(move);
  const IndexedMove indexed = indexed_move(move, what, true);
  const tmajit::Tensor& to = move.destination;
  const std::uint32_t size = size_of(to.view.type);
  std::array<std::byte, sizeof(std::uint64_t)> value{};
  encode(to.view.type, scalar(what.value), value.data());
  for_each_index(to.view.rank, part, [&](const Index& at) {
    const std::optional<Index> selected = selected_index(indexed, at);
    const std::byte* const from =
        selected ? element_at(indexed.selected, offset_of(indexed.selected.view, *selected)) : value.data();
    std::memcpy(element_at(to, offset_of(to.view, at)), from, size);
  });
}

/// A move of the tensors and numbers that the expression reads.
tmajit::Move read_by_expression(const tmajit::Move& move) {
  tmajit::Move read = move;
  const auto is_index = [](const tmajit::Tensor& source) { return !source.view.is_number; };
  read.sources.erase(std::remove_if(read.sources.begin() + 1, read.sources.end(), is_index),
                     read.sources.end());
  return read;
}

/// Calls visit(index of the destination, value) for each element of a part.
template <class Visit>
void compute_each(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const tmajit::Gather& what = gather_of(move);
  const IndexedMove indexed = indexed_move(move, what, true);
  const tmajit::Move read = read_by_expression(move);
  const SourceValues value_of(read, what.expression);
  std::vector<Computed> x(read.sources.size());
  for (std::size_t k = 1; k < x.size(); ++k)
    x[k] = decode(read.sources[k].view.type, element_at(read.sources[k], 0));
  for_each_index(move.destination.view.rank, part, [&](const Index& at) {
    const std::optional<Index> selected = selected_index(indexed, at);
    if (!selected) return visit(at, Computed(scalar(what.value)));
    x[0] = decode(indexed.selected.view.type,
                  element_at(indexed.selected, offset_of(indexed.selected.view, *selected)));
    visit(at, value_of(x));
  });
}

constexpr OperationReference gather_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          if (gather_of(move).expression.empty()) return move_elements(move, part);
          const tmajit::Tensor& to = move.destination;
          compute_each(move, part, [&](const Index& at, const Computed& computed) {
            encode(to.view.type, computed.value, element_at(to, offset_of(to.view, at)));
          });
        },
    .understands =
        [](const tmajit::Move& move) {
          return understands_source_values(read_by_expression(move), gather_of(move).expression, true);
        },
    // The bits of a converted NaN differ between processors.
    .makes_values =
        [](const tmajit::Move& move) {
          return !gather_of(move).expression.empty() || std::isnan(gather_of(move).value);
        },
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          if (gather_of(move).expression.empty()) return errors;
          compute_each(move, part, [&](const Index& /*at*/, const Computed& computed) {
            errors.push_back(stored_error(move.destination.view.type, computed));
          });
          return errors;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Gather& /*gather*/) noexcept {
  return gather_reference;
}

}  // namespace reference
