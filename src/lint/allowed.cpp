#include "lint/allowed.hpp"

#include "check/rules.hpp"

#include <tmajit/error.hpp>

#include <fstream>
#include <iterator>
#include <optional>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/GlobPattern.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

bool matches(const std::string& pattern, const std::string& kernel) {
  if (pattern == "*") return true;
  auto glob = llvm::GlobPattern::create(pattern);
  if (glob) return glob->match(kernel);
  llvm::consumeError(glob.takeError());
  return pattern == kernel;
}

bool allows_at(const Comments& comments, std::uint64_t line, const std::string& rule) {
  for (const std::uint64_t at : {line, line - 1}) {
    const auto found = comments.find(at);
    if (line != 0 && found != comments.end() && llvm::is_contained(found->second, rule)) return true;
  }
  return false;
}

}  // namespace

Comments find_comments(std::string_view text) {
  constexpr llvm::StringLiteral mark = "tmajit-allow:";
  Comments comments;
  const llvm::StringRef all(text.data(), text.size());
  std::uint64_t line = 1;
  std::size_t counted = 0;
  for (std::size_t at = all.find(mark); at != llvm::StringRef::npos; at = all.find(mark, at + 1)) {
    line += all.slice(counted, at).count('\n');
    counted = at;
    llvm::SmallVector<llvm::StringRef, 4> rules;
    all.substr(at + mark.size()).take_until([](char c) { return c == '\n' || c == '*'; }).split(rules, ',');
    // Text after a rule's id is a remark.
    for (const llvm::StringRef rule : rules) {
      const llvm::StringRef id = rule.trim().take_until([](char c) { return llvm::isSpace(c); });
      if (!id.empty()) comments[line].push_back(id.str());
    }
  }
  return comments;
}

Allowed::Allowed(std::string_view text, const LintOptions& options)
    : options_(options), in_ptx_(find_comments(text)) {
  for (const AllowedRule& each : options.allowed) {
    if (const std::string wrong = check::why_unknown(each.rule); !wrong.empty())
      throw Error(ErrorCode::invalid_argument, wrong);
  }
}

void Allowed::find_files(const ptx::Module& module) {
  for (const ptx::Directive& directive : module.directives) {
    const auto* const file = std::get_if<ptx::File>(&directive);
    if (file != nullptr) paths_.try_emplace(file->name.substr(file->name.rfind('/') + 1), file->name);
  }
}

const Comments& Allowed::comments_of(const std::string& file) {
  const auto [found, fresh] = in_sources_.try_emplace(file);
  const auto path = paths_.find(file);
  if (fresh && path != paths_.end() && options_.read_source) {
    if (const auto text = options_.read_source(path->second)) found->second = find_comments(*text);
  }
  return found->second;
}

bool Allowed::allows(const Finding& finding) {
  const bool by_options = llvm::any_of(options_.allowed, [&](const AllowedRule& each) {
    return each.rule == finding.rule && matches(each.kernel, finding.kernel);
  });
  return by_options || allows_at(in_ptx_, finding.ptx_line, finding.rule) ||
         (finding.source_line != 0 &&
          allows_at(comments_of(finding.source_file), finding.source_line, finding.rule));
}

void Allowed::apply(LintResult& result) {
  std::vector<Finding> not_allowed;
  for (Finding& finding : result.findings)
    (allows(finding) ? result.allowed : not_allowed).push_back(std::move(finding));
  result.findings = std::move(not_allowed);
  for (const auto& [line, rules] : in_ptx_) {
    for (const std::string& rule : rules) {
      const std::string wrong = check::why_unknown(rule);
      if (wrong.empty()) continue;
      Finding& finding = result.findings.emplace_back();
      check::describe(finding, "allow.unknown", wrong, {}, {});
      finding.ptx_line = static_cast<std::uint32_t>(line);
      finding.ptx_column = 1;
    }
  }
}

}  // namespace lint

std::vector<AllowedRule> parse_allowed_rules(std::string_view text, std::string_view name) {
  std::vector<AllowedRule> allowed;
  llvm::SmallVector<llvm::StringRef, 16> lines;
  llvm::StringRef(text.data(), text.size()).split(lines, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto [rule, rest] = llvm::getToken(lines[i].split('#').first);
    const auto [kernel, more] = llvm::getToken(rest);
    if (rule.empty()) continue;
    std::string wrong = check::why_unknown(std::string_view(rule.data(), rule.size()));
    if (!more.trim().empty())
      wrong =
          fmt::format("{} is one word too many: a rule and perhaps a kernel are legal", more.trim().str());
    if (!wrong.empty())
      throw Error(ErrorCode::invalid_argument, fmt::format("{}:{}: {}", name, i + 1, wrong));
    allowed.push_back({rule.str(), kernel.empty() ? "*" : kernel.str()});
  }
  return allowed;
}

std::optional<std::string> read_source_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return std::nullopt;
  return text;
}

TMAJIT_END
