#pragma once

/// The SASS of a cubin as rows, with nvdisasm's facts about each.
#include "view/locations.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// Number of registers that are live at an instruction: general, predicate, uniform, uniform predicate.
using SassLiveRegisters = std::array<std::uint32_t, 4>;

/// An instruction, a label, or the name of a function.
struct SassRow {
  std::string text;
  std::optional<std::uint64_t> address = {};  ///< offset of an instruction in its function
  std::uint32_t location = Location::none;    ///< index of the innermost location in the Locations
  std::uint32_t ptx_line = 0;                 ///< from 1; 0: unknown
  std::optional<SassLiveRegisters> live = {};
};

struct SassRows {
  std::vector<SassRow> rows = {};
  std::map<std::string, std::uint32_t> opcodes = {};  ///< number of instructions by opcode: "LDG"
  std::string missing_reason = {};                    ///< why SASS is missing; empty if there are rows
};

/// Reads two listings by nvdisasm: `line_listing` has line information of the source (-gi) and of the PTX
/// (-gp), `live_listing` has numbers of live registers (-plr -lrm count).
[[nodiscard]] SassRows read_sass(std::string_view line_listing, std::string_view live_listing,
                                 Locations& locations);

/// Disassembles a cubin. If that fails, SassRows::missing_reason has the reason.
[[nodiscard]] SassRows disassembled(std::span<const std::byte> cubin, Locations& locations);

}  // namespace view
TMAJIT_END
