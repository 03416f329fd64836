#pragma once

#include "operations/cases.hpp"

#include <tmajit/move.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace sequences {

/// A small operation with its data and its expected results. Thousands of sequences use the same few cases,
/// so that few kernels must be compiled.
struct Case {
  reference::TestCase definition;  ///< the operation, its arguments and tensors
  std::string_view family = {};    ///< family for plan_tiles(); empty: the planner chooses
  reference::Buffers before = {};
  reference::Expected expected = {};
  /// Buffers may be moved by this number of bytes; their elements are still aligned then.
  std::uint64_t unit = 1;
};

/// Returns cases of every kind of operation, and some for plan_tiles().
[[nodiscard]] std::vector<Case> make_cases();

/// A case's buffers: in a device's memory or, without a device, at unused addresses.
class Placement {
 public:
  /// Places every buffer `shift` bytes after a multiple of 256.
  Placement(std::shared_ptr<tmajit::Device> device, const Case& test_case, std::uint64_t shift);

  [[nodiscard]] const Case& test_case() const { return case_; }
  [[nodiscard]] const std::shared_ptr<tmajit::Device>& device() const { return device_; }
  [[nodiscard]] std::uint64_t shift() const { return shift_; }
  [[nodiscard]] tmajit::Operation operation() const;
  [[nodiscard]] std::vector<tmajit::DevicePtr> destinations() const;
  [[nodiscard]] std::vector<tmajit::DevicePtr> sources() const;

  /// Writes the buffers' initial content.
  void write(tmajit::Stream stream) const;
  /// Waits for `stream`; throws Failure unless the buffers have the expected content after the operation.
  void check(tmajit::Stream stream) const;

 private:
  std::shared_ptr<tmajit::Device> device_;
  const Case& case_;
  std::uint64_t shift_;
  tmajit::Buffer memory_;
  std::vector<tmajit::DevicePtr> addresses_;
};

/// Plans a case's kernels at a placement, by plan_tiles() or by the planner.
[[nodiscard]] std::vector<tmajit::KernelPlan> kernel_plans(const Placement& placement,
                                                           const tmajit::Chip& chip);

/// Returns the addresses that PreparedLaunch::rebind() takes for each of those kernels.
[[nodiscard]] std::vector<std::vector<tmajit::DevicePtr>> operands(
    const Placement& placement, const std::vector<tmajit::KernelPlan>& plans);

/// Executes the case by the function of its operation.
void call(const tmajit::Runtime& runtime, const Placement& placement, tmajit::Stream stream);

}  // namespace sequences
