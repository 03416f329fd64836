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

/// The device that "auto", "gpu", "gpu:N" or "sim" names. Throws tmajit::Error{unavailable} that says what is
/// missing, Error{invalid_argument} for other names. With `why`: null for "none" and where "auto" finds no
/// GPU, and `why` then says what is missing.
std::shared_ptr<tmajit::Device> open_device(const std::string& name, std::string* why = nullptr);

nlohmann::ordered_json to_json(const tmajit::DeviceInfo& info);
/// "13.0"; empty without NVRTC, when kernels that are cached still work.
std::string nvrtc_version();

/// Device, runtime, stream, driver and contest of a measurement.
struct Machine {
  /// Kernels are kept in `cache`, and choices read from there.
  explicit Machine(std::shared_ptr<tmajit::Device> opened,
                   const std::filesystem::path& cache = tmajit::DiskCache::default_directory());
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Whether nothing further can be measured: after a fault on a GPU the context is gone.
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
