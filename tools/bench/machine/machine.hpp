#pragma once

#include "contest.hpp"
#include "raw_libraries.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace bench {

/// Opens the device "auto", "gpu", "gpu:N" or "sim". Throws tmajit::Error{unavailable} that says what is
/// missing, and Error{invalid_argument} for other names. If `why` is given, the result is null for "none" and
/// if "auto" finds no GPU; `why` then says what is missing.
std::shared_ptr<tmajit::Device> open_device(const std::string& name, std::string* why = nullptr);

nlohmann::ordered_json to_json(const tmajit::DeviceInfo& info);
/// NVRTC's version, "13.0"; empty without NVRTC, in which case only cached kernels can be used.
std::string nvrtc_version();

/// Device, runtime, stream, driver and contest of a measurement.
struct Machine {
  /// `cache` is the folder of compiled kernels and tuned choices.
  explicit Machine(std::shared_ptr<tmajit::Device> opened,
                   const std::filesystem::path& cache = tmajit::DiskCache::default_directory());
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Whether the GPU has faulted, after which its context is unusable and nothing more can be measured.
  [[nodiscard]] bool lost_by(const tmajit::Error& error) const {
    return driver && error.code() == tmajit::ErrorCode::device_failed;
  }

  std::shared_ptr<tmajit::Device> device;
  std::filesystem::path cache_directory;
  tmajit::Runtime runtime;
  tmajit::Stream stream;
  std::unique_ptr<RawDriver> driver;  ///< null on the simulated device
  Contest contest;
};

}  // namespace bench
