#include "view/sass_rows.hpp"

#include "machine/listing.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace view {
namespace {

using llvm::StringRef;

/// The file name that nvdisasm gives for lines of the PTX.
constexpr StringRef ptx_file = ".nv_debug_ptx_txt";

/// Consumes the address "/*01b0*/" at the beginning of a line; nullopt if the line is no instruction.
std::optional<std::uint64_t> take_address(StringRef& line) {
  std::uint64_t address = 0;
  if (!line.consume_front("/*") || line.consumeInteger(16, address) || !line.consume_front("*/"))
    return std::nullopt;
  line = line.trim();
  return address;
}

/// Consumes `"…", line N` at the beginning of the text; nullopt if it begins with something else.
std::optional<std::pair<StringRef, std::uint64_t>> take_location(StringRef& text) {
  if (!text.consume_front("\"")) return std::nullopt;
  const auto [path, rest] = text.split('"');
  text = rest;
  std::uint64_t line = 0;
  if (!text.consume_front(", line ") || text.consumeInteger(10, line)) return std::nullopt;
  return std::pair(path, line);
}

/// The line information before an instruction. For an inlined function, nvdisasm prints one comment for each
/// call on the way to it, the innermost first.
class LineInformation {
 public:
  explicit LineInformation(Locations& locations) : locations_(locations) {}

  /// Reads the text after `//## File ` of a comment `//## File "…", line N [inlined at "…", line M]`.
  void read(StringRef comment) {
    const auto at = take_location(comment);
    if (!at) return;
    if (at->first == ptx_file) {
      ptx_line_ = static_cast<std::uint32_t>(at->second);
      return;
    }
    if (!has_caller_) chain_.clear();
    chain_.emplace_back(*at);
    has_caller_ = std::string_view(comment).starts_with(" inlined at ");
    is_new_ = true;
  }
  /// The location of the next instruction, by the comments since the previous instruction. Without comments,
  /// it is the location of the previous instruction.
  std::uint32_t location() {
    if (is_new_) {
      location_ = Location::none;
      for (auto at = chain_.rbegin(); at != chain_.rend(); ++at)
        location_ = locations_.add({at->first.data(), at->first.size()}, at->second, location_);
    }
    is_new_ = has_caller_ = false;
    return location_;
  }
  [[nodiscard]] std::uint32_t ptx_line() const noexcept { return ptx_line_; }

 private:
  Locations& locations_;
  llvm::SmallVector<std::pair<StringRef, std::uint64_t>, 8> chain_;  ///< path and line of each comment
  bool has_caller_ = false;  ///< the last comment ends with `inlined at`, so the next one is its caller's
  bool is_new_ = false;      ///< there were comments since the previous instruction
  std::uint32_t location_ = Location::none;
  std::uint32_t ptx_line_ = 0;
};

/// Calls visit(function, line) for each line of each function, without spaces around it. The first call for a
/// function has an empty line; empty lines of the listing are skipped.
void for_each_line(std::string_view listing, const std::function<void(StringRef, StringRef)>& visit) {
  StringRef function;
  for (StringRef rest(listing.data(), listing.size()), line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    line = line.trim();
    if (std::string_view(line).starts_with("//-----")) function = StringRef();
    if (StringRef name = line.split("//").first.rtrim();
        name.consume_front(".text.") && name.consume_back(":")) {
      function = name;
      visit(function, StringRef());
    } else if (!function.empty() && !line.empty()) {
      visit(function, line);
    }
  }
}

/// The numbers in a comment "|  130  |   1    |    9   |         |". An empty cell is 0.
std::optional<SassLiveRegisters> read_live(StringRef comment) {
  if (!comment.consume_front("|")) return std::nullopt;
  SassLiveRegisters live{};
  for (std::uint32_t& count : live) {
    StringRef cell;
    std::tie(cell, comment) = comment.split('|');
    cell = cell.trim();
    if (!cell.empty() && cell.getAsInteger(10, count)) return std::nullopt;
  }
  return live;
}

using Position = std::pair<std::string, std::uint64_t>;  ///< a function and an address in it

std::map<Position, SassLiveRegisters> read_live_registers(std::string_view listing) {
  std::map<Position, SassLiveRegisters> live_registers;
  for_each_line(listing, [&](StringRef function, StringRef line) {
    const auto address = take_address(line);
    if (!address) return;
    if (const auto live = read_live(line.rsplit("//").second.ltrim()))
      live_registers.emplace(Position{function.str(), *address}, *live);
  });
  return live_registers;
}

/// The name of an instruction up to its first dot: "LDC" for "@!P0 LDC.64 R2, c[0x0][0x28] ;".
StringRef opcode_of(StringRef text) {
  if (std::string_view(text).starts_with("@")) text = text.split(' ').second.ltrim();
  return text.take_while([](char c) { return c != '.' && c != ' ' && c != ';'; });
}

}  // namespace

SassRows read_sass(std::string_view line_listing, std::string_view live_listing, Locations& locations) {
  SassRows sass;
  const auto live_registers = read_live_registers(live_listing);
  std::optional<LineInformation> line_information;
  for_each_line(line_listing, [&](StringRef function, StringRef line) {
    if (line.empty()) {
      sass.rows.push_back({.text = function.str() + ":"});
      line_information.emplace(locations);
    } else if (line.consume_front("//## File ")) {
      line_information->read(line);
    } else if (const auto address = take_address(line)) {
      const auto live = live_registers.find({function.str(), *address});
      ++sass.opcodes[opcode_of(line).str()];
      sass.rows.push_back(
          {.text = line.str(),
           .address = address,
           .location = line_information->location(),
           .ptx_line = line_information->ptx_line(),
           .live = live == live_registers.end() ? std::nullopt : std::optional(live->second)});
    } else if (std::string_view(line).ends_with(":")) {
      sass.rows.push_back({.text = line.str()});
    }
  });
  return sass;
}

SassRows disassembled(std::span<const std::byte> cubin, Locations& locations) {
  if (cubin.empty()) return {.missing_reason = "there is no cubin: only the PTX of this kernel was given"};
  try {
    auto live_listing = std::async(std::launch::async, [&] {
      return list_sass(cubin, {"-c", "-plr", "-lrm", "count"});
    });
    const std::string line_listing = list_sass(cubin, {"-c", "-gi", "-gp"});
    return read_sass(line_listing, live_listing.get(), locations);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::io) throw;
    return {.missing_reason = error.what()};
  }
}

}  // namespace view
TMAJIT_END
