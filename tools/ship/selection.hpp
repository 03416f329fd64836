#pragma once

#include "draws.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ship {

/// The kernels of random problems, the most needed first.
class Selection {
 public:
  using Progress = std::function<void(std::uint64_t done)>;
  /// Plans `count` problems for each chip.
  Selection(std::uint64_t seed, std::uint64_t count, const Progress& progress = {});

  [[nodiscard]] const std::vector<tmajit::KernelPlan>& kernels() const noexcept { return kernels_; }
  /// The keys (KernelPlan::key()) of the first `count` kernels.
  [[nodiscard]] std::set<std::string, std::less<>> keys(std::size_t count) const;

 private:
  std::vector<tmajit::KernelPlan> kernels_;
};

/// How many problems need no further kernel than those of a pack.
struct Coverage {
  struct Share {
    std::uint64_t covered = 0;
    std::uint64_t problems = 0;
    [[nodiscard]] double percent() const;
  };
  Share all;
  std::map<std::string, Share> groups;
};
/// Those of `count` problems of a seed that the library can do, on the first of chips().
[[nodiscard]] Coverage coverage(const std::set<std::string, std::less<>>& keys, Kinds kinds,
                                std::uint64_t seed, std::uint64_t count);

}  // namespace ship
