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
std::optional<std::pair<StringRef, std::uint64_t>> take_place(StringRef& text) {
  if (!text.consume_front("\"")) return std::nullopt;
  const auto [path, rest] = text.split('"');
  text = rest;
  std::uint64_t line = 0;
  if (!text.consume_front(", line ") || text.consumeInteger(10, line)) return std::nullopt;
  return std::pair(path, line);
}

/// The line information before an instruction. For an inlined function, nvdisasm prints one comment for each
/// call on the way to it, the innermost first.
class Marks {
 public:
  explicit Marks(Places& places) : places_(places) {}

  /// Reads the text after `//## File ` of a comment `//## File "…", line N [inlined at "…", line M]`.
  void read(StringRef comment) {
    const auto at = take_place(comment);
    if (!at) return;
    if (at->first == ptx_file) {
      ptx_line_ = static_cast<std::uint32_t>(at->second);
      return;
    }
    if (!continues_) chain_.clear();
    chain_.emplace_back(*at);
    continues_ = std::string_view(comment).starts_with(" inlined at ");
    is_new_ = true;
  }
  /// The place of the next instruction: that of the comments since the last one, or the last one's.
  std::uint32_t place() {
    if (is_new_) {
      place_ = Place::none;
      for (auto at = chain_.rbegin(); at != chain_.rend(); ++at)
        place_ = places_.add({at->first.data(), at->first.size()}, at->second, place_);
    }
    is_new_ = continues_ = false;
    return place_;
  }
  [[nodiscard]] std::uint32_t ptx_line() const noexcept { return ptx_line_; }

 private:
  Places& places_;
  llvm::SmallVector<std::pair<StringRef, std::uint64_t>, 8> chain_;
  bool continues_ = false;
  bool is_new_ = false;
  std::uint32_t place_ = Place::none;
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
std::optional<SassLive> read_live(StringRef comment) {
  if (!comment.consume_front("|")) return std::nullopt;
  SassLive live{};
  for (std::uint32_t& count : live) {
    StringRef cell;
    std::tie(cell, comment) = comment.split('|');
    cell = cell.trim();
    if (!cell.empty() && cell.getAsInteger(10, count)) return std::nullopt;
  }
  return live;
}

using Position = std::pair<std::string, std::uint64_t>;  ///< a function and an address in it

std::map<Position, SassLive> read_lives(std::string_view listing) {
  std::map<Position, SassLive> lives;
  for_each_line(listing, [&](StringRef function, StringRef line) {
    const auto address = take_address(line);
    if (!address) return;
    if (const auto live = read_live(line.rsplit("//").second.ltrim()))
      lives.emplace(Position{function.str(), *address}, *live);
  });
  return lives;
}

/// The name of an instruction up to its first dot: "LDC" for "@!P0 LDC.64 R2, c[0x0][0x28] ;".
StringRef opcode_of(StringRef text) {
  if (std::string_view(text).starts_with("@")) text = text.split(' ').second.ltrim();
  return text.take_while([](char c) { return c != '.' && c != ' ' && c != ';'; });
}

}  // namespace

SassRows read_sass(std::string_view lines, std::string_view lives, Places& places) {
  SassRows sass;
  const auto live_at = read_lives(lives);
  std::optional<Marks> marks;
  for_each_line(lines, [&](StringRef function, StringRef line) {
    if (line.empty()) {
      sass.rows.push_back({.text = function.str() + ":"});
      marks.emplace(places);
    } else if (line.consume_front("//## File ")) {
      marks->read(line);
    } else if (const auto address = take_address(line)) {
      const auto live = live_at.find({function.str(), *address});
      ++sass.opcodes[opcode_of(line).str()];
      sass.rows.push_back({.text = line.str(),
                           .address = address,
                           .place = marks->place(),
                           .ptx_line = marks->ptx_line(),
                           .live = live == live_at.end() ? std::nullopt : std::optional(live->second)});
    } else if (std::string_view(line).ends_with(":")) {
      sass.rows.push_back({.text = line.str()});
    }
  });
  return sass;
}

SassRows disassembled(std::span<const std::byte> cubin, Places& places) {
  if (cubin.empty()) return {.why = "there is no cubin: only the PTX of this kernel was given"};
  try {
    auto lives = std::async(std::launch::async, [&] {
      return list_sass(cubin, {"-c", "-plr", "-lrm", "count"});
    });
    const std::string lines = list_sass(cubin, {"-c", "-gi", "-gp"});
    return read_sass(lines, lives.get(), places);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::io) throw;
    return {.why = error.what()};
  }
}

}  // namespace view
TMAJIT_END
