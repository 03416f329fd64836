#include "compile/diagnostics.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Unicode.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

using llvm::StringRef;

constexpr std::size_t shown_errors = 3;
constexpr const char* ptx_file = "ptx";

/// `file(12): error: text`, `file(12): error #20-D: text`, `file(12): catastrophic error: text`.
std::optional<Diagnostic> parse_front_end(StringRef line) {
  for (StringRef kind : {"): error", "): catastrophic error", "): internal error"}) {
    const auto end = line.find(kind);
    if (end == StringRef::npos) continue;
    const auto begin = line.substr(0, end).rfind('(');
    auto message = line.substr(end + kind.size());
    Diagnostic found;
    if (begin == StringRef::npos || line.slice(begin + 1, end).getAsInteger(10, found.line)) continue;
    if (message.consume_front(" #")) message = message.drop_until([](char c) { return c == ':'; });
    if (!message.consume_front(":")) continue;
    found.file = line.substr(0, begin).str();
    found.message = message.trim().str();
    return found;
  }
  return std::nullopt;
}

/// `ptxas application ptx input, line 30; error   : text`, `ptxas error   : text`, `ptxas fatal   : text`.
std::optional<Diagnostic> parse_assembler(StringRef line) {
  if (!std::string_view(line).starts_with("ptxas ")) return std::nullopt;
  const auto [head, message] = line.split(" : ");
  if (message.empty() || (!head.contains("error") && !head.contains("fatal"))) return std::nullopt;
  Diagnostic found;
  found.stage = Diagnostic::Stage::assembler;
  found.message = message.trim().str();
  auto number = head.split(", line ").second;
  if (!number.consumeInteger(10, found.line)) found.file = ptx_file;
  return found;
}

/// Parses the lines after the first line of a front-end error: the rest of the message, the source line, and
/// the caret line. Notes and instantiation traces may take the place of any of them.
void parse_excerpt(llvm::ArrayRef<StringRef> following, Diagnostic& found) {
  constexpr std::size_t indent = 2;
  for (std::size_t i = 0; i < following.size(); ++i) {
    const auto line = following[i];
    if (line.trim().empty() || !std::string_view(line).starts_with("  ")) return;
    if (i == 0 || line.trim() != "^") continue;
    for (const auto more : following.take_front(i - 1)) found.message += "; " + more.trim().str();
    found.excerpt = following[i - 1].substr(indent).str();
    found.offset = line.find('^') - indent;
    return;
  }
}

/// The name, without folders, of file `index` according to the `.file` lines of a PTX text:
/// .file 1 "/home/kernel"
StringRef ptx_file_name(llvm::ArrayRef<StringRef> lines, std::uint32_t index) {
  for (auto line : lines) {
    std::uint32_t declared = 0;
    line = line.ltrim();
    if (!line.consume_front(".file")) continue;
    line = line.ltrim();
    if (line.consumeInteger(10, declared) || declared != index) continue;
    const auto path = line.trim().trim('"');
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  }
  return {};
}

/// Sets the source line of an error in a line of `ptx`, by the nearest `.loc` above it:
///   .loc 1 12 3        file 1, line 12, column 3, for the instructions that follow
void trace_ptx(StringRef ptx, Diagnostic& found) {
  llvm::SmallVector<StringRef, 0> lines;
  ptx.split(lines, '\n');
  if (found.line == 0 || found.line > lines.size()) return;
  found.excerpt = lines[found.line - 1].trim().str();
  for (std::size_t i = found.line; i-- > 0;) {
    auto line = lines[i].ltrim();
    if (line.contains(".entry ") || std::string_view(line).starts_with(".func"))
      return;  // the function has no .loc before the line
    if (!line.consume_front(".loc")) continue;
    std::uint32_t file = 0;
    std::uint32_t number = 0;
    line = line.ltrim();
    if (line.consumeInteger(10, file)) return;
    line = line.ltrim();
    if (line.consumeInteger(10, number)) return;
    if (const auto name = ptx_file_name(lines, file); !name.empty()) {
      found.file = name.str();
      found.line = number;
    }
    return;
  }
}

bool in_expression(const Diagnostic& error) {
  return error.file == "expression" && error.line == 1 && error.excerpt;
}

std::string show(const Diagnostic& error) {
  // NVRTC parses name expressions in a file that it generates, __nv_name_map.
  const bool has_place = !error.file.empty() && error.file != "__nv_name_map";
  std::string place = has_place ? fmt::format("{}:{}: ", error.file, error.line) : "";
  std::string text = fmt::format("{}error: {}", place, error.message);
  if (error.excerpt) text += "\n" + excerpt(*error.excerpt, error.offset);
  return text;
}

std::string show(const Diagnostic& error, std::string_view expression) {
  if (in_expression(error)) {
    return fmt::format("error: {}\n{}", error.message, excerpt(expression, error.offset));
  }
  std::string text = fmt::format("error: {}\n{}", error.message, excerpt(expression, expression.size()));
  if (!error.file.empty()) {
    text += fmt::format("\n  (found in the generated text around it, {}:{})", error.file, error.line);
  }
  return text;
}

constexpr std::size_t max_shown_bytes = 96;  ///< bytes shown of a longer line

/// Whether `c` is not the first byte of a character in UTF-8.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Terminal columns of `text`; its bytes if it is not printable UTF-8.
std::size_t columns(std::string_view text) {
  const int width = llvm::sys::unicode::columnWidthUTF8({text.data(), text.size()});
  return width < 0 ? text.size() : static_cast<std::size_t>(width);
}

