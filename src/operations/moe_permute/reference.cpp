#include "operations/references.hpp"
#include "reference/scalar.hpp"

#include <cstring>
#include <limits>
#include <variant>
#include <vector>

namespace reference {
namespace {

constexpr std::int64_t absent = std::numeric_limits<std::int32_t>::min();

/// Where the rows of all tokens go.
struct Sorted {
  std::vector<std::int64_t> positions;  ///< of each (token, slot): its row, or `absent`
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> offsets;
};

/// The expert ids of all slots, token by token; numbers outside of [0, count) become `count`.
std::vector<std::uint64_t> ids_of(const tmajit::Tensor& experts, std::uint64_t count) {
  std::vector<std::uint64_t> ids;
  for_each_index(experts.view.rank, whole(experts.view), [&](const Index& at) {
    const Scalar given = decode(experts.view.type, element_at(experts, offset_of(experts.view, at)));
    const std::uint64_t id =
        std::visit([](auto number) { return static_cast<std::uint64_t>(number); }, given);
    ids.push_back(id < count ? id : count);
  });
  return ids;
}

Sorted sorted_of(const tmajit::Move& move) {
  const auto& what = std::get<tmajit::MoePermute>(move.body);
  const std::vector<std::uint64_t> ids = ids_of(move.sources[1], what.experts);
  Sorted sorted{.positions = {}, .counts = std::vector<std::int64_t>(what.experts), .offsets = {0}};
  for (const std::uint64_t id : ids) {
    if (id < what.experts) ++sorted.counts[id];
  }
  const std::int64_t alignment = what.alignment;
  for (const std::int64_t count : sorted.counts)
    sorted.offsets.push_back(sorted.offsets.back() + (count + alignment - 1) / alignment * alignment);
  std::vector<std::int64_t> next = sorted.offsets;
  for (const std::uint64_t id : ids) {
    const std::int64_t row = id < what.experts ? next[id]++ : absent;
    sorted.positions.push_back(row < static_cast<std::int64_t>(what.capacity) ? row : absent);
  }
  return sorted;
}

/// Copies the elements of a part whose rows belong to a token.
void copy_rows(const tmajit::Move& move, const Part& part) {
  const tmajit::Tensor& rows = move.destination;
  const tmajit::Tensor& x = move.sources[0];
  const std::vector<std::int64_t> positions = sorted_of(move).positions;
  for (std::size_t pair = 0; pair < positions.size(); ++pair) {
    const auto row = static_cast<std::uint64_t>(positions[pair]);
    if (positions[pair] == absent || row - part.first.at(0) >= part.count.at(0)) continue;
    const std::uint64_t token = pair / (positions.size() / x.view.shape.at(0));
    Part one = part;
    one.first.at(0) = row;
    one.count.at(0) = 1;
    for_each_index(rows.view.rank, one, [&](const Index& to) {
      Index from = to;
      from.at(0) = token;
      std::memcpy(element_at(rows, offset_of(rows.view, to)), element_at(x, offset_of(x.view, from)),
                  size_of(x.view.type));
    });
  }
}

/// Stores a part of `numbers`, which are those of the destination in row-major order.
void store_numbers(const tmajit::Tensor& to, const std::vector<std::int64_t>& numbers, const Part& part) {
  for_each_index(to.view.rank, part, [&](const Index& at) {
    const std::uint64_t number = to.view.rank == 1 ? at.at(0) : at.at(0) * to.view.shape.at(1) + at.at(1);
    const auto value = static_cast<std::int32_t>(numbers[number]);
    std::memcpy(element_at(to, offset_of(to.view, at)), &value, sizeof value);
  });
}

void moe_permute(const tmajit::Move& move, const Part& part) {
  const std::uint32_t result = std::get<tmajit::MoePermute>(move.body).result;
  if (result == 0) return copy_rows(move, part);
  const Sorted sorted = sorted_of(move);
  store_numbers(move.destination,
                result == 1   ? sorted.positions
                : result == 2 ? sorted.counts
                              : sorted.offsets,
                part);
}

constexpr OperationReference moe_permute_reference{
    .compute = moe_permute, .reads = [](const tmajit::Move& move, const Part& part) {
      const auto& what = std::get<tmajit::MoePermute>(move.body);
      const std::uint64_t ids = element_count(move.sources[1].view);
      return ids + (what.result == 0 ? element_count(part, move.destination.view.rank) : 0);
    }};

}  // namespace

const OperationReference& reference_of(const tmajit::MoePermute& /*moe_permute*/) noexcept {
  return moe_permute_reference;
}

}  // namespace reference
