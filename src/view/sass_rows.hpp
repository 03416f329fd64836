#pragma once

/// The SASS of a cubin as rows, with what nvdisasm says of each.
#include "view/places.hpp"

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

/// Registers that are live at an instruction, by kind: general, predicate, uniform, uniform predicate.
using SassLive = std::array<std::uint32_t, 4>;

/// An instruction, a label, or the name of a function.
struct SassRow {
  std::string text;
  std::optional<std::uint64_t> address = {};  ///< of an instruction, in its function
  std::uint32_t place = Place::none;          ///< the innermost; index into the Places
  std::uint32_t ptx_line = 0;                 ///< from 1; 0: unknown
  std::optional<SassLive> live = {};
};

struct SassRows {
  std::vector<SassRow> rows = {};
  std::map<std::string, std::uint32_t> opcodes = {};  ///< instructions by their names up to the first dot
  std::string why = {};                               ///< why there are no rows; empty if there are
};

/// Reads two outputs of nvdisasm: `lines` with line information, of the source and of the PTX
/// (-gi -gp), and `lives` with counts of live registers (-plr -lrm count).
[[nodiscard]] SassRows read_sass(std::string_view lines, std::string_view lives, Places& places);

/// Disassembles a cubin. Where that is not possible, SassRows::why says the reason.
[[nodiscard]] SassRows disassembled(std::span<const std::byte> cubin, Places& places);

}  // namespace view
TMAJIT_END
