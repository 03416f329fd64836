/// The PTX version and the target that instructions need.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

namespace target_test {

using Rules = std::vector<std::string>;

TEST_CASE("instructions must exist in the module's target and PTX version") {
  const auto module = [](const std::string& version, const std::string& target, const std::string& body) {
    return rules(lint_ptx(".version " + version + "\n.target " + target +
                          "\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n" + body +
                          "\nret;\n}\n"));
  };
  CHECK(module("8.0", "sm_90", "cp.async.bulk.commit_group;").empty());
  CHECK(module("7.8", "sm_90", "cp.async.bulk.commit_group;") == Rules{"target.version"});
  CHECK(module("8.0", "sm_80", "cp.async.bulk.commit_group;") == Rules{"target.architecture"});
  CHECK(module("8.0", "sm_90a", "setmaxnreg.inc.sync.aligned.u32 232;").empty());
  CHECK(module("8.0", "sm_90", "setmaxnreg.inc.sync.aligned.u32 232;") == Rules{"target.feature"});
  CHECK(module("8.0", "sm_90", "wgmma.fence.sync.aligned;") == Rules{"target.feature"});
  CHECK(module("8.0", "sm_90, debug", "fence.proxy.async;").empty());
  CHECK(module("7.8", "sm_90", "fence.proxy.alias;").empty());
  const std::string fma = "fma.rn.oob.f16x2 %r1, %r0, %r0, %r0;";
  CHECK(module("8.1", "sm_90", fma).empty());
  CHECK(module("8.0", "sm_90", fma) == Rules{"target.version"});
  CHECK(module("8.1", "sm_89", fma) == Rules{"target.architecture"});
  CHECK(module("7.0", "sm_80", "fma.rn.relu.f16x2 %r1, %r0, %r0, %r0;").empty());
}

}  // namespace target_test
