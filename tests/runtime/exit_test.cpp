// Tests which calls a process may still make while it exits, when other threads still run and static objects
// are destroyed in any order.
#include "at_process_end.hpp"
#include "runtime/child_process.hpp"
#include "runtime/fake_device.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/move.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

tests::AtProcessEnd at_process_end;

/// Plans with every kind of family that suits the matrices, and generates the sources.
bool plans_are_right() {
  constexpr std::array<std::uint64_t, 2> shape{300, 500};
  constexpr std::array<std::uint64_t, 2> turned{500, 300};
  constexpr std::array<std::uint32_t, 2> axes{1, 0};
  const Tensor from{TensorView::contiguous(ElementType::f32, shape), 0x7f00'0000'0000};
  const Tensor same{TensorView::contiguous(ElementType::f32, shape), 0x7e00'0000'0000};
  const Tensor other{TensorView::contiguous(ElementType::f32, turned), 0x7e00'0000'0000};
  bool right = find_family("bulk").name == "bulk" && families().front().name == "rows";
  for (const Operation& operation :
       {operation::permute(other, from, axes), operation::map(same, "x0 + g[0]", std::array{from})}) {
    const KernelPlan kernel = plan_kernels(operation).front();
    right = right && source(kernel).text.find(kernel.family().name) != std::string::npos;
    right = right && !kernel.choice().text().empty() && !kernel.why().empty();
  }
  return right;
}

}  // namespace

TEST_CASE("the destructor of the last static object can plan, launch and explain") {
  ChildProcess child([]() -> int {
    auto device = std::make_shared<FakeDevice>();
    const Runtime runtime({.device = device, .cache_directory = std::nullopt});
    constexpr std::array<std::uint64_t, 1> shape{4096};
    const Tensor from{TensorView::contiguous(ElementType::f32, shape), 0x7f00'0000'0000};
    const Tensor to{TensorView::contiguous(ElementType::f32, shape), 0x7e00'0000'0000};
    const Plan move = plan(runtime, operation::copy(to, from));
    copy(runtime, to, from);
    if (!plans_are_right()) return 2;
    at_process_end.run = [=] {
      move();
      copy(runtime, to, from);
      const bool explained = !move.explain().text().empty();
      return plans_are_right() && explained && device->launches == 3 ? 0 : 3;
    };
    std::exit(4);  // NOLINT(concurrency-mt-unsafe): the subject of this test
  });
  CHECK(child.exit_code(30s) == 0);
}
