// Tests that a simulated device can be used while a process exits.
#include "at_process_end.hpp"
#include "runtime/child_process.hpp"
#include "sim/support.hpp"

#include <tmajit/lint.hpp>

#include <chrono>
#include <cstdlib>
#include <memory>

namespace exit_test {

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

tests::AtProcessEnd at_process_end;

}  // namespace

TEST_CASE("the destructor of the last static object can load and launch on a simulated device") {
  ChildProcess child([]() -> int {
    const auto runs = [] {
      const auto device = make_sim_device({.memory_bytes = 1 << 20});
      const Artifact artifact = tests::module_of(".reg .u32 %r1;\nmov.u32 %r1, %tid.x;\nret;", 0);
      device->kernels().load(artifact)->launch({.block = {32, 1, 1}}, {}, nullptr);
      device->streams().synchronize(nullptr);
      return device->thread_instructions() > 0 && lint_ptx(artifact.ptx).findings.empty();
    };
    if (!runs()) return 2;
    at_process_end.run = [=] { return runs() ? 0 : 3; };
    std::exit(4);  // NOLINT(concurrency-mt-unsafe): the subject of this test
  });
  CHECK(child.exit_code(30s) == 0);
}

}  // namespace exit_test
