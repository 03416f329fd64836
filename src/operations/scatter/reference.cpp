#include "operations/references.hpp"
#include "operations/shared/indexed_reference.hpp"

#include <cstring>
#include <limits>
#include <vector>

namespace reference {
namespace {

IndexedMove scatter_of(const tmajit::Move& move) {
  return indexed_move(move, std::get<tmajit::Scatter>(move.body), false);
}

/// Stores the source's elements in row-major order.
void scatter(const tmajit::Move& move, const Part& part) {
  const IndexedMove indexed = scatter_of(move);
  const tmajit::Tensor& to = move.destination;
  const tmajit::Tensor& from = move.sources.front();
  for_each_selected(indexed, part, [&](const Index& selected, const Index& at) {
    std::memcpy(element_at(to, offset_of(to.view, selected)), element_at(from, offset_of(from.view, at)),
                size_of(to.view.type));
  });
}

/// Any error where several elements may be stored, 0 elsewhere.
std::vector<double> scatter_errors(const tmajit::Move& move, const Part& part) {
  const std::uint32_t rank = move.destination.view.rank;
  std::vector<double> stores(element_count(part, rank));
  for_each_selected(scatter_of(move), part, [&](const Index& selected, const Index& /*at*/) {
    ++stores[position_in(part, rank, selected)];
  });
  for (double& one : stores) one = one > 1 ? std::numeric_limits<double>::infinity() : 0;
  return stores;
}

/// Whether several elements are stored to one.
bool has_conflicts(const tmajit::Move& move) {
  for (const double error : scatter_errors(move, whole(move.destination.view))) {
    if (error > 0) return true;
  }
  return false;
}

constexpr OperationReference scatter_reference{.compute = scatter,
                                               .makes_values = has_conflicts,
                                               .allowed_errors = scatter_errors,
                                               .reads = [](const tmajit::Move& move, const Part& /*part*/) {
                                                 return move.sources.size() *
                                                        element_count(move.sources.front().view);
                                               }};

}  // namespace

const OperationReference& reference_of(const tmajit::Scatter& /*scatter*/) noexcept {
  return scatter_reference;
}

}  // namespace reference
