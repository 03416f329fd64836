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

/// Ranges in ascending order, with at least one number between neighbours that is in neither.
using NumberSet = llvm::SmallVector<Range, 2>;

[[nodiscard]] NumberSet intersection(const NumberSet& a, const NumberSet& b);
/// Makes a set of ranges that may overlap and have any order.
[[nodiscard]] NumberSet in_order(NumberSet ranges);
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

  [[nodiscard]] SetId both(SetId a, SetId b);
  [[nodiscard]] SetId either(SetId a, SetId b);
  [[nodiscard]] SetId without(SetId a, SetId b);
  [[nodiscard]] bool includes(SetId all, SetId part) { return both(all, part) == part; }
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
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const SetId id = intern(make());
    known_.emplace(key, id);
    return id;
  }

  std::vector<NumberSet> sets_;
  std::map<std::vector<Range>, SetId> ids_;
  std::unordered_map<std::uint64_t, SetId> known_;
  std::size_t ranges_ = 0;
};

}  // namespace lint
TMAJIT_END
