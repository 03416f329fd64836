/// docs/architecture.md lists the library's families.
#include <tmajit/kernel_plan.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;

namespace {

std::string row(const FamilyInfo& family) {
  return fmt::format("| `{}` | {} | {} | {} |", family.name, family.summary,
                     family.max_inputs == 0   ? "none"
                     : family.max_inputs == 1 ? "1"
                                              : fmt::format("1 to {}", family.max_inputs),
                     !family.does("tiles")          ? "the planner"
                     : family.operations[1].empty() ? "the caller"
                                                    : "the caller or the planner");
}

}  // namespace

TEST_CASE("the table of families in docs/architecture.md agrees with families()") {
  std::ifstream file(TMAJIT_ARCHITECTURE_PAGE);
  REQUIRE(file.good());
  std::string wanted;
  for (const FamilyInfo& family : families()) wanted += row(family) + "\n";
  std::string found;
  const std::string head = "| family | what its kernels do | inputs | who chooses the tile |";
  for (std::string line; std::getline(file, line);) {
    if (line != head) continue;
    std::getline(file, line);  // | --- | --- | …
    while (std::getline(file, line) && line.starts_with("|")) found += line + "\n";
  }
  CHECK(found == wanted);
}
