#pragma once

#include "driver/context.hpp"
#include "driver/scratch.hpp"

#include <tmajit/device.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

TMAJIT_BEGIN
namespace driver {

/// Gives `reference` to `graph` and all graphs instantiated from it. The destruction of the last of them only
/// lists the reference as released.
void keep_for_graph(const Api& api, CUgraph graph, std::shared_ptr<const void> reference);
/// Drops the released references, which may destroy their objects. Works while streams are captured.
void drop_released() noexcept;

/// The code of a cubin, loaded for as long as this object lives.
class LoadedCode {
 public:
  /// Throws Error{invalid_image} if the driver refuses the cubin or if the cubin lacks the entry,
  /// Error{out_of_memory}, and Error{device_failed} for any other error of the driver.
  LoadedCode(std::shared_ptr<const Context> context, const Artifact& artifact);
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  [[nodiscard]] const Context& context() const noexcept { return *context_; }
  [[nodiscard]] CUkernel kernel() const noexcept { return kernel_; }
  /// The number of parameters; nullopt if the driver cannot tell. Only the first call asks the driver. The
  /// query counts up to the first index that the driver refuses, and tools such as compute-sanitizer report
  /// each refused call.
  [[nodiscard]] std::optional<std::uint32_t> parameter_count() const;
  [[nodiscard]] std::optional<std::uint32_t> parameter_bytes(std::uint32_t index) const;

 private:
  std::shared_ptr<const Context> context_;
  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
  /// −1: the driver cannot tell; −2: the driver has not been asked.
  mutable std::atomic<std::int64_t> parameter_count_{-2};
};

/// A kernel of a GPU.
class alignas(64) GpuKernel final : public LoadedKernel {
 public:
  GpuKernel(std::shared_ptr<const Context> context, std::shared_ptr<Scratch> scratch,
            const Artifact& artifact);

  /// While the stream is captured, the graph gets references to the code and to the launch's scratch memory
  /// (cuGraphRetainUserObject).
  void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const override;
  void allow_shared_bytes(std::uint32_t bytes) override;
  [[nodiscard]] std::optional<std::uint32_t> parameter_count() const override {
    return code_->parameter_count();
  }
  [[nodiscard]] std::optional<std::uint32_t> parameter_bytes(std::uint32_t index) const override {
    return code_->parameter_bytes(index);
  }
  [[nodiscard]] std::uint32_t ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const override;

 private:
  /// The context must be current.
  void enqueue(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const;
  /// Like enqueue(), with scratch memory for this launch. Its address becomes the last parameter.
  void enqueue_with_scratch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const;
  /// Throws the error of a launch that the driver refused.
  [[noreturn]] void fail_launch(CUresult result, const LaunchShape& shape, Stream stream) const;

  // Every launch reads these members. The driver's work evicts them from the cache between launches; as they
  // share a cache line, a launch misses only once.
  /// The driver accepts a context-independent kernel in place of a function of the current context
  /// (cuLaunchKernelEx, "context-less kernel CUkernel").
  CUfunction function_;
  CUcontext context_;
  decltype(Api::ctx_get_current) get_current_;
  Api::GetCaptureInfo get_capture_info_;
  decltype(Api::launch_kernel_ex) launch_kernel_ex_;
  std::shared_ptr<const LoadedCode> code_;

  std::shared_ptr<Scratch> scratch_;
  std::string entry_;
};

}  // namespace driver
TMAJIT_END
