#include "random_problem.hpp"

#include "operations/cases.hpp"
#include "planning.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8};
constexpr std::array<std::string_view, 6> moves{"permute", "pad", "slice", "flip", "concat", "cast"};
constexpr std::size_t move_kinds = types.size() * moves.size();
/// Further operations, as often as they stand here, for each move of each type.
constexpr std::array<std::string_view, 6> further{"reduce", "reduce", "reduce", "scan", "scan", "broadcast"};

/// The operation of a problem. Moves of a type come in succession, so that few problems have all of them.
std::string_view operation_of(ProblemKinds kinds, std::uint64_t number) {
  if (kinds == ProblemKinds::reductions) return "reduce";
  const std::uint64_t k = number % (kinds == ProblemKinds::moves ? move_kinds : move_kinds + further.size());
  return k < move_kinds ? moves.at(k / types.size()) : further.at(k - move_kinds);
}

/// Independent of the seeds of other problems.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t bits = seed * 0x9e3779b97f4a7c15ULL + number;
  bits = (bits ^ (bits >> 31U)) * 0xbf58476d1ce4e5b9ULL;
  return bits ^ (bits >> 29U);
}

tmajit::DevicePtr placed(tmajit::DevicePtr buffer, bool shifted, const std::vector<Array>& arrays) {
  return shifted && !arrays.empty() ? buffer + tmajit::size_of(arrays.front().type) : buffer;
}

}  // namespace

RandomProblem random_problem(ProblemKinds kinds, std::uint64_t seed, std::uint64_t number) {
  Random placement(mixed(seed, number));
  const bool is_small = placement.one_in(4);
  const bool is_shifted = placement.one_in(4);
  BenchmarkCaseDraw drawn(mixed(seed, number) + 1, is_small);
  const std::string_view operation = operation_of(kinds, number);
  drawn.type = types.at(number % types.size());
  drawn.number = placement.below(1000);  // selects the types of a cast
  const bool has_type = kinds != ProblemKinds::reductions && operation != "cast" && operation != "reduce" &&
                        operation != "scan";
  return {
      .group = has_type ? fmt::format("{} {}", operation, tmajit::name(drawn.type)) : std::string(operation),
      .made = reference::cases_of(operation).draw_benchmark_case(drawn),
      .is_shifted = is_shifted,
      // Reductions and scans add floating-point numbers in an order that depends on the kernel.
      .may_be_served = operation != "reduce" && operation != "scan"};
}

tmajit::Operation RandomProblem::at(tmajit::DevicePtr destination, tmajit::DevicePtr source) const {
  return operation_of(made, placed(destination, is_shifted, made.destinations),
                      placed(source, is_shifted, made.sources));
}

tmajit::Operation RandomProblem::operation() const {
  return at(some_destination, some_source);
}

}  // namespace bench
