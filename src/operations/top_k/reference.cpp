#include "operations/references.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <variant>
#include <vector>

namespace reference {
namespace {

using tmajit::Tensor, tmajit::TopK;

/// Whether a < b, where NaN is greater than all numbers. Both have one type.
bool is_less(const Scalar& a, const Scalar& b) {
  if (is_nan(a)) return false;
  if (is_nan(b)) return true;
  return std::visit([&](auto left) { return left < std::get<decltype(left)>(b); }, a);
}

std::uint32_t axis_of_rows(const tmajit::Move& move) {
  const std::int64_t axis = std::get<TopK>(move.body).axis;
  return static_cast<std::uint32_t>(axis < 0 ? axis + move.destination.view.rank : axis);
}

/// Sorts each whole row stably, and stores the requested part of its first elements.
void compute_top_k(const tmajit::Move& move, const Part& part) {
  const TopK& what = std::get<TopK>(move.body);
  const Tensor& to = move.destination;
  const Tensor& x = move.sources.front();
  const std::uint32_t axis = axis_of_rows(move);
  Part rows = part;  // the first element of each row
  rows.first.at(axis) = 0;
  rows.count.at(axis) = std::min<std::uint64_t>(part.count.at(axis), 1);
  std::vector<Scalar> row(x.view.shape.at(axis));
  std::vector<std::uint64_t> order(row.size());
  for_each_index(to.view.rank, rows, [&](Index index) {
    const auto element = [&](std::uint64_t place) {
      index.at(axis) = place;
      return element_at(x, offset_of(x.view, index));
    };
    for (std::uint64_t i = 0; i < row.size(); ++i) row[i] = decode(x.view.type, element(i));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::uint64_t a, std::uint64_t b) {
      return what.largest ? is_less(row[b], row[a]) : is_less(row[a], row[b]);
    });
    for (std::uint64_t n = 0; n < part.count.at(axis); ++n) {
      const std::uint64_t result = part.first.at(axis) + n;
      const std::uint64_t place = order[result];
      const std::byte* const from = element(place);
      index.at(axis) = result;
      std::byte* const at = element_at(to, offset_of(to.view, index));
      if (what.result == TopK::Result::values) {
        std::memcpy(at, from, size_of(x.view.type));
      } else {
        encode(to.view.type, Scalar(place), at);
      }
    }
  });
}

constexpr OperationReference top_k_reference{
    .compute = compute_top_k, .reads = [](const tmajit::Move& move, const Part& part) {
      const std::uint32_t axis = axis_of_rows(move);
      const std::uint64_t rows =
          element_count(part, move.destination.view.rank) / std::max<std::uint64_t>(part.count.at(axis), 1);
      // Sorting takes as long as several reads.
      return 8 * rows * move.sources.front().view.shape.at(axis);
    }};

}  // namespace

const OperationReference& reference_of(const TopK& /*top_k*/) noexcept {
  return top_k_reference;
}

}  // namespace reference
