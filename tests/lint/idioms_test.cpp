/// Ways in which a kernel says twice under what condition it stores and waits: the correct ones are clean,
/// and of each a mutant is named.
#include "lint/support.hpp"

#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

TEST_CASE("conditions that imply one another are no findings, those that do not are") {
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
