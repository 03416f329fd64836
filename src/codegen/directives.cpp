#include "codegen/directives.hpp"

#include "codegen/repetition.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return result;
    const std::size_t end = std::min(text.find(' '), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// The words of a directive, at least one; nullopt for any other line.
std::optional<std::vector<std::string_view>> directive(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with("//@")) return std::nullopt;
  std::vector<std::string_view> found = words(line.substr(3));
  if (found.empty()) found.emplace_back();
  return found;
}

/// The text between an opening directive and its end.
struct Part {
  bool emitted = true;
  bool is_used = false;  ///< opened by `used`, which without_unused() evaluates later
  bool has_else = false;
  std::string_view variable = {};                       ///< variable of `each`
  std::optional<std::vector<std::string>> values = {};  ///< values of `each … from` and `each … of`
  bool down = false;                                    ///< from the last dimension to the first
  bool ends_with_outer = false;                         ///< opened by the same `each` as the part around it
  std::size_t begin = 0;                                ///< beginning of its lines in the output
};

/// Evaluates the directives of one template.
class Selection {
 public:
  Selection(std::string_view file, const Flags& flags) : file_(file), flags_(flags) {}

  std::string run(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      if (const auto found = directive(line)) {
        handle(line, *found);
      } else if (emits()) {
        out_.append(line).append("\n");
      }
    }
    if (!open_.empty()) fail("the file ends before \"//@ end\"");
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool emits() const { return std::ranges::all_of(open_, &Part::emitted); }

  void handle(std::string_view line, const std::vector<std::string_view>& found) {
    const std::string_view keyword = found.front();
    if (keyword == "#") {
      // Authors of kernels read device headers, so notes become comments there.
      const std::size_t note = line.find('#') + 1;
      if (emits() && flags_.keeps_all()) out_.append("//").append(line.substr(note)).append("\n");
      return;
    }
    if (keyword == "if" && found.size() == 2) {
      open_.push_back({.emitted = condition(found[1])});
    } else if (keyword == "used" && found.size() >= 2) {
      if (emits() && !flags_.keeps_all()) out_.append(line).append("\n");
      open_.push_back({.is_used = true});
    } else if (keyword == "each" && (found.size() == 2 || (found.size() == 3 && found[2] == "down"))) {
      open_.push_back({.variable = found[1], .down = found.size() == 3, .begin = out_.size()});
    } else if (keyword == "each" && found.size() >= 4) {
      open_values(std::span(found).subspan(1));
    } else if (keyword == "else" && found.size() == 1) {
      if (open_.empty() || open_.back().is_used || open_.back().has_else || !open_.back().variable.empty())
        fail("there is no \"//@ if\" for it");
      open_.back().emitted = !open_.back().emitted;
      open_.back().has_else = true;
    } else if (keyword == "end" && found.size() == 1) {
      if (open_.empty()) fail("there is nothing to end");
      if (open_.back().is_used && emits() && !flags_.keeps_all()) out_.append(line).append("\n");
      for (bool more = true; more;) {
        if (open_.back().values) {
          repeat_values(open_.back());
        } else if (!open_.back().variable.empty()) {
          repeat(open_.back());
        }
        more = open_.back().ends_with_outer;
        open_.pop_back();
      }
    } else if (keyword == "expression" && found.size() == 1) {
      if (emits()) out_.append(line).append("\n");
    } else {
      fail_unknown();
    }
  }

  /// Opens a part for each variable of an `each`: "VARIABLE of WORD …" or "VARIABLE from FIRST …", separated
  /// by commas.
  void open_values(std::span<const std::string_view> found) {
    bool has_next = true;
    for (bool inner = false; has_next; inner = true) {
      std::vector<std::string_view> loop;
      for (has_next = false; !has_next && !found.empty(); found = found.subspan(1)) {
        has_next = found.front().ends_with(',');
        loop.push_back(found.front().substr(0, found.front().size() - (has_next ? 1 : 0)));
      }
      if (loop.size() < 3) fail_unknown();
      open_.push_back({.variable = loop[0],
                       .values = values(std::span<const std::string_view>(loop).subspan(1)),
                       .ends_with_outer = inner,
                       .begin = out_.size()});
    }
  }

  /// Returns the values that an `each` iterates over: "of WORD …", or "from FIRST to LAST", "by STEP", "if
  /// FLAG".
  std::vector<std::string> values(std::span<const std::string_view> found) {
    if (found[0] == "of") return {found.begin() + 1, found.end()};
    if (found[0] != "from" || found.size() % 2 != 0 || found[2] != "to") fail_unknown();
    std::int64_t step = 1;
    std::string_view flag;
    for (std::size_t i = 4; i < found.size(); i += 2) {
      if (found[i] == "by" && (step = bound(found[i + 1])) > 0) continue;
      if (found[i] != "if") fail_unknown();
      flag = found[i + 1];
    }
    std::vector<std::string> result;
    const std::int64_t last = bound(found[3]);
    for (std::int64_t k = bound(found[1]); k <= last; k += step) {
      if (flag.empty() || condition(fmt::format("{}{}", flag, k))) result.push_back(fmt::format("{}", k));
    }
    return result;
  }

