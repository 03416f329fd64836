/// Kernels that store and wait under two differently written conditions. The kernels whose conditions are
/// equivalent must have no findings; a mutant of each, whose conditions differ, must have one.
#include "lint/support.hpp"

#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

TEST_CASE("a wait under a condition equivalent to the store's is clean, under another one it is a finding") {
  const LintResult correct = lint_ptx(idioms(false).ptx);
  INFO(correct.report);
  CHECK(correct.findings.empty());
  CHECK(correct.unfinished.empty());
  CHECK(correct.kernels.size() >= 25);

  const LintResult wrong = lint_ptx(idioms(true).ptx);
  std::set<std::string> named;
  for (const Finding& finding : wrong.findings) {
    INFO(finding.kernel);
    CHECK(finding.rule == "exit.store-unread");
    named.insert(finding.kernel);
  }
  for (const std::string& kernel : wrong.kernels) {
    INFO(kernel);
    CHECK(named.count(kernel) == 1);
  }
}
