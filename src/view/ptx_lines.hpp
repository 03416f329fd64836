#pragma once

/// Facts about each line of a PTX module.
#include "view/locations.hpp"

#include <tmajit/version.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// Number of registers that are live at an instruction: those that it or a later instruction reads, and those
/// that it writes.
struct LiveRegisters {
  std::uint32_t words = 0;       ///< registers of 32 bits; a register of 64 bits counts twice
  std::uint32_t predicates = 0;  ///< registers of type .pred
  friend bool operator==(const LiveRegisters&, const LiveRegisters&) = default;
};

struct PtxLine {
  std::uint32_t location = Location::none;  ///< index of the innermost location in the Locations
  std::optional<LiveRegisters> live = {};
};

/// The lines of a module. Continuation lines of an instruction have the same location as its first line.
struct PtxLines {
  std::vector<std::string> texts;
  std::vector<PtxLine> facts;                    ///< one for each of `texts`
  std::map<std::string, std::uint32_t> opcodes;  ///< number of instructions by the name up to the first dot
  std::string main_path;       ///< path in `.file 1`: the file that was compiled; empty if unknown
  std::string missing_reason;  ///< why facts are missing; empty if they are complete
};

/// Reads a module, and adds the locations of its instructions to `locations`.
[[nodiscard]] PtxLines read_ptx(std::string_view ptx, Locations& locations);

}  // namespace view
TMAJIT_END