/// The number right before `unit` in `line`: 19 for " registers" in "Used 19 registers"; 0 if there is none.
std::uint32_t number_before(llvm::StringRef line, llvm::StringRef unit) {
  const auto before = line.substr(0, line.find(unit));
  if (before.size() == line.size()) return 0;
  const auto digits = before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1));
  std::uint32_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

}  // namespace

std::vector<Diagnostic> parse_log(std::string_view log, std::string_view ptx) {
  llvm::SmallVector<StringRef, 0> lines;
  StringRef(log.data(), log.size()).split(lines, '\n');
  std::vector<Diagnostic> errors;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto found = parse_front_end(lines[i]);
    if (found) {
      parse_excerpt(llvm::ArrayRef<StringRef>(lines).drop_front(i + 1), *found);
    } else if ((found = parse_assembler(lines[i]))) {
      if (found->file == ptx_file) trace_ptx({ptx.data(), ptx.size()}, *found);
    } else {
      continue;
    }
    // Every instantiation of a template repeats the errors in it.
    if (std::find(errors.begin(), errors.end(), *found) == errors.end()) errors.push_back(*std::move(found));
  }
  // "Ptx assembly aborted due to errors" is redundant if those errors are listed.
  const auto is_summary = [](const Diagnostic& error) {
    return error.file.empty() && StringRef(error.message).contains("aborted due to errors");
  };
  if (!std::all_of(errors.begin(), errors.end(), is_summary)) std::erase_if(errors, is_summary);
  return errors;
}

std::string explain(std::string_view log, std::string_view ptx, std::string_view entry,
                    std::string_view expression) {
  auto errors = parse_log(log, ptx);
  // An error of ptxas concerns the whole kernel, not the expression: too much shared memory, for example.
  const auto of_assembler = [](const Diagnostic& error) {
    return error.stage == Diagnostic::Stage::assembler;
  };
  if (std::any_of(errors.begin(), errors.end(), of_assembler)) expression = {};
  const std::string kernel = entry.empty() ? "the source" : fmt::format("kernel \"{}\"", entry);
  std::string text = (expression.empty() ? kernel : "the expression") + " does not compile";
  if (errors.empty()) {
    text += fmt::format("; NVRTC says:\n{}", StringRef(log.data(), log.size()).trim().str());
    return text;
  }
  // Errors outside the expression are consequences of those in it.
  if (!expression.empty() && std::any_of(errors.begin(), errors.end(), in_expression)) {
    std::erase_if(errors, [](const Diagnostic& error) { return !in_expression(error); });
  }
  const auto count = std::min(errors.size(), shown_errors);
  for (std::size_t i = 0; i < count; ++i) {
    text += "\n" + (expression.empty() ? show(errors[i]) : show(errors[i], expression));
  }
  if (const auto more = errors.size() - count; more > 0) {
    text += fmt::format("\nand {} more error{}", more, more == 1 ? "" : "s");
  }
  return text;
}

std::string excerpt(std::string_view line, std::size_t offset) {
  offset = std::min(offset, line.size());
  std::size_t begin = 0;
  std::size_t end = line.size();
  if (line.size() > max_shown_bytes) {
    begin = std::min(offset - std::min(offset, max_shown_bytes / 2), line.size() - max_shown_bytes);
    end = begin + max_shown_bytes;
    while (begin > 0 && continues_character(line[begin])) --begin;
    while (end < line.size() && continues_character(line[end])) ++end;
  }
  const std::string_view ellipsis = begin > 0 ? "…" : "";
  // A tab or an unprintable character takes one column, so that the caret stays under its character.
  std::string shown(line.substr(begin, end - begin));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  const auto before = std::string_view(shown).substr(0, offset - begin);
  std::string result("  ");
  result.append(ellipsis).append(shown).append(end < line.size() ? "…" : "").append("\n  ");
  result.append(columns(ellipsis) + columns(before), ' ').append("^");
  return result;
}

// The report of a kernel extends from its "Compiling entry function" to the next one. In between there may
// also be the properties of other functions, which were not inlined into the kernel:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 19 registers, used 1 barriers, 32 bytes cumulative stack size, 1032 bytes smem
//   ptxas info    : Function properties for helper
std::optional<Resources> parse_resources(std::string_view log, std::string_view entry) {
  const auto kernel = "Compiling entry function '" + std::string(entry) + "' ";
  std::optional<Resources> result;
  bool is_kernel = false;
  for (llvm::StringRef rest(log.data(), log.size()); !rest.empty();) {
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (line.contains("Compiling entry function '")) {
      if (result) break;
      if (line.contains(kernel)) {
        result.emplace();
        is_kernel = true;
      }
    } else if (!result) {
      continue;
    } else if (const auto name = line.find("Function properties for "); name != llvm::StringRef::npos) {
      is_kernel = line.substr(name + std::strlen("Function properties for ")).trim() ==
                  llvm::StringRef(entry.data(), entry.size());
    } else if (is_kernel && line.contains(" bytes stack frame")) {
      result->stack_bytes = number_before(line, " bytes stack frame");
      result->spill_store_bytes = number_before(line, " bytes spill stores");
      result->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (is_kernel && line.contains("Used ")) {
      result->registers = number_before(line, " registers");
      result->barriers = number_before(line, " barriers");
      result->static_shared_bytes = number_before(line, " bytes smem");
    }
  }
  return result;
}

TMAJIT_END
