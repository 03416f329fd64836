#include "cluster_cases.hpp"

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::uint64_t repeats = 32;

/// An expression of tables, each of which repeats for all rows of the destination.
struct Tables {
  std::string expression;
  std::size_t count = 1;
  ElementType from = ElementType::f32;
  ElementType to = ElementType::f32;
};

Case tables_case(const Tables& tables, bool tiny) {
  const std::uint64_t columns = tiny ? 96 : MiB / tmajit::size_of(tables.to);
  return {.group = "cluster",
          .name = fmt::format("{} of {} to {}x{}", tables.expression, tables.count == 1 ? "a row" : "rows",
                              repeats, columns),
          .kind = Kind::map,
          .sources = std::vector<Array>(tables.count, {tables.from, {1, columns}}),
          .destinations = {{tables.to, {repeats, columns}}},
          .expression = tables.expression,
          .peers = Peers::none};
}

}  // namespace

std::vector<Case> cluster_cases(bool tiny) {
  using enum ElementType;
  std::vector<Case> cases;
  for (const Tables& tables : {Tables{"2a+1"}, Tables{"a+b+c", 3}, Tables{"a+b+c", 3, f64, f32},
                               Tables{"a+b+c", 3, f32, bf16}, Tables{"a+b+c", 3, bf16, bf16}}) {
    cases.push_back(tables_case(tables, tiny));
  }
  return cases;
}

}  // namespace bench
