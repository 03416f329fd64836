/// The list of rules that lint and the simulator share.
#include "check/kernel_name.hpp"
#include "lint/support.hpp"

#include <tmajit/finding.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

std::string page(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every rule has a meaning, what is legal, a remedy and a source") {
  std::string_view before;
  for (const Rule& rule : check_rules()) {
    CAPTURE(rule.id);
    CHECK(before < rule.id);
    CHECK(rule.meaning.ends_with('.'));
    CHECK_FALSE(rule.legal.empty());
    CHECK_FALSE(rule.remedy.empty());
    CHECK_FALSE(rule.source.empty());
    CHECK(find_rule(rule.id) == &rule);
    before = rule.id;
  }
  CHECK(find_rule("no.such-rule") == nullptr);
  CHECK(find_rule("") == nullptr);
}

TEST_CASE("rules name PTX and CUDA, and functions of the device headers only for kernels that use these") {
  for (const Rule& rule : check_rules()) {
    for (const char* const ours :
         {"fence_proxy_async_shared(", "fence_mbarrier_init(", "TensorMapSpec", "DeviceMaps", "tmajit::"}) {
      CAPTURE(rule.id);
      CHECK(std::string(rule.remedy).find(ours) == std::string::npos);
      CHECK(std::string(rule.legal).find(ours) == std::string::npos);
    }
  }
  const auto remedy = [](const std::string& before) {
    const LintResult result = lint_ptx(tests::entry(
        ".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nmov.u64 %rd0, 4096;\nmov.u32 %r1, buffer;\nst.shared.u32 "
        "[%r1], 1;\nbar.sync 0;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 16;\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;\nret;",
        {}, ".shared .align 128 .b8 buffer[128];\n" + before));
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].rule == "store.missing-proxy-fence");
    return result.findings[0].remedy;
  };
  CHECK(remedy("") == find_rule("store.missing-proxy-fence")->remedy);
  CHECK(remedy(".file 1 \"scale.cu\"\n") == find_rule("store.missing-proxy-fence")->remedy);
  for (const char* const header : {".file 1 \"tmajit/fence.cuh\"\n", ".global .u32 _ZN6tmajit5countE;\n"})
    CHECK(remedy(header).ends_with(": ptx::fence_proxy_async_shared()"));
}

TEST_CASE("docs/sim.md and docs/lint.md list every rule") {
  const std::string folder = TMAJIT_DOCUMENTATION;
  const std::string pages = page(folder + "/sim.md") + page(folder + "/lint.md");
  for (const Rule& rule : check_rules()) {
    CAPTURE(rule.id);
    CHECK(pages.find("`" + std::string(rule.id) + "`") != std::string::npos);
  }
}

TEST_CASE("kernels are shown by demangled names, with long argument lists shortened") {
  CHECK(check::shown_name("tmajit_map") == "tmajit_map");
  CHECK(check::shown_name("_Z5scaleILi3EfEvPT0_") == "scale<3, float>(float*)");
  // scale<int, int …> with thirty arguments.
  std::string many = "_Z5scaleIJ";
  for (int i = 0; i < 30; ++i) many += "i";
  CHECK(check::shown_name(many + "EEvv") == "scale<…>");
  std::string plain = "_Z5scale";
  for (int i = 0; i < 60; ++i) plain += "i";
  CHECK(check::shown_name(plain) == "scale(…)");
  // The name of a variable, which has no arguments to leave out.
  CHECK(check::shown_name("_Z150" + std::string(150, 'x')) == std::string(150, 'x'));
  for (const char* const damaged : {"", "_Z", "_Z5scal", "_ZN"}) CHECK(check::shown_name(damaged) == damaged);
}
