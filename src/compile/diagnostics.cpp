#include "compile/diagnostics.hpp"

#include "compile/excerpt.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

using llvm::StringRef;

constexpr std::size_t shown_errors = 3;
constexpr const char* ptx_file = "ptx";

std::string str(StringRef text) {
  return text.str();
}

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
    found.file = str(line.substr(0, begin));
    found.message = str(message.trim());
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
  found.message = str(message.trim());
  auto number = head.split(", line ").second;
  if (!number.consumeInteger(10, found.line)) found.file = ptx_file;
  return found;
}

/// What follows the head of a front-end error: more of the message, the source line, and the caret line.
/// Notes and instantiation traces may stand in for any of them.
void parse_excerpt(llvm::ArrayRef<StringRef> following, Diagnostic& found) {
  constexpr std::size_t indent = 2;
  for (std::size_t i = 0; i < following.size(); ++i) {
    const auto line = following[i];
    if (line.trim().empty() || !std::string_view(line).starts_with("  ")) return;
    if (i == 0 || line.trim() != "^") continue;
    for (const auto more : following.take_front(i - 1)) found.message += "; " + str(more.trim());
    found.excerpt = str(following[i - 1].substr(indent));
    found.offset = line.find('^') - indent;
    return;
  }
}

/// The name, without folders, of file `index` by the `.file` lines of a PTX text: .file 1 "/home/kernel"
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

/// Leads an error in a line of `ptx` back to the source, by the nearest `.loc` above it:
///   .loc 1 12 3        file 1, line 12, column 3, for the instructions that follow
void trace_ptx(StringRef ptx, Diagnostic& found) {
  llvm::SmallVector<StringRef, 0> lines;
  ptx.split(lines, '\n');
  if (found.line == 0 || found.line > lines.size()) return;
  found.excerpt = str(lines[found.line - 1].trim());
  for (std::size_t i = found.line; i-- > 0;) {
    auto line = lines[i].ltrim();
    if (line.contains(".entry ") || std::string_view(line).starts_with(".func"))
      return;  // the function begins without one
    if (!line.consume_front(".loc")) continue;
    std::uint32_t file = 0;
    std::uint32_t number = 0;
    line = line.ltrim();
    if (line.consumeInteger(10, file)) return;
    line = line.ltrim();
    if (line.consumeInteger(10, number)) return;
    if (const auto name = ptx_file_name(lines, file); !name.empty()) {
      found.file = str(name);
      found.line = number;
    }
    return;
  }
}

bool in_expression(const Diagnostic& error) {
  return error.file == "expression" && error.line == 1 && error.excerpt;
}

std::string show(const Diagnostic& error) {
  std::string place = error.file.empty() ? "" : fmt::format("{}:{}: ", error.file, error.line);
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
  // "Ptx assembly aborted due to errors" says nothing beside those errors.
  const auto is_summary = [](const Diagnostic& error) {
    return error.file.empty() && StringRef(error.message).contains("aborted due to errors");
  };
  if (!std::all_of(errors.begin(), errors.end(), is_summary)) std::erase_if(errors, is_summary);
  return errors;
}

std::string explain(std::string_view log, std::string_view ptx, std::string_view entry,
                    std::string_view expression) {
  auto errors = parse_log(log, ptx);
  // What ptxas refuses is the kernel as a whole: too much shared memory, say.
  const auto of_assembler = [](const Diagnostic& error) {
    return error.stage == Diagnostic::Stage::assembler;
  };
  if (std::any_of(errors.begin(), errors.end(), of_assembler)) expression = {};
  std::string text = expression.empty() ? fmt::format("kernel \"{}\" does not compile", entry)
                                        : "the expression does not compile";
  if (errors.empty()) {
    text += fmt::format("; NVRTC says:\n{}", str(StringRef(log.data(), log.size()).trim()));
    return text;
  }
  // Errors outside the expression only follow from those in it.
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

TMAJIT_END
