#pragma once

#include "cudart/device.hpp"

#include <tmajit/sim_module.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace cudart {

/// A kernel of a module, loaded on first use.
class Kernel {
 public:
  Kernel(SimModule& module, const std::string& ptx, std::string name)
      : module_(module), ptx_(ptx), name_(std::move(name)) {}

  [[nodiscard]] LoadedKernel& loaded();
  [[nodiscard]] const SimKernelFacts& facts();
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void allow_shared_bytes(std::uint32_t bytes);
  [[nodiscard]] std::uint32_t allowed_shared_bytes() const noexcept { return allowed_; }

 private:
  SimModule& module_;
  const std::string& ptx_;
  std::string name_;
  std::mutex mutex_;
  std::unique_ptr<LoadedKernel> loaded_;
  std::unique_ptr<SimKernelFacts> facts_;
  std::uint32_t allowed_ = 48 * 1024;  ///< CUDA's default limit on dynamic shared memory
};

/// A module of PTX, with its kernels and variables.
class Module {
 public:
  explicit Module(std::string ptx);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The kernel of that name; null if the module has none.
  [[nodiscard]] Kernel* kernel(std::string_view name);
  [[nodiscard]] SimModule& simulated() noexcept { return *module_; }

 private:
  std::string ptx_;
  std::unique_ptr<SimModule> module_;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

/// Add a module, of an image in memory or of a file, that lives until remove_module(). Throw Failure for an
/// image that is not PTX.
[[nodiscard]] Module& add_module(const void* image);
[[nodiscard]] Module& add_module_file(const char* path);
/// The module with this handle. Throws Failure if there is none.
[[nodiscard]] Module& module_at(const void* handle);
void remove_module(const void* handle);

/// The kernel of a host function, as in `<<<>>>`, or of a kernel's handle. Throws Failure if there is none.
[[nodiscard]] Kernel& kernel_of(const void* function);
/// Makes `name`, an entry of the program's PTX, the kernel of a host function.
void register_kernel(const void* function, const std::string& name);
/// Makes `name`, a variable of the program's PTX, the device variable of a host shadow variable.
void register_variable(const void* variable, const std::string& name);

/// A device variable and its module.
struct Symbol {
  SimModule& module;
  SimVariable variable;
};
/// The device variable of a host shadow variable. Throws Failure if there is none.
[[nodiscard]] Symbol symbol_of(const void* variable);

}  // namespace cudart
TMAJIT_END
