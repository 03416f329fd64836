#pragma once

/// Sets of numbers, each with an id. Equal sets have equal ids.
#include <tmajit/version.hpp>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/SmallVector.h>

TMAJIT_BEGIN
namespace lint {

/// The numbers from `first` to `last`, both included.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is compared
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// Ranges in ascending order. Between two neighbours at least one number is missing.
using NumberSet = llvm::SmallVector<Range, 2>;

[[nodiscard]] NumberSet intersection(const NumberSet& a, const NumberSet& b);
/// The set of the numbers in `ranges`, which may overlap and have any order.
[[nodiscard]] NumberSet normalized(NumberSet ranges);
/// The numbers x + `shift` modulo 2^width for x in `set`, which are below 2^width.
[[nodiscard]] NumberSet shifted(const NumberSet& set, std::uint64_t shift, std::uint32_t width);
/// The numbers −x modulo 2^width for x in `set`.
[[nodiscard]] NumberSet negated(const NumberSet& set, std::uint32_t width);

using SetId = std::uint32_t;

/// The sets in a function's conditions, and operations on them, whose results are cached.
class NumberSets {
 public:
  NumberSets() { sets_.emplace_back(), ids_.try_emplace({}, empty); }

  static constexpr SetId empty = 0;
  [[nodiscard]] SetId intern(const NumberSet& set);
  [[nodiscard]] const NumberSet& operator[](SetId id) const { return sets_[id]; }

  [[nodiscard]] SetId intersect(SetId a, SetId b);
  [[nodiscard]] SetId unite(SetId a, SetId b);
  /// The numbers of `a` that are not in `b`.
  [[nodiscard]] SetId subtract(SetId a, SetId b);
  [[nodiscard]] bool includes(SetId all, SetId part) { return intersect(all, part) == part; }
  [[nodiscard]] bool is_single(SetId id) const {
    return sets_[id].size() == 1 && sets_[id].front().first == sets_[id].front().last;
  }
  /// Whether there are more sets than one function may have.
  [[nodiscard]] bool too_many() const noexcept { return ranges_ > max_ranges; }

 private:
  static constexpr std::size_t max_ranges = 2'000'000;

  template <class Make>
  SetId cached(std::uint64_t operation, SetId a, SetId b, const Make& make) {
    const std::uint64_t key = operation << 62 | std::uint64_t{a} << 31 | b;
    if (const auto found = results_.find(key); found != results_.end()) return found->second;
    const SetId id = intern(make());
    results_.emplace(key, id);
    return id;
  }

  std::vector<NumberSet> sets_;
  std::map<std::vector<Range>, SetId> ids_;
  std::unordered_map<std::uint64_t, SetId> results_;  ///< by operation and operands
  std::size_t ranges_ = 0;  ///< used memory: each set counts as its ranges and 8 more
};

}  // namespace lint
TMAJIT_END