  /// The value of a number, or of a flag: 1 if it is set, else 0.
  std::int64_t bound(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) return number;
    return condition(text) ? 1 : 0;
  }

  /// Writes the lines of an `each` part once for each of its values.
  void repeat_values(const Part& part) {
    const std::string body = out_.substr(part.begin);
    out_.resize(part.begin);
    try {
      out_ += repeated(body, part.variable, *part.values);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
    const bool inner = std::ranges::any_of(std::span(open_).first(open_.size() - 1),
                                           [](const Part& outer) { return outer.values.has_value(); });
    if (!inner && has_open_repetition(std::string_view(out_).substr(part.begin)))
      fail("a \"$\" before this \"end\" names no variable of an \"each\"");
  }

  /// Writes the lines of an `each` part once for each dimension, which compiles faster than an unrolled loop.
  /// If the number of dimensions is unknown, writes a loop.
  void repeat(const Part& part) {
    const std::string body = out_.substr(part.begin);
    out_.resize(part.begin);
    if (body.empty()) return;
    const std::uint32_t count = flags_.dimensions();
    if (count == 0) {
      const std::string_view indent = std::string_view(body).substr(0, body.find_first_not_of(' '));
      const std::string range = part.down ? fmt::format("{0} = rank; {0}-- > 0;", part.variable)
                                          : fmt::format("{0} = 0; {0} < rank; ++{0}", part.variable);
      out_ += fmt::format("#pragma unroll\n{0}for (u32 {1}) {{\n{2}{0}}}\n", indent, range, body);
      return;
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      out_ += with_value(body, part.variable, std::to_string(part.down ? count - 1 - k : k));
    }
  }

  bool condition(std::string_view name) {
    const bool negated = name.starts_with('!');
    if (negated) name.remove_prefix(1);
    try {
      return flags_.has(name) != negated;
    } catch (const Error& error) {
      fail(error.what());
    }
  }

  [[noreturn]] void fail_unknown() const { fail("it is none of if, else, end, each, used, expression, #"); }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorCode::internal, fmt::format("templates/{}:{}: {}", file_, line_, why));
  }

  std::string_view file_;
  const Flags& flags_;
  std::size_t line_ = 0;
  std::vector<Part> open_;
  std::string out_;
};

/// The names in a text's `used` directives, with a number for each.
using NameNumbers = std::unordered_map<std::string_view, std::size_t>;

/// Appends to `names` the numbers of the names that occur in a line's code, outside its comment and strings.
void add_names(std::string_view line, const NameNumbers& name_numbers, std::vector<std::size_t>& names) {
  for (std::size_t at = 0; at < line.size();) {
    if (line.substr(at).starts_with("//")) return;
    if (line[at] == '"') {
      for (++at; at < line.size() && line[at] != '"'; ++at) at += line[at] == '\\' ? 1 : 0;
      ++at;
    } else if (is_name_character(line[at])) {
      const std::size_t first = at;
      while (at < line.size() && is_name_character(line[at])) ++at;
      const auto found = name_numbers.find(line.substr(first, at - first));
      if (found != name_numbers.end()) names.push_back(found->second);
    } else {
      ++at;
    }
  }
}

/// The lines of one `used` part, without those of parts nested in it. Block 0 has the lines outside all
/// parts.
struct Block {
  std::vector<std::size_t> used_by;     ///< numbers of its directive's names; the use of one keeps the block
  std::size_t outer = 0;                ///< number of the block around it
  std::vector<std::size_t> names = {};  ///< numbers of the names that its code uses
  bool live = false;                    ///< kept in the source
};

using Lines = std::vector<std::string_view>;

bool begins_section(std::string_view line) {
  return line.starts_with("// ---- ") && line.ends_with(" ----");
}
/// The namespace that a line opens, if it does nothing else.
std::optional<std::string_view> opened(std::string_view line) {
  if (!line.starts_with("namespace ") || !line.ends_with(" {")) return std::nullopt;
  return line.substr(10, line.size() - 12);
}
std::optional<std::string_view> closed(std::string_view line) {
  constexpr std::string_view start = "}  // namespace ";
  if (!line.starts_with(start)) return std::nullopt;
  return line.substr(start.size());
}
bool is_blank_or_comment(std::string_view line) {
  return line.empty() || (line.starts_with("//") && !line.starts_with("//@"));
}

