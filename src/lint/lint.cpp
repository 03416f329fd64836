#include "lint/checks.hpp"
#include "ptx/printer.hpp"

#include <tmajit/lint.hpp>

#include <algorithm>

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {

void Findings::add(const Kernel& kernel, std::uint32_t instruction, std::string_view rule, std::string found,
                   std::string expected, std::string remedy) {
  const ptx::FlatInstruction& flat = kernel.function.instructions[instruction];
  if (!known_.emplace(flat.instruction, rule).second) return;
  Finding finding;
  finding.rule = rule;
  finding.kernel = kernel.function.function->name;
  finding.ptx_line = flat.instruction->location.line;
  finding.ptx_column = flat.instruction->location.column;
  finding.instruction = print(*flat.instruction);
  finding.source_line = flat.source == nullptr ? 0 : flat.source->line;
  finding.found = std::move(found);
  finding.expected = std::move(expected);
  finding.remedy = std::move(remedy);
  result_.findings.push_back(std::move(finding));
}

void Findings::unfinished(const Kernel& kernel, std::string_view rule) {
  result_.unfinished.push_back(fmt::format("{}: {}", kernel.function.function->name, rule));
}

std::string line_of(const Kernel& kernel, std::uint32_t instruction) {
  if (instruction >= kernel.function.instructions.size()) return "the end of the function";
  return fmt::format("line {}", kernel.instruction(instruction).location.line);
}

namespace {

void add_diagnostics(const std::vector<ptx::Diagnostic>& diagnostics, std::string_view rule,
                     std::string_view kernel, std::string_view expected, LintResult& result) {
  for (const ptx::Diagnostic& diagnostic : diagnostics) {
    Finding finding;
    finding.rule = rule;
    finding.kernel = kernel;
    finding.ptx_line = diagnostic.location.line;
    finding.ptx_column = diagnostic.location.column;
    finding.found = diagnostic.message;
    finding.expected = expected;
    finding.remedy = "nothing else of this text was looked at: mend this first";
    result.findings.push_back(std::move(finding));
  }
}

void lint_function(const ptx::Module& module, const ptx::Function& function, const LintOptions& options,
                   LintResult& result, Findings& findings) {
  if (function.is_entry) result.kernels.push_back(function.name);
  ptx::ResolveResult resolved = resolve(module, function);
  if (!resolved) {
    add_diagnostics(resolved.diagnostics, "name", function.name, "names that are declared, once a scope",
                    result);
    return;
  }
  const Kernel kernel(module, std::move(*resolved.function), options);
  check_target(kernel, findings);
  check_addresses(kernel, findings);
  check_copies(kernel, findings);
  // What a function leaves to its callers is not seen from within it.
  if (!function.is_entry) return;
  check_mbarriers(kernel, findings);
  check_init_order(kernel, findings);
  check_expected_bytes(kernel, findings);
  check_fences(kernel, findings);
  check_groups(kernel, findings);
}

/// Every finding with its line and a caret.
std::string describe(const std::vector<Finding>& findings, std::string_view text, const std::string& name) {
  llvm::SourceMgr sources;
  const unsigned buffer =
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()}, name), {});
  std::string report;
  llvm::raw_string_ostream out(report);
  for (const Finding& finding : findings) {
    std::string message = fmt::format("{}: {}", finding.rule, finding.found);
    if (!finding.kernel.empty()) message += fmt::format(" [kernel {}", finding.kernel);
    if (finding.source_line != 0) message += fmt::format(", source line {}", finding.source_line);
    if (!finding.kernel.empty()) message += "]";
    const llvm::SMLoc where =
        finding.ptx_line == 0 ? llvm::SMLoc()
                              : sources.FindLocForLineAndColumn(buffer, finding.ptx_line, finding.ptx_column);
    if (where.isValid()) {
      sources.PrintMessage(out, where, llvm::SourceMgr::DK_Error, message, {}, {}, false);
    } else {
      out << name << ": error: " << message << '\n';
    }
    out << "  legal: " << finding.expected << "\n  remedy: " << finding.remedy << '\n';
  }
  out.flush();
  return report;
}

}  // namespace
}  // namespace lint

MapFacts map_facts(std::string_view parameter, const TensorMapSpec& spec) {
  const TileLayout layout = tile_layout(spec);
  MapFacts facts;
  facts.parameter = parameter;
  facts.box_bytes = layout.transaction_bytes;
  facts.rank = spec.rank;
  facts.element_bytes = spec.interleave == Interleave::none ? size_of(spec.type) : 0;
  facts.alignment = layout.alignment;
  return facts;
}

LintResult lint_ptx(std::string_view text, const LintOptions& options) {
  LintResult result;
  const ptx::ParseResult parsed = ptx::parse(text, options.name);
  if (!parsed) {
    lint::add_diagnostics(parsed.diagnostics, "syntax", "", "PTX as its ISA 8.0 to 9.x defines it", result);
  } else {
    lint::Findings findings(result);
    for (const ptx::Directive& directive : parsed.module->directives) {
      const auto* function = std::get_if<ptx::Function>(&directive);
      if (function != nullptr && function->body)
        lint::lint_function(*parsed.module, *function, options, result, findings);
    }
  }
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.ptx_line, a.ptx_column) < std::tie(b.ptx_line, b.ptx_column);
  });
  result.report = lint::describe(result.findings, text, options.name);
  return result;
}

TMAJIT_END
