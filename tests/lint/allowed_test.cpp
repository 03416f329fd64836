/// Allowed rules: findings can be suppressed by options, by a file, and by comments in the PTX and in its
/// source.
#include "lint/support.hpp"

#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Rules = std::vector<std::string>;

namespace {

/// A body with two mistakes: an mbarrier with a count of 0, and an mbarrier in the middle of another. Tests
/// replace COMMENT.
const std::string wrong =
    ".shared .align 8 .b64 full;\nmbarrier.init.shared::cta.b64 [full], 0;COMMENT\n"
    "mbarrier.init.shared::cta.b64 [full+4], 1;\nret;";
const Rules both = {"mbarrier.count", "mbarrier.address"};

std::string with(const std::string& comment) {
  return replace("COMMENT", comment)(entry(wrong));
}
LintResult allowing(std::vector<AllowedRule> allowed) {
  return lint_ptx(with(""), {.allowed = std::move(allowed)});
}

}  // namespace

TEST_CASE("options allow rules for all kernels or for some") {
  CHECK(rules(allowing({})) == both);
  const LintResult result = allowing({{"mbarrier.count"}});
  CHECK(rules(result) == Rules{"mbarrier.address"});
  REQUIRE(result.allowed.size() == 1);
  CHECK(result.allowed[0].rule == "mbarrier.count");
  CHECK_THAT(result.report, !ContainsSubstring("mbarrier.count"));
  CHECK(rules(allowing({{"mbarrier.count", "k"}, {"mbarrier.address", "?"}})).empty());
  CHECK(rules(allowing({{"mbarrier.count", "other*"}})) == both);
  CHECK_THROWS_MATCHES(
      allowing({{"mbarier.count"}}), Error,
      MessageMatches(ContainsSubstring("no rule is called mbarier.count; did you mean mbarrier.count?")));
}

TEST_CASE("each line of a file allows a rule") {
  const auto allowed = parse_allowed_rules(
      "# what we know of\n\nmbarrier.count   # set by another\n  store.missing-barrier gemm_* # a warp\n",
      "allow.txt");
  REQUIRE(allowed.size() == 2);
  CHECK(allowed[0].rule == "mbarrier.count");
  CHECK(allowed[0].kernel == "*");
  CHECK(allowed[1].rule == "store.missing-barrier");
  CHECK(allowed[1].kernel == "gemm_*");
  CHECK_THROWS_MATCHES(parse_allowed_rules("\nmbarrier.counts", "allow.txt"), Error,
                       MessageMatches(ContainsSubstring("allow.txt:2: no rule is called mbarrier.counts")));
  CHECK_THROWS_MATCHES(parse_allowed_rules("mbarrier.count k because", "allow.txt"), Error,
                       MessageMatches(ContainsSubstring("allow.txt:1: because is one word too many")));
}

TEST_CASE("a comment in the PTX allows rules on its line and the next") {
  CHECK(rules(lint_ptx(with(" // tmajit-allow: mbarrier.count"))) == Rules{"mbarrier.address"});
  CHECK(rules(lint_ptx(with(" // tmajit-allow: mbarrier.count, mbarrier.address"))).empty());
  CHECK(rules(lint_ptx(with(" /* tmajit-allow: mbarrier.count as it is set later */"))) ==
        Rules{"mbarrier.address"});
  // A comment does not apply two lines below it.
  CHECK(rules(lint_ptx(with("\n// tmajit-allow: mbarrier.count\n\n"))) == both);
  const LintResult unknown = lint_ptx(with(" // tmajit-allow: mbarrier.counts"));
  CHECK(rules(unknown) == Rules{"mbarrier.count", "allow.unknown", "mbarrier.address"});
  CHECK(unknown.findings[1].severity == Severity::advice);
  CHECK_THAT(unknown.report,
             ContainsSubstring("warning: allow.unknown: no rule is called mbarrier.counts; did you"));
}

TEST_CASE("a comment in the CUDA source allows rules if the source can be read") {
  const std::string ptx =
      entry(".shared .align 8 .b64 full;\n.loc 1 3 5\nmbarrier.init.shared::cta.b64 [full], 0;\nret;", {},
            ".file 1 \"/somewhere/kernel.cu\"");
  std::string asked;
  LintOptions options;
  options.read_source = [&](const std::string& path) -> std::optional<std::string> {
    asked = path;
    return "void kernel() {\n  // tmajit-allow: mbarrier.count\n  init(full, 0);\n}\n";
  };
  CHECK(rules(lint_ptx(ptx)) == Rules{"mbarrier.count"});
  CHECK(rules(lint_ptx(ptx, options)).empty());
  CHECK(asked == "/somewhere/kernel.cu");
  options.read_source = [](const std::string&) { return std::nullopt; };
  CHECK(rules(lint_ptx(ptx, options)) == Rules{"mbarrier.count"});
}

TEST_CASE("a finding has the severity of its rule") {
  CHECK(allowing({}).findings[0].severity == Severity::mistake);
  REQUIRE(find_rule("mbarrier.init-not-fenced") != nullptr);
  CHECK(find_rule("mbarrier.init-not-fenced")->severity == Severity::omission);
  CHECK(find_rule("copy.swizzle-base")->severity == Severity::omission);
  CHECK(std::string(name(Severity::omission)) == "omission");
}
