#include "operations/references.hpp"
#include "operations/shared/indexed_reference.hpp"
#include "reference/scalar.hpp"

#include <cmath>
#include <vector>

namespace reference {
namespace {

using tmajit::ElementType;

IndexedMove scatter_add_of(const tmajit::Move& move) {
  return indexed_move(move, std::get<tmajit::ScatterAdd>(move.body), false);
}

/// Adds the source's elements one after the other, in row-major order. Each sum is rounded.
void scatter_add(const tmajit::Move& move, const Part& part) {
  const tmajit::Tensor& to = move.destination;
  const tmajit::Tensor& from = move.sources.front();
  const ElementType type = to.view.type;
  for_each_selected(scatter_add_of(move), part, [&](const Index& selected, const Index& at) {
    std::byte* const element = element_at(to, offset_of(to.view, selected));
    const std::byte* const added = element_at(from, offset_of(from.view, at));
    encode(type, add(decode(type, element), decode(type, added)), element);
  });
}

/// The largest relative error of one addition; 0 for integers.
double unit_of(ElementType type) {
  switch (type) {
    case ElementType::f16: return 0x1p-10;
    case ElementType::bf16: return 0x1p-7;
    case ElementType::f32:
    case ElementType::f32_ftz: return 0x1p-23;
    case ElementType::f64: return 0x1p-52;
    default: return 0;
  }
}

/// Kernels add in any order. Sums of whole numbers that the type holds are exact, whatever the order.
std::vector<double> scatter_add_errors(const tmajit::Move& move, const Part& part) {
  const tmajit::Tensor& to = move.destination;
  const double unit = unit_of(to.view.type);
  if (unit == 0) return {};
  struct Sum {
    double magnitude = 0;
    double additions = 0;
    bool whole = true;
    void add(double value) {
      magnitude += std::fabs(value);
      whole = whole && value == std::floor(value);
    }
  };
  const std::uint32_t rank = to.view.rank;
  std::vector<Sum> sums(element_count(part, rank));
  for_each_index(rank, part, [&](const Index& at) {
    sums[position_in(part, rank, at)].add(
        as_double(decode(to.view.type, element_at(to, offset_of(to.view, at)))));
  });
  const tmajit::Tensor& from = move.sources.front();
  for_each_selected(scatter_add_of(move), part, [&](const Index& selected, const Index& at) {
    Sum& sum = sums[position_in(part, rank, selected)];
    sum.add(as_double(decode(from.view.type, element_at(from, offset_of(from.view, at)))));
    ++sum.additions;
  });
  std::vector<double> errors;
  errors.reserve(sums.size());
  for (const Sum& sum : sums) {
    const bool exact = sum.whole && sum.magnitude * unit <= 1;
    // The reference rounds as often as the kernel. A sum may be +0 or −0.
    errors.push_back(exact ? 0x1p-1074 : 2 * sum.additions * unit * sum.magnitude);
  }
  return errors;
}

constexpr OperationReference scatter_add_reference{
    .compute = scatter_add,
    .makes_values = computes,
    .allowed_errors = scatter_add_errors,
    .reads = [](const tmajit::Move& move, const Part& /*part*/) {
      return move.sources.size() * element_count(move.sources.front().view);
    }};

}  // namespace

const OperationReference& reference_of(const tmajit::ScatterAdd& /*scatter_add*/) noexcept {
  return scatter_add_reference;
}

}  // namespace reference
