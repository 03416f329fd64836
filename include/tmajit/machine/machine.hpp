#pragma once

#include <tmajit/names.hpp>
#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The state of a part of the machine: usable, usable with a loss, or missing.
enum class Health : std::uint8_t { good, poor, absent };
/// "ok", "warning", "missing".
[[nodiscard]] TMAJIT_API std::string_view name(Health health) noexcept;
template <>
[[nodiscard]] TMAJIT_API Health parse<Health>(std::string_view name);

/// One part of the machine that tmajit uses.
struct MachineCheck {
  std::string subject;  ///< "NVRTC"
  Health health = Health::good;
  std::string found = {};
  std::string remedy = {};   ///< the fix, if it is not good
  std::string details = {};  ///< a JSON object on one line, or empty
};

struct MachineReport {
  std::vector<MachineCheck> checks;
  bool compiles = false;  ///< everything up to the cubin works
};

/// Examines compiler, driver, GPUs, nvdisasm, cache folder, disk and the simulated device; compiles a trial
/// kernel and simulates one. A missing part is a check that says so, never an exception. An empty
/// `cache_directory` stands for the default one.
[[nodiscard]] TMAJIT_API MachineReport examine_machine(const std::filesystem::path& cache_directory = {});

/// A line for each check and one for its remedy, wrapped to `width` columns (at least 66); with ANSI colours
/// if `colour` is true.
[[nodiscard]] TMAJIT_API std::string machine_text(const MachineReport& machine, std::size_t width,
                                                  bool colour);
/// One JSON object on one line.
[[nodiscard]] TMAJIT_API std::string machine_json(const MachineReport& machine);

TMAJIT_END
