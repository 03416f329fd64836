#include "compile/resources.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN

namespace {

/// The number that stands right before `unit` in `line`: 19 for " registers" in "Used 19 registers"; else 0.
std::uint32_t number_before(llvm::StringRef line, llvm::StringRef unit) {
  const auto before = line.substr(0, line.find(unit));
  if (before.size() == line.size()) return 0;
  const auto digits = before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1));
  std::uint32_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

}  // namespace

// The report of a kernel runs from its "Compiling entry function" to the next one's. In it, functions that
// were not inlined follow with properties of their own, which are not the kernel's:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 19 registers, used 1 barriers, 32 bytes cumulative stack size, 1032 bytes smem
//   ptxas info    : Function properties for helper
std::optional<Resources> parse_resources(std::string_view log, std::string_view entry) {
  const auto kernel = "Compiling entry function '" + std::string(entry) + "' ";
  std::optional<Resources> result;
  bool of_kernel = false;
  for (llvm::StringRef rest(log.data(), log.size()); !rest.empty();) {
    llvm::StringRef line;
    std::tie(line, rest) = rest.split('\n');
    if (line.contains("Compiling entry function '")) {
      if (result) break;
      if (line.contains(kernel)) {
        result.emplace();
        of_kernel = true;
      }
    } else if (!result) {
      continue;
    } else if (const auto name = line.find("Function properties for "); name != llvm::StringRef::npos) {
      of_kernel = line.substr(name + std::strlen("Function properties for ")).trim() ==
                  llvm::StringRef(entry.data(), entry.size());
    } else if (of_kernel && line.contains(" bytes stack frame")) {
      result->stack_bytes = number_before(line, " bytes stack frame");
      result->spill_store_bytes = number_before(line, " bytes spill stores");
      result->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (of_kernel && line.contains("Used ")) {
      result->registers = number_before(line, " registers");
      result->barriers = number_before(line, " barriers");
      result->static_shared_bytes = number_before(line, " bytes smem");
    }
  }
  return result;
}

TMAJIT_END
