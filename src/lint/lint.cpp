#include "check/also_lines.hpp"
#include "check/kernel_name.hpp"
#include "check/own_files.hpp"
#include "lint/allowed.hpp"
#include "lint/checks.hpp"
#include "ptx/opcode_rows.hpp"
#include "ptx/printer.hpp"

#include <tmajit/lint.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {

namespace {

void locate(Finding& finding, const ptx::FlatInstruction& flat, const check::OwnFiles& own) {
  finding.instruction = print(*flat.instruction);
  finding.source_file = flat.source.file();
  finding.source_path = own.shown(flat.source.path);
  finding.source_line = flat.source.line;
}

}  // namespace

Findings::Findings(const Kernel& kernel, const check::OwnFiles& own, Groups& groups, LintResult& result)
    : kernel_(kernel), own_(own), groups_(groups), result_(result) {}

void Findings::count_segments() {
  std::uint32_t segment = 0;
  for (const ptx::FlatInstruction& flat : kernel_.function.instructions) {
    if (ptx::separates(flat.instruction->opcode)) ++segment;
    segments_.push_back(segment);
  }
}

void Findings::add(std::uint32_t instruction, check::RuleId rule, std::string found, std::string expected,
                   const FindingCause& cause) {
  const ptx::FlatInstruction& flat = kernel_.function.instructions[instruction];
  if (!added_.emplace(flat.instruction, rule->id).second) return;
  if (segments_.empty()) count_segments();
  Finding& finding = result_.findings.emplace_back();
  check::describe(finding, rule, std::move(found), std::move(expected), cause.remedy);
  finding.kernel = kernel_.function.function->name;
  finding.ptx_line = flat.instruction->location.line;
  finding.ptx_column = flat.instruction->location.column;
  locate(finding, flat, own_);
  const bool has_frame = flat.frame != ptx::SourceFrame::none;
  // Numbers of segments are even, numbers that a check defines are odd.
  std::uint64_t number = 0;
  if (cause.instruction) number = 2 * (segments_[*cause.instruction] + 1ULL);
  if (cause.number) number = 2 * *cause.number + 1;
  groups_.note(finding, has_frame ? flat.frame + 1ULL : 0, number);
}

void Groups::apply(std::vector<Finding>& findings) const {
  // Kernel, rule, whether the number is a cause (1) or a statement (0), and the number.
  using MergeKey = std::tuple<std::string, std::string, int, std::uint64_t>;
  std::vector<Finding> merged;
  std::map<MergeKey, std::size_t> index_of;            // indices in `merged`
  std::vector<std::vector<std::uint32_t>> more_lines;  // by the same index: lines of the other findings
  for (Finding& finding : findings) {
    const auto key = keys_.find(key_of(finding));
    std::optional<std::size_t> index;
    std::vector<MergeKey> merge_keys;
    if (key != keys_.end()) {
      if (key->second.statement != 0)
        merge_keys.emplace_back(finding.kernel, finding.rule, 0, key->second.statement);
      if (key->second.cause != 0) merge_keys.emplace_back(finding.kernel, finding.rule, 1, key->second.cause);
    }
    for (const MergeKey& each : merge_keys) {
      const auto found = index_of.find(each);
      if (found != index_of.end()) index = index ? std::min(*index, found->second) : found->second;
    }
    if (index) {
      more_lines[*index].push_back(finding.ptx_line);
    } else {
      index = merged.size();
      merged.push_back(std::move(finding));
      more_lines.emplace_back();
    }
    for (const MergeKey& each : merge_keys) index_of.try_emplace(each, *index);
  }
  for (std::size_t i = 0; i < merged.size(); ++i) check::add_lines(merged[i], std::move(more_lines[i]));
  findings = std::move(merged);
}

void Findings::unfinished(check::RuleId rule) {
  result_.unfinished.push_back(fmt::format("{}: {}", kernel_.function.function->name, rule->id));
}

