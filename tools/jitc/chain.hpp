#pragma once

#include "problem.hpp"

#include <tmajit/fusion.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// Adds --then to `command`: further operations as texts. `then` must outlive the parse.
void add_then_option(CLI::App& command, std::vector<std::string>& then);

/// An operation, and those of --then. Each reads the first output of the operation before it as its first
/// input.
struct Chain {
  std::vector<Problem> steps;  ///< at least one

  [[nodiscard]] const Problem& first() const { return steps.front(); }
  [[nodiscard]] const Problem& last() const { return steps.back(); }
  [[nodiscard]] bool is_single() const { return steps.size() == 1; }
  /// Whether results are combined with the previous content of any output.
  [[nodiscard]] bool combines() const;

  /// Addresses of each step's arrays for plans that never run.
  [[nodiscard]] std::vector<Addresses> planning_addresses() const;
  /// The operations to run on arrays at these addresses. Several steps are fused; a single one is unchanged.
  [[nodiscard]] tmajit::Fusion fusion(const std::vector<Addresses>& at) const;
};

/// Interprets the options of the first operation and the texts of --then. Throws what make_problem() throws.
/// Errors of --then name its number and its text.
[[nodiscard]] Chain make_chain(const ProblemOptions& first, const std::vector<std::string>& then,
                               Purpose purpose);

/// "3 operations in 1 kernel"
[[nodiscard]] std::string describe_kernels(const Chain& chain, std::size_t kernels);

}  // namespace jitc
