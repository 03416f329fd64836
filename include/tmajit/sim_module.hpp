#pragma once

#include <tmajit/sim.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A variable that PTX declares outside its functions.
struct SimVariable {
  std::string name;
  DevicePtr address = 0;  ///< 0 for constant memory, which only this module can address
  std::uint64_t bytes = 0;
};

/// The resources of a kernel.
struct SimKernelFacts {
  std::uint32_t max_threads = 0;          ///< the most threads of a CTA
  std::uint32_t static_shared_bytes = 0;  ///< per CTA
  std::uint32_t local_bytes = 0;          ///< per thread
  std::uint32_t constant_bytes = 0;       ///< constant memory of the module
  /// Where each parameter begins in the launch's parameter memory, in bytes.
  std::vector<std::uint32_t> parameter_offsets = {};
};

/// A PTX module on a simulated device: kernels that share the module's variables, and variables that the host
/// reads and writes. Thread-safe. A module may be destroyed before its kernels are.
class TMAJIT_API SimModule {
 public:
  virtual ~SimModule();
  /// The names of its kernels, in order.
  [[nodiscard]] virtual const std::vector<std::string>& kernels() const noexcept = 0;
  /// Throws what DeviceKernels::load() throws.
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> load(const std::string& kernel) = 0;
  [[nodiscard]] virtual SimKernelFacts facts(const std::string& kernel) const = 0;
  /// The variable of that name; nothing if there is none. A module without kernels has no variables.
  [[nodiscard]] virtual std::optional<SimVariable> variable(std::string_view name) const = 0;
  /// Writes, or reads, bytes of a variable from `offset` on. Throws Error{invalid_argument} for bytes beyond
  /// its end.
  virtual void write(std::string_view name, std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read(std::string_view name, std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Throws Error{invalid_argument} for PTX that does not parse, Error{unsupported} for kinds of variables that
/// the simulated device does not support.
[[nodiscard]] TMAJIT_API std::unique_ptr<SimModule> load_sim_module(const std::shared_ptr<SimDevice>& device,
                                                                    std::string ptx);

/// Maps host memory into the device's global memory at the same address, like memory that CUDA pins or
/// manages. DeviceMemory::free() ends the mapping, and leaves the host's memory alone. Throws
/// Error{invalid_argument} for addresses at which the device has other memory.
TMAJIT_API void map_host_memory(SimDevice& device, std::span<std::byte> memory);
/// The same at another device address, like memory that CUDA maps into a reserved range of addresses.
TMAJIT_API void map_host_memory(SimDevice& device, std::span<std::byte> memory, DevicePtr address);

TMAJIT_END
