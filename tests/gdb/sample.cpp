/// Values for the printers of tools/gdb: printers_test.py stops in stop() and prints them.
#include "kernel/plan_state.hpp"
#include "ops/move_plan.hpp"

#include <tmajit/move.hpp>
#include <tmajit/plan.hpp>

using namespace tmajit;

namespace {

volatile int stops = 0;

[[gnu::noinline]] void stop() {
  stops = stops + 1;
}

}  // namespace

int main() {
  const Dims dims{8, 512, 16};
  const Dims none{};
  const Tensor source = Tensor::contiguous(ElementType::f32, {512, 1024}, 0x1000);
  const TensorView turned = permuted(source, {1, 0}).view;
  const Operation transpose =
      operation::permute(Tensor::contiguous(ElementType::f32, {1024, 512}, 0x400000), source, {1, 0});
  const KernelPlan kernel_plan = plan_kernels(transpose).front();
  const KernelChoice choice = kernel_plan.choice();
  const LaunchShape shape{
      .grid = {4, 2, 1}, .block = {128, 1, 1}, .shared_bytes = 1024, .cluster = {2, 1, 1}};
  // Without elements there is nothing to compile.
  const Runtime runtime({.device = nullptr, .cache_directory = std::nullopt});
  const TensorView empty = TensorView::contiguous(ElementType::u8, {0});
  const Plan nothing = plan(runtime, operation::copy(Tensor(empty, 0x100), Tensor(empty, 0x200)));
  stop();
  return dims.size() + none.size() + shape.grid.size() + choice.numbers.size() + nothing.plans().size() >
                 turned.rank
             ? 0
             : 1;
}
