#pragma once

/// The .global and .const variables of a PTX module in a simulated device's memory.
#include "sim/memory/global_memory.hpp"
#include "sim/program/program.hpp"

#include <tmajit/device_kernels.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// The module's variables. They live as long as the module or one of its kernels.
struct Globals {
  std::optional<OwnMemory> memory;   ///< memory of the .global variables
  std::vector<std::byte> constants;  ///< constant memory of each launch; empty: Program::constant_bank
  std::vector<ModuleVariable> variables;

  [[nodiscard]] std::uint64_t base() const noexcept { return memory ? memory->address() : 0; }
  /// The variable of that name; null if there is none.
  [[nodiscard]] const ModuleVariable* find(std::string_view name) const noexcept {
    const auto found = std::ranges::find(variables, name, &ModuleVariable::name);
    return found == variables.end() ? nullptr : &*found;
  }
};

/// The parts of a simulated device that modules use.
class ModuleHost {
 public:
  virtual ~ModuleHost() = default;
  [[nodiscard]] virtual GlobalMemory& global_memory() noexcept = 0;
  /// The mutex that a launch locks while it runs.
  [[nodiscard]] virtual std::mutex& launches() noexcept = 0;
  /// Decodes a kernel whose module's .global variables begin at address `base`.
  [[nodiscard]] virtual Program decode_at(const std::string& ptx, const std::string& entry,
                                          std::uint64_t base) const = 0;
  [[nodiscard]] virtual std::unique_ptr<LoadedKernel> make_kernel(Program program,
                                                                  std::shared_ptr<Globals> globals) = 0;
};

/// Allocates and initialises the variables of the program's module. Decodes the program again, because it
/// contains the variables' addresses.
[[nodiscard]] std::shared_ptr<Globals> place_globals(ModuleHost& host, const std::string& ptx,
                                                     Program& program);

}  // namespace sim
TMAJIT_END
