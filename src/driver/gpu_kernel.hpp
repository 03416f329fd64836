#pragma once

#include "driver/context.hpp"

#include <tmajit/device.hpp>

#include <memory>
#include <string>

TMAJIT_BEGIN
namespace driver {

/// A cubin loaded through cuLibraryLoadData, and its one entry.
class GpuKernel final : public LoadedKernel {
 public:
  /// Throws Error{device_failed} if the driver refuses the cubin or it has no such entry.
  GpuKernel(std::shared_ptr<const Context> context, const Artifact& artifact);
  ~GpuKernel() override;
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const override;
  void allow_shared_bytes(std::uint32_t bytes) override;
  [[nodiscard]] std::uint32_t ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const override;

 private:
  [[noreturn]] void launch_failed(CUresult result, const LaunchShape& shape, Stream stream) const;

  std::shared_ptr<const Context> context_;
  std::string entry_;
  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
};

}  // namespace driver
TMAJIT_END
