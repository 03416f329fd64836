#pragma once

/// Sets of numbers, each with an id by which it is known: equal sets have equal ids.
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
  friend auto operator<=>(const Range&, const Range&) = default;
};

/// Ranges in order, with numbers between them that belong to none.
using NumberSet = llvm::SmallVector<Range, 2>;

[[nodiscard]] NumberSet intersection(const NumberSet& a, const NumberSet& b);
/// The same set, of ranges in any order that may overlap.
[[nodiscard]] NumberSet in_order(NumberSet ranges);
/// The numbers x + `shift` modulo 2^width; the set's are below 2^width.
[[nodiscard]] NumberSet shifted(const NumberSet& set, std::uint64_t shift, std::uint32_t width);
/// The numbers −x modulo 2^width.
[[nodiscard]] NumberSet negated(const NumberSet& set, std::uint32_t width);

using SetId = std::uint32_t;

/// The sets that a function's conditions speak of, and their algebra; what was asked once is remembered.
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
  /// Whether there are more than a function may make.
  [[nodiscard]] bool too_many() const noexcept { return ranges_ > most_ranges; }

 private:
  static constexpr std::size_t most_ranges = 2'000'000;

  template <class Make>
  SetId remembered(std::uint64_t operation, SetId a, SetId b, const Make& make) {
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
