/// Runtimes with a fake compiler and a folder of kernels, for tests of WhenMissing.
#pragma once

#include "ops/scripted_device.hpp"
#include "runtime/fake_compiler.hpp"
#include "runtime/readiness.hpp"
#include "temporary_folder.hpp"

#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tests {

struct ServeFixture {
  static constexpr DevicePtr to_address = 0x7f00'0000'0000;
  static constexpr DevicePtr from_address = 0x7e00'0000'0000;

  TemporaryFolder folder;
  std::shared_ptr<ScriptedDevice> device =
      std::make_shared<ScriptedDevice>([](int, const LaunchShape&) { return std::int64_t{1000}; });

  ServeFixture() { fake_compiler.reset(); }
  ~ServeFixture() { fake_compiler.unblock(); }
  ServeFixture(const ServeFixture&) = delete;
  ServeFixture& operator=(const ServeFixture&) = delete;

  [[nodiscard]] RuntimeOptions options(WhenMissing when) const {
    RuntimeOptions options;
    options.device = device;
    options.cache_directory = folder.path();
    options.when_missing = when;
    return options;
  }
  [[nodiscard]] Runtime runtime(WhenMissing when = WhenMissing::serve) const {
    return make_runtime(options(when), FakeCompiler::toolchain());
  }
  /// Puts a kernel into the folder.
  void keep(const KernelPlan& plan) const {
    RuntimeOptions without_device = options(WhenMissing::compile);
    without_device.device = nullptr;
    (void)make_runtime(std::move(without_device), FakeCompiler::toolchain()).kernel(plan);
  }

  /// A transposition, which several kernels can do.
  [[nodiscard]] static Operation transposition(DevicePtr shift = 0, std::uint64_t extent = 2048) {
    return operation::permute(Tensor::contiguous(ElementType::f32, {extent, extent}, to_address + shift),
                              Tensor::contiguous(ElementType::f32, {extent, extent}, from_address + shift),
                              {1, 0});
  }
  /// The options by which runtimes without choices of their own plan.
  [[nodiscard]] PlanOptions planning() const {
    static const TuningTable shipped = TuningTable::shipped();
    return {.chip = chip_of(device->info()), .tuning = &shipped};
  }
  [[nodiscard]] KernelPlan wanted(const Operation& operation) const {
    return plan_kernels(operation, planning()).front();
  }
  /// A kernel that can do the same as wanted().
  [[nodiscard]] KernelPlan other(const Operation& operation) const {
    const KernelPlan first = wanted(operation);
    for (const KernelPlan& candidate : plan_candidates(operation.moves.front(), planning())) {
      if (candidate.key() != first.key()) return candidate;
    }
    throw std::runtime_error("only one kernel can do this");
  }
};

/// A transposition of which only another kernel than the planned one is in the folder, which is served.
struct ServedTransposition : ServeFixture {
  Operation operation = transposition();
  KernelPlan served = other(operation);

  ServedTransposition() { keep(served); }
};

}  // namespace tests
