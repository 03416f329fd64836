#pragma once

#include "bench/cases/random_problem.hpp"
#include "choices.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ship {

/// The kernels of random problems, the most needed first.
class Selection {
 public:
  using Progress = std::function<void(std::uint64_t done)>;
  /// Plans `problems` problems for each chip. At most one in twenty of the first `kernels` is a stand-in: it
  /// can do problems that none of the others can do. `progress` counts up to twice `problems`.
  Selection(std::uint64_t seed, std::uint64_t problems, std::size_t kernels, const Progress& progress = {});

  [[nodiscard]] const std::vector<tmajit::KernelPlan>& kernels() const noexcept { return kernels_; }
  /// The keys of the first `count` kernels.
  [[nodiscard]] Keys keys(std::size_t count) const;

 private:
  /// Kernels for the problems that the first `count` kernels cannot do, at most `most`.
  [[nodiscard]] std::vector<tmajit::KernelPlan> stand_ins(std::size_t count, std::size_t most,
                                                          std::uint64_t seed, std::uint64_t problems,
                                                          const Progress& progress) const;

  std::vector<tmajit::KernelPlan> kernels_;
};

/// How many problems need no further kernel than those of a pack.
struct Coverage {
  struct Share {
    std::uint64_t planned = 0;  ///< problems all of whose planned kernels are there
    std::uint64_t served = 0;   ///< further problems that other kernels serve (WhenMissing::serve)
    std::uint64_t problems = 0;
    [[nodiscard]] std::uint64_t covered() const noexcept { return planned + served; }
  };
  Share all;
  std::map<std::string, Share> groups;
  /// For each served problem, the predicted speed as a part of that of the planned kernels.
  std::vector<double> speeds;
};
/// Those of `count` problems of a seed that the library can do, on the first of chips().
[[nodiscard]] Coverage coverage(const Keys& keys, bench::ProblemKinds kinds, std::uint64_t seed,
                                std::uint64_t count);

}  // namespace ship
