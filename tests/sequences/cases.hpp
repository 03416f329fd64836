#pragma once

#include "operations/cases.hpp"

#include <tmajit/move.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace sequences {

/// A small operation with its data and its expected results. There are few of them, so that their kernels are
/// compiled once for thousands of sequences.
struct Case {
  reference::RandomCase drawn;
  std::string_view family = {};  ///< family whose tiles plan_tiles() makes for it; empty: none
  reference::Buffers before = {};
  reference::Expected expected = {};
  /// Bytes by which buffers may be moved so that their elements stay aligned.
  std::uint64_t unit = 1;
};

/// Cases of every kind of operation, and some with chosen tiles.
[[nodiscard]] std::vector<Case> make_cases();

/// A case's buffers in a device's memory or, without a device, at addresses without memory.
class Placement {
 public:
  /// Places every buffer `shift` bytes after a multiple of 256.
  Placement(std::shared_ptr<tmajit::Device> device, const Case& what, std::uint64_t shift);

  [[nodiscard]] const Case& what() const { return what_; }
  [[nodiscard]] const std::shared_ptr<tmajit::Device>& device() const { return device_; }
  [[nodiscard]] std::uint64_t shift() const { return shift_; }
  [[nodiscard]] tmajit::Operation operation() const;
  [[nodiscard]] std::vector<tmajit::DevicePtr> destinations() const;
  [[nodiscard]] std::vector<tmajit::DevicePtr> sources() const;

  /// Writes the buffers' content before the operation.
  void write(tmajit::Stream stream) const;
  /// Waits for `stream`; throws Failure unless the buffers have the expected content after the operation.
  void check(tmajit::Stream stream) const;

 private:
  std::shared_ptr<tmajit::Device> device_;
  const Case& what_;
  std::uint64_t shift_;
  tmajit::Buffer memory_;
  std::vector<tmajit::DevicePtr> addresses_;
};

/// The kernels of a case at a placement: its tiles, or the planner's choice.
[[nodiscard]] std::vector<tmajit::KernelPlan> kernel_plans(const Placement& at, const tmajit::Chip& chip);

/// Returns the addresses that PreparedLaunch::rebind() takes for each of those kernels.
[[nodiscard]] std::vector<std::vector<tmajit::DevicePtr>> operands(
    const Placement& at, const std::vector<tmajit::KernelPlan>& plans);

/// Runs the case in one call.
void call(const tmajit::Runtime& runtime, const Placement& at, tmajit::Stream stream);

}  // namespace sequences
