#pragma once

#include "conformance/case.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace conformance {

/// The outcome of a case on a device.
struct Result {
  std::uint64_t trials = 0;  ///< trials that have run
  std::uint64_t wrong = 0;   ///< trials that left wrong bytes
  /// Descriptions of the first few wrong trials.
  std::vector<std::string> differences = {};
  /// The error that ended the case: the device's report, or the reason why a kernel could not be made.
  std::string error = {};
  /// Whether the device failed: a GPU then cannot be used any more in this process.
  bool device_ended = false;

  [[nodiscard]] bool agrees() const { return wrong == 0 && error.empty(); }
};

/// A device on which cases run.
class Bench {
 public:
  /// `simulated` is the same device if it is a simulated one, whose reports are errors; else null. Kernels
  /// are cached in `cache_directory`, if there is one.
  Bench(std::shared_ptr<tmajit::Device> device, std::shared_ptr<tmajit::SimDevice> simulated,
        std::optional<std::filesystem::path> cache_directory);

  /// Runs a case with the trials that `seed` draws. Errors of the device or the compiler are not thrown, but
  /// stored in the result.
  [[nodiscard]] Result run(const Case& each, std::uint64_t seed);
  [[nodiscard]] const tmajit::Device& device() const { return *runtime_.device(); }

 private:
  /// Describes the differences; empty if there are none.
  std::string run(const Trial& trial, const Case& of);
  const tmajit::Kernel& kernel(const tmajit::OwnKernel& own);
  /// Clears the simulated device's reports if the case expects all of them (Case::reports).
  void clear_expected_reports(const Case& of);

  tmajit::Runtime runtime_;
  std::shared_ptr<tmajit::SimDevice> simulated_;
  std::map<std::string, tmajit::Kernel> kernels_;
};

}  // namespace conformance
