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
  /// If `device` is simulated, `simulated` is the same device, and its reports are errors. Otherwise
  /// `simulated` is null. Kernels are cached in `cache_directory`, if it has a value.
  Bench(std::shared_ptr<tmajit::Device> device, std::shared_ptr<tmajit::SimDevice> simulated,
        std::optional<std::filesystem::path> cache_directory);

  /// Runs a case with the trials that `seed` draws. Errors of the device or the compiler are not thrown, but
  /// stored in the result.
  [[nodiscard]] Result run(const Case& test_case, std::uint64_t seed);
  [[nodiscard]] const tmajit::Device& device() const { return *runtime_.device(); }

 private:
  /// Describes the differences; empty if there are none.
  std::string run(const Trial& trial, const Case& test_case);
  const tmajit::Kernel& kernel(const tmajit::OwnKernel& own);
  /// Clears the simulated device's reports if the case expects all of them (Case::reports).
  void clear_expected_reports(const Case& test_case);

  tmajit::Runtime runtime_;
  std::shared_ptr<tmajit::SimDevice> simulated_;
  std::map<std::string, tmajit::Kernel> kernels_;
};

}  // namespace conformance
