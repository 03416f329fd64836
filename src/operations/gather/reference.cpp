#include "operations/references.hpp"
#include "operations/shared/indexed_reference.hpp"
#include "reference/scalar.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace reference {
namespace {

/// Copies the selected elements, and writes the value where an index selects none.
void gather(const tmajit::Move& move, const Part& part) {
  const auto& what = std::get<tmajit::Gather>(move.body);
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

constexpr OperationReference gather_reference{.compute = gather,
                                              // The bits of a converted NaN differ between processors.
                                              .makes_values = [](const tmajit::Move& move) {
                                                return std::isnan(std::get<tmajit::Gather>(move.body).value);
                                              }};

}  // namespace

const OperationReference& reference_of(const tmajit::Gather& /*gather*/) noexcept {
  return gather_reference;
}

}  // namespace reference
