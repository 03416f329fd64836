#pragma once

/// Facts about each line of a PTX module.
#include "view/places.hpp"

#include <tmajit/version.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// Registers that hold a value at an instruction: values that it or a later instruction reads, and its
/// results.
struct LiveRegisters {
  std::uint32_t words = 0;       ///< registers of 32 bits; a register of 64 bits counts twice
  std::uint32_t predicates = 0;  ///< registers of type .pred
  friend bool operator==(const LiveRegisters&, const LiveRegisters&) = default;
};

struct PtxLine {
  std::uint32_t place = Place::none;  ///< the innermost; index into the Places
  std::optional<LiveRegisters> live = {};
};

/// The lines of a module. The lines that continue an instruction have the same place as its first line.
struct PtxLines {
  std::vector<std::string> texts;
  std::vector<PtxLine> facts;                    ///< one for each text
  std::map<std::string, std::uint32_t> opcodes;  ///< instructions by the first word of their names
  std::string main_path;  ///< path of `.file 1`, the text that the compiler was given; empty if unknown
  std::string why;        ///< why no facts are known; empty if they are
};

/// Reads a module, and adds the places of its instructions.
[[nodiscard]] PtxLines read_ptx(std::string_view ptx, Places& places);

}  // namespace view
TMAJIT_END