namespace {

void add_diagnostics(const std::vector<ptx::Diagnostic>& diagnostics, check::RuleId rule,
                     std::string_view kernel, LintResult& result) {
  for (const ptx::Diagnostic& diagnostic : diagnostics) {
    Finding& finding = result.findings.emplace_back();
    check::describe(finding, rule, diagnostic.message, {}, {});
    finding.kernel = kernel;
    finding.ptx_line = diagnostic.location.line;
    finding.ptx_column = diagnostic.location.column;
  }
}

constexpr std::size_t max_notes = 20;

/// Whether all instructions are known. Adds a note for each unknown instruction.
bool knows_instructions(const ptx::FlatFunction& function, const check::OwnFiles& own, LintResult& result) {
  bool all = true;
  for (const ptx::FlatInstruction& flat : function.instructions) {
    if (flat.instruction->opcode != ptx::Opcode::unknown) continue;
    all = false;
    if (result.notes.size() == max_notes) break;
    Finding& note = result.notes.emplace_back();
    check::describe(note, "instruction.unknown", flat.instruction->fault, {}, {});
    note.kernel = function.function->name;
    note.ptx_line = flat.instruction->fault_location.line;
    note.ptx_column = flat.instruction->fault_location.column;
    locate(note, flat, own);
  }
  return all;
}

struct MapUses {
  std::set<std::size_t> used;  ///< indices of the LintOptions::maps that kernels use
  bool known = true;           ///< whether `used` is complete
};

void lint_function(const ptx::Module& module, const ptx::ModuleNames& names, const ptx::Function& function,
                   const LintOptions& options, Allowance& allowance, check::OwnFiles& own, Groups& groups,
                   MapUses& maps, LintResult& result) {
  if (function.is_entry) result.kernels.push_back(function.name);
  ptx::ResolveResult resolved = resolve(names, function);
  if (!resolved) {
    maps.known = false;
    add_diagnostics(resolved.diagnostics, "name", function.name, result);
    return;
  }
  choose_sources(*resolved.function,
                 [&](std::span<const std::string_view> paths) { return own.reported_frame(paths); });
  if (!knows_instructions(*resolved.function, own, result)) {
    maps.known = false;
    return;
  }
  const Kernel kernel(module, std::move(*resolved.function), options, allowance);
  if (function.is_entry) {
    maps.used.insert(kernel.maps_used.begin(), kernel.maps_used.end());
    maps.known = maps.known && kernel.knows_maps;
  }
  Findings findings(kernel, own, groups, result);
  check_target(kernel, findings);
  check_accesses(kernel, findings);
  check_warpgroup(kernel, findings);
  check_unwritten(kernel, findings);
  // The remaining checks are for kernels: a called function may leave fences and waits to its callers.
  if (!function.is_entry) return;
  check_mbarriers(kernel, findings);
  check_init_order(kernel, findings);
  check_expected_bytes(kernel, findings);
  check_fences(kernel, findings);
  check_groups(kernel, findings);
  check_repeats(kernel, findings);
  check_waits(kernel, findings);
  check_map_changes(kernel, findings);
}

/// Every finding with its line and a caret.
std::string describe(const std::vector<Finding>& findings, std::string_view text, const std::string& name,
                     bool as_notes) {
  std::vector<ptx::Diagnostic> errors;
  for (const Finding& finding : findings) {
    std::string message = fmt::format("{}: {}", finding.rule, finding.found);
    if (!finding.kernel.empty()) message += fmt::format(" [kernel {}", check::shown_name(finding.kernel));
    message += check::source_location(finding);
    if (!finding.kernel.empty()) message += "]";
    errors.push_back(
        {{finding.ptx_line, finding.ptx_column}, std::move(message), finding.severity != Severity::mistake});
  }
  const std::vector<std::string> texts = ptx::print(errors, text, name, as_notes);
  std::string report;
  for (std::size_t i = 0; i < texts.size(); ++i) report += texts[i] + check::advice(findings[i]) + '\n';
  return report;
}

}  // namespace
}  // namespace lint

MapFacts map_facts(std::string_view parameter, const TensorMapSpec& spec) {
  const TileLayout layout = tile_layout(spec);
  return {.parameter = std::string(parameter),
          .box_bytes = layout.transaction_bytes,
          .rank = spec.rank,
          .element_bytes = spec.interleave == Interleave::none ? size_of(spec.type) : 0,
          .alignment = layout.alignment,
          .mode = spec.mode,
          .type = spec.type};
}

std::vector<MapFacts> map_facts(const KernelPlan& plan) {
  std::vector<MapFacts> facts;
  const auto parameters = plan.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].map) facts.push_back(map_facts(std::to_string(i), *parameters[i].map));
  }
  return facts;
}

LintResult lint_ptx(std::string_view text, const LintOptions& options) {
  LintResult result;
  lint::Allowed allowed(text, options);
  lint::Groups groups;
  const ptx::ParseResult parsed = ptx::parse(text, options.name);
  if (!parsed) {
    lint::add_diagnostics(parsed.diagnostics, "syntax", "", result);
  } else {
    allowed.find_files(*parsed.module);
    lint::Allowance allowance;
    check::OwnFiles own(options.project);
    lint::MapUses maps;
    const ptx::ModuleNames names(*parsed.module);
    for (const ptx::Directive& directive : parsed.module->directives) {
      const auto* function = std::get_if<ptx::Function>(&directive);
      if (function == nullptr || !function->body) continue;
      if (!function->is_entry || options.entry.empty() || function->name == options.entry)
        lint::lint_function(*parsed.module, names, *function, options, allowance, own, groups, maps, result);
    }
    for (std::size_t i = 0; i < options.maps.size(); ++i) {
      if (maps.known && !maps.used.contains(i)) result.unused_maps.push_back(i);
    }
  }
  if (!result.findings.empty() && check::uses_device_headers(text))
    std::ranges::for_each(result.findings, &check::name_helper);
  allowed.apply(result);
  std::ranges::stable_sort(result.findings, {},
                           [](const Finding& each) { return std::pair(each.ptx_line, each.ptx_column); });
  groups.apply(result.findings);
  result.report = lint::describe(result.findings, text, options.name, false) +
                  lint::describe(result.notes, text, options.name, true);
  return result;
}

TMAJIT_END
