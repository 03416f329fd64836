#pragma once

#include "runtime/kernel_state.hpp"
#include "runtime/single_flight.hpp"
#include "spec/inside.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

TMAJIT_BEGIN

/// The kernels of a runtime, cached in memory. Thread-safe.
class KernelTable {
 public:
  explicit KernelTable(RuntimeOptions options, Toolchain toolchain = {})
      : builder_(std::make_shared<const Builder>(std::move(options), toolchain)),
        kernels_(builder_->options().max_cached_kernels, builder_->ledger()->memory_hits()) {}

  /// The kernel from memory, or a new one. Throws CompileError, Error{unavailable}, and what
  /// DeviceKernels::load() throws.
  [[nodiscard]] Kernel get(const KernelRequest& request) {
    const std::uint64_t hash = request.hash();
    if (auto known = kernels_.find(hash, request)) return Inside::make<Kernel>(std::move(known));
    const KernelOrigin origin(request);
    return Inside::make<Kernel>(kernels_.get(
        hash, origin, [&] { return make_kernel_state(origin, builder_, builder_->build(request)); }));
  }

  /// Whether the kernel is in memory.
  [[nodiscard]] bool has(const KernelRequest& request) {
    return kernels_.find(request.hash(), request) != nullptr;
  }

  [[nodiscard]] const Builder& builder() const noexcept { return *builder_; }
  [[nodiscard]] std::size_t size() { return kernels_.size(); }

 private:
  std::shared_ptr<const Builder> builder_;  // kernels share it
  SingleFlight<KernelOrigin, KernelState> kernels_;
};

TMAJIT_END
