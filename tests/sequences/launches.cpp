// Steps that compile, bind and launch kernels.
#include "sequences/sequence.hpp"

#include <tmajit/codegen.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

using namespace tmajit;

namespace sequences {

void Sequence::make_kernel() {
  if (!plans_.empty() && one_in(2)) {
    note("take a kernel of a plan");
    const Planned& planned = *any(plans_);
    for (const Kernel& kernel : planned.plan.kernels()) {
      add(kernels_, std::make_shared<MadeKernel>(MadeKernel{kernel, planned.placement->device() != nullptr}));
    }
    return;
  }
  const Runtime& runtime = any_runtime();
  const auto placement = place(nullptr, any_case(), true);
  note("make kernels: " + placement->test_case().definition.text());
  for (const KernelPlan& plan : kernel_plans(*placement, runtime.chip())) {
    add(kernels_,
        std::make_shared<MadeKernel>(MadeKernel{runtime.kernel(plan), runtime.device() != nullptr}));
  }
}

void Sequence::make_custom_kernel() {
  const Runtime& runtime = any_runtime();
  note("make and launch a custom kernel");
  const Kernel kernel =
      runtime.kernel(custom_source("extern \"C\" __global__ void nothing(int) {}", "nothing"));
  add(kernels_, std::make_shared<MadeKernel>(MadeKernel{kernel, runtime.device() != nullptr}));
  int number = 1;
  const std::array<void*, 1> parameters{&number};
  const auto launch = [&] { kernel.launch(LaunchShape{.block = {32, 1, 1}}, parameters); };
  if (!runtime.device()) return must_throw(ErrorCode::unavailable, launch);
  launch();
  runtime.device()->streams().synchronize(nullptr);
}

std::shared_ptr<Sequence::Prepared> Sequence::prepare_case(const Runtime& runtime) {
  const Case& test_case = any_case();
  auto placement = place(runtime.device(), test_case, !test_case.family.empty());
  note("prepare: " + test_case.definition.text());
  auto made = std::make_shared<Prepared>(Prepared{{}, placement, runtime.chip()});
  for (const KernelPlan& plan : kernel_plans(*placement, runtime.chip())) {
    made->launches.push_back(runtime.kernel(plan).prepare(plan));
  }
  return made;
}

void Sequence::prepare() {
  const Runtime& runtime = any_runtime();
  if (runtime.device()) return add(launches_, prepare_case(runtime));
  const auto placement = place(nullptr, environment_.cases.front(), true);
  const KernelPlan plan = kernel_plans(*placement, runtime.chip()).front();
  note("prepare without a device");
  must_throw(ErrorCode::unavailable, [&] { (void)runtime.kernel(plan).prepare(plan); });
}

void Sequence::launch_all(const Prepared& prepared, Stream stream) {
  for (const PreparedLaunch& launch : prepared.launches) launch(stream);
}

void Sequence::launch() {
  if (launches_.empty()) return prepare();
  note("launch");
  const std::shared_ptr<Prepared> prepared = any(launches_);
  run_at(*prepared->placement, [&](Stream stream) { launch_all(*prepared, stream); });
}

void Sequence::rebind() {
  if (launches_.empty()) return prepare();
  const std::shared_ptr<Prepared> prepared = any(launches_);
  const Placement& from = *prepared->placement;
  // Kernels only require the same alignment.
  const bool other_shift = from.shift() % 16 == 0 && one_in(2);
  auto placement = std::make_shared<Placement>(from.device(), from.test_case(),
                                               other_shift ? 16 - from.shift() % 32 : from.shift());
  note("rebind a launch from " + std::to_string(from.shift()) + " to " + std::to_string(placement->shift()) +
       " bytes after a multiple of 256, and launch it");
  const auto addresses = operands(*placement, kernel_plans(*placement, prepared->chip));
  for (std::size_t i = 0; i < prepared->launches.size(); ++i) prepared->launches[i].rebind(addresses.at(i));
  prepared->placement = std::move(placement);
  run_at(*prepared->placement, [&](Stream stream) { launch_all(*prepared, stream); });
}

void Sequence::misuse_rebind() {
  if (launches_.empty()) return prepare();
  const std::shared_ptr<Prepared> prepared = any(launches_);
  note("rebind a launch to a wrong number of addresses");
  for (PreparedLaunch& launch : prepared->launches) {
    const std::vector<DevicePtr> many(10, DevicePtr{1} << 40);
    must_throw(ErrorCode::invalid_argument, [&] { launch.rebind(many); });
    must_throw(ErrorCode::invalid_argument, [&] { launch.rebind({}); });
  }
}

void Sequence::move_launch() {
  if (launches_.empty()) return prepare();
  const std::shared_ptr<Prepared> from = any(launches_);
  if (one_in(3)) {
    note("move launches over themselves");
    for (PreparedLaunch& launch : from->launches) {
      PreparedLaunch& same = launch;
      launch = std::move(same);
    }
    return;
  }
  note("move launches to new ones, and those over others");
  std::vector<PreparedLaunch> moved;
  for (PreparedLaunch& launch : from->launches) moved.emplace_back(std::move(launch));
  Prepared& to = *any(launches_);
  const std::size_t common = std::min(to.launches.size(), moved.size());
  std::move(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(common), to.launches.begin());
  to.launches.erase(to.launches.begin() + static_cast<std::ptrdiff_t>(common), to.launches.end());
  std::move(moved.begin() + static_cast<std::ptrdiff_t>(common), moved.end(),
            std::back_inserter(to.launches));
  to.placement = from->placement;
  to.chip = from->chip;
  if (&to != from.get()) std::erase(launches_, from);
}

void Sequence::drop_launch() {
  note("drop a launch");
  drop(launches_);
}

void Sequence::misuse_prepare() {
  const Runtime& runtime = any_runtime();
  const auto one = place(runtime.device(), environment_.cases[0], true);
  const auto other = place(runtime.device(), environment_.cases[1], true);
  note("prepare a plan of another kernel");
  const Kernel kernel = runtime.kernel(kernel_plans(*one, runtime.chip()).front());
  must_throw(runtime.device() ? ErrorCode::invalid_argument : ErrorCode::unavailable,
             [&] { (void)kernel.prepare(kernel_plans(*other, runtime.chip()).front()); });
}

void Sequence::drop_kernel() {
  if (kernels_.empty()) return;
  const std::shared_ptr<MadeKernel> made = any(kernels_);
  note("launch a kernel with too much shared memory, and drop it");
  const auto launch = [&] { made->kernel.launch(LaunchShape{.shared_bytes = 1U << 30}, {}); };
  must_throw(made->loaded ? ErrorCode::invalid_argument : ErrorCode::unavailable, launch);
  std::erase(kernels_, made);
}

}  // namespace sequences
