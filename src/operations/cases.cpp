#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace reference {
namespace {

#define TMAJIT_NAME(name) #name,
constexpr auto names = std::to_array<std::string_view>({TMAJIT_FOR_EACH_OPERATION(TMAJIT_NAME)});
#undef TMAJIT_NAME
#define TMAJIT_CASES(name) &name##_operation::cases,
constexpr std::array cases{TMAJIT_FOR_EACH_OPERATION(TMAJIT_CASES)};
#undef TMAJIT_CASES

}  // namespace

std::span<const std::string_view> all_operations() {
  return names;
}

const OperationCases& cases_of(std::string_view operation) {
  return *cases.at(static_cast<std::size_t>(std::ranges::find(names, operation) - names.begin()));
}

TestCase random_test_case(std::string_view operation, std::uint64_t kernel_seed, std::uint64_t launch_seed,
                          const CaseLimits& limits) {
  for (std::uint64_t redraws = 0;; ++redraws) {
    TestCaseDraw draw(operation, kernel_seed + (redraws << 40), launch_seed, limits);
    cases_of(operation).draw_test_case(draw);
    // Many dimensions with gaps can need too much memory: such a case is drawn again.
    const auto& buffers = draw.test_case.buffers;
    if (std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0}) <= limits.bytes)
      return std::move(draw.test_case);
  }
}

TestCase random_test_case(std::span<const std::string_view> operations, std::uint64_t kernel_seed,
                          std::uint64_t launch_seed, const CaseLimits& limits) {
  Random random(kernel_seed);
  return random_test_case(one_of(random, operations), kernel_seed, launch_seed, limits);
}

}  // namespace reference
