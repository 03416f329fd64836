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
      add(kernels_, std::make_shared<Made>(Made{kernel, planned.at->device() != nullptr}));
    }
    return;
  }
  const Runtime& runtime = any_runtime();
  const auto at = place(nullptr, any_case(), true);
  note("make kernels: " + at->what().drawn.text());
  for (const KernelPlan& plan : kernel_plans(*at, runtime.chip())) {
    add(kernels_, std::make_shared<Made>(Made{runtime.kernel(plan), runtime.device() != nullptr}));
  }
}

void Sequence::make_custom_kernel() {
  const Runtime& runtime = any_runtime();
  note("make and launch a custom kernel");
  const Kernel kernel =
      runtime.kernel(custom_source("extern \"C\" __global__ void nothing(int) {}", "nothing"));
  add(kernels_, std::make_shared<Made>(Made{kernel, runtime.device() != nullptr}));
  int number = 1;
  const std::array<void*, 1> parameters{&number};
  const auto launch = [&] { kernel.launch(LaunchShape{.block = {32, 1, 1}}, parameters); };
  if (!runtime.device()) return must_throw(ErrorCode::unavailable, launch);
  launch();
  runtime.device()->streams().synchronize(nullptr);
}

std::shared_ptr<Sequence::Prepared> Sequence::prepared(const Runtime& runtime) {
  const Case& what = any_case();
  auto at = place(runtime.device(), what, !what.family.empty());
  note("prepare: " + what.drawn.text());
  auto made = std::make_shared<Prepared>(Prepared{{}, at, runtime.chip()});
  for (const KernelPlan& plan : kernel_plans(*at, runtime.chip())) {
    made->launches.push_back(runtime.kernel(plan).prepare(plan));
  }
  return made;
}

void Sequence::prepare() {
  const Runtime& runtime = any_runtime();
  if (runtime.device()) return add(launches_, prepared(runtime));
  const auto at = place(nullptr, environment_.cases.front(), true);
  const KernelPlan plan = kernel_plans(*at, runtime.chip()).front();
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
  run_at(*prepared->at, [&](Stream stream) { launch_all(*prepared, stream); });
}

void Sequence::rebind() {
  if (launches_.empty()) return prepare();
  const std::shared_ptr<Prepared> prepared = any(launches_);
  const Placement& from = *prepared->at;
  // Kernels only require the same alignment.
  const bool far = from.shift() % 16 == 0 && one_in(2);
  auto at =
      std::make_shared<Placement>(from.device(), from.what(), far ? 16 - from.shift() % 32 : from.shift());
  note("rebind a launch from " + std::to_string(from.shift()) + " to " + std::to_string(at->shift()) +
       " bytes after a multiple of 256, and launch it");
  const auto addresses = operands(*at, kernel_plans(*at, prepared->chip));
  for (std::size_t i = 0; i < prepared->launches.size(); ++i) prepared->launches[i].rebind(addresses.at(i));
  prepared->at = std::move(at);
  run_at(*prepared->at, [&](Stream stream) { launch_all(*prepared, stream); });
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
  const std::size_t both = std::min(to.launches.size(), moved.size());
  std::move(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(both), to.launches.begin());
  to.launches.erase(to.launches.begin() + static_cast<std::ptrdiff_t>(both), to.launches.end());
  std::move(moved.begin() + static_cast<std::ptrdiff_t>(both), moved.end(), std::back_inserter(to.launches));
  to.at = from->at;
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
  const std::shared_ptr<Made> made = any(kernels_);
  note("launch a kernel with too much shared memory, and drop it");
  const auto launch = [&] { made->kernel.launch(LaunchShape{.shared_bytes = 1U << 30}, {}); };
  must_throw(made->loaded ? ErrorCode::invalid_argument : ErrorCode::unavailable, launch);
  std::erase(kernels_, made);
}

}  // namespace sequences