/// Removes sections that hold only comments and empty namespaces.
Lines without_empty_sections(const Lines& lines) {
  Lines result;
  for (std::size_t first = 0; first < lines.size();) {
    std::size_t end = first + 1;
    while (end < lines.size() && !begins_section(lines[end])) ++end;
    bool empty = begins_section(lines[first]);
    int open = 0;
    for (std::size_t i = first; i < end && empty; ++i) {
      open += opened(lines[i]) ? 1 : closed(lines[i]) ? -1 : 0;
      empty = is_blank_or_comment(lines[i]) || opened(lines[i]) || closed(lines[i]);
    }
    empty = empty && open == 0;
    if (!empty)
      result.insert(result.end(), lines.begin() + static_cast<std::ptrdiff_t>(first),
                    lines.begin() + static_cast<std::ptrdiff_t>(end));
    first = end;
  }
  return result;
}

/// Removes the end of a namespace and its next beginning if only comments and blank lines are between them.
Lines with_joined_namespaces(const Lines& lines) {
  std::vector<bool> dropped(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto name = closed(lines[i]);
    if (!name) continue;
    std::size_t next = i + 1;
    while (next < lines.size() && is_blank_or_comment(lines[next])) ++next;
    if (next == lines.size() || opened(lines[next]) != name) continue;
    dropped[i] = dropped[next] = true;
  }
  Lines result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!dropped[i]) result.push_back(lines[i]);
  }
  return result;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string selected(std::string_view text, std::string_view file, const Flags& flags) {
  return Selection(file, flags).run(text);
}

std::string without_unused(std::string_view text, std::string_view expression) {
  struct Line {
    std::string_view text;
    std::size_t block;
  };
  std::vector<Line> lines;
  std::vector<Block> blocks(1);
  NameNumbers name_numbers;
  std::size_t current = 0;
  bool balanced = true;
  for (const std::string_view line : lines_of(text)) {
    const auto found = directive(line);
    if (found && found->front() == "used") {
      Block block{.used_by = {}, .outer = current};
      for (const std::string_view name : std::span(*found).subspan(1)) {
        block.used_by.push_back(name_numbers.try_emplace(name, name_numbers.size()).first->second);
      }
      current = blocks.size();
      blocks.push_back(std::move(block));
    } else if (found && found->front() == "end") {
      balanced = balanced && current != 0;
      current = blocks[current].outer;
    } else {
      lines.push_back({line, current});
    }
  }
  if (!balanced || current != 0)
    throw Error(ErrorCode::internal,
                "a template's \"//@ used\" does not end in its own paragraph of an \"//@ each\"");
  add_names(expression, name_numbers, blocks[0].names);
  for (const Line& line : lines) add_names(line.text, name_numbers, blocks[line.block].names);

  std::vector<bool> live(name_numbers.size());
  const auto mark_live = [&](Block& block) {
    block.live = true;
    for (const std::size_t name : block.names) live[name] = true;
  };
  mark_live(blocks[0]);
  for (bool grows = true; grows;) {
    grows = false;
    for (Block& block : blocks) {
      const auto is_live = [&](std::size_t name) { return live[name]; };
      if (block.live || !blocks[block.outer].live || std::ranges::none_of(block.used_by, is_live)) continue;
      mark_live(block);
      grows = true;
    }
  }
  std::string out;
  for (const Line& line : lines) {
    if (blocks[line.block].live) out.append(line.text).append("\n");
  }
  return out;
}

namespace {
constexpr std::string_view text_mark = "//@ text ";
}  // namespace

std::string finished(std::string_view text, std::string_view expression, std::string_view file,
                     std::string_view epilogue) {
  const std::string used = without_unused(text, fmt::format("{} {}", expression, epilogue));
  std::string out;
  std::size_t count = 0;
  const auto put = [&](std::string_view line) {
    out.append(line).append("\n");
    ++count;
  };
  bool blank = false;
  bool no_blank = false;  // headings and beginnings of namespaces are followed by no blank line
  for (const std::string_view line : with_joined_namespaces(without_empty_sections(lines_of(used)))) {
    if (line.empty()) {
      blank = true;
      continue;
    }
    if (blank && !no_blank && !closed(line)) put("");
    blank = false;
    no_blank = begins_section(line) || opened(line);
    std::string_view name;
    std::string_view user_text;
    if (line == "//@ epilogue") {
      name = "epilogue";
      user_text = epilogue;
    } else if (line == "//@ expression") {
      name = "expression";
      user_text = expression;
    } else if (line.starts_with(text_mark)) {
      const std::size_t colon = line.find(": ");
      name = line.substr(text_mark.size(), colon - text_mark.size());
      user_text = line.substr(colon + 2);
    } else {
      put(line);
      continue;
    }
    put(fmt::format("#line 1 \"{}\"", name));
    put(user_text);
    count += static_cast<std::size_t>(std::ranges::count(user_text, '\n'));
    put(fmt::format("#line {} \"{}\"", count + 2, file));
  }
  return out;
}

TMAJIT_END
