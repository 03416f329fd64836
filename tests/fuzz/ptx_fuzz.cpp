/// Parses arbitrary text as PTX. The parser must refuse it with a report, or make a tree whose printed text
/// parses to the same tree.
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/query.hpp"
#include "ptx/resolve.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tmajit::ptx;
  const ParseResult first = parse({reinterpret_cast<const char*>(data), size});
  if (!first) {
    if (first.report.empty() || first.diagnostics.empty()) std::abort();
    return 0;
  }
  const std::string text = print(*first.module);
  const ParseResult second = parse(text);
  if (!second || *second.module != *first.module || print(*second.module) != text) std::abort();
  if (histogram(*first.module) != histogram(*second.module)) std::abort();
  for (const Directive& directive : first.module->directives) {
    const auto* function = std::get_if<Function>(&directive);
    if (function == nullptr || !function->body) continue;
    const ResolveResult resolved = resolve(*first.module, *function);
    if (resolved ? !resolved.diagnostics.empty() : resolved.diagnostics.empty()) std::abort();
  }
  return 0;
}
