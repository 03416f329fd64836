#include "lint/number_set.hpp"

#include "lint/value.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace lint {

NumberSet intersection(const NumberSet& a, const NumberSet& b) {
  NumberSet both;
  const auto* i = a.begin();
  const auto* j = b.begin();
  while (i != a.end() && j != b.end()) {
    const std::uint64_t first = std::max(i->first, j->first);
    const std::uint64_t last = std::min(i->last, j->last);
    if (first <= last) both.push_back({first, last});
    if (i->last < j->last) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

NumberSet normalized(NumberSet ranges) {
  std::ranges::sort(ranges);
  NumberSet set;
  for (const Range& range : ranges) {
    const bool touches =
        !set.empty() && (range.first <= set.back().last || range.first - 1 == set.back().last);
    if (touches) {
      set.back().last = std::max(set.back().last, range.last);
    } else {
      set.push_back(range);
    }
  }
  return set;
}

NumberSet shifted(const NumberSet& set, std::uint64_t shift, std::uint32_t width) {
  const std::uint64_t mask = low_bits(width);
  NumberSet moved;
  for (const Range& range : set) {
    const std::uint64_t first = (range.first + shift) & mask;
    const std::uint64_t last = (range.last + shift) & mask;
    if (first <= last) {
      moved.push_back({first, last});
    } else {
      moved.push_back({first, mask});
      moved.push_back({0, last});
    }
  }
  return normalized(std::move(moved));
}

NumberSet negated(const NumberSet& set, std::uint32_t width) {
  // −x = ~x + 1, and ~x runs through a range backwards.
  const std::uint64_t mask = low_bits(width);
  NumberSet inverted;
  for (const Range& range : set) inverted.push_back({~range.last & mask, ~range.first & mask});
  return shifted(normalized(std::move(inverted)), 1, width);
}

namespace {

NumberSet difference(const NumberSet& a, const NumberSet& b) {
  NumberSet rest;
  const auto* j = b.begin();
  for (Range range : a) {
    while (j != b.end() && j->last < range.first) ++j;
    bool remains = true;
    for (const auto* k = j; k != b.end() && k->first <= range.last; ++k) {
      if (k->first > range.first) rest.push_back({range.first, k->first - 1});
      remains = k->last < range.last;
      if (!remains) break;
      range.first = k->last + 1;
    }
    if (remains) rest.push_back(range);
  }
  return rest;
}

}  // namespace

SetId NumberSets::intern(const NumberSet& set) {
  const auto [found, fresh] =
      ids_.try_emplace(std::vector<Range>(set.begin(), set.end()), static_cast<SetId>(sets_.size()));
  if (fresh) {
    sets_.push_back(set);
    ranges_ += set.size() + 8;
  }
  return found->second;
}

SetId NumberSets::intersect(SetId a, SetId b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  return cached(0, a, b, [&] { return intersection(sets_[a], sets_[b]); });
}

SetId NumberSets::unite(SetId a, SetId b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  return cached(1, a, b, [&] {
    NumberSet all = sets_[a];
    all.append(sets_[b].begin(), sets_[b].end());
    return normalized(std::move(all));
  });
}

SetId NumberSets::subtract(SetId a, SetId b) {
  return cached(2, a, b, [&] { return difference(sets_[a], sets_[b]); });
}

}  // namespace lint
TMAJIT_END
