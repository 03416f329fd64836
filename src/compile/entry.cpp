#include "compile/entry.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

#include <llvm/Demangle/Demangle.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// A kernel of a PTX module.
struct Entry {
  std::string symbol;  ///< "_Z5scaleILi3EEvPf"
  std::string name;    ///< "scale", without its namespaces
  std::string shown;   ///< "void scale<3>(float*)"
};

Entry described(std::string_view symbol) {
  Entry entry{.symbol = std::string(symbol), .name = std::string(symbol), .shown = std::string(symbol)};
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(entry.symbol.c_str())) return entry;  // true: the symbol is not mangled
  char* const name = demangler.getFunctionBaseName(nullptr, nullptr);
  if (name != nullptr) entry.name = name;
  std::free(name);
  entry.shown = llvm::demangle(entry.symbol);
  return entry;
}

std::vector<Entry> entries_of(std::string_view ptx) {
  constexpr std::string_view directive = ".entry ";
  std::vector<Entry> entries;
  for (auto at = ptx.find(directive); at != ptx.npos; at = ptx.find(directive, at)) {
    at += directive.size();
    entries.push_back(described(ptx.substr(at, ptx.find_first_of("( \t\r\n", at) - at)));
  }
  return entries;
}

}  // namespace

bool is_identifier(std::string_view text) noexcept {
  const auto continues = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '$'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, continues);
}

std::string find_entry(std::string_view entry, std::string_view ptx, const std::string& log) {
  const std::vector<Entry> all = entries_of(ptx);
  std::vector<std::string> shown;
  const Entry* found = nullptr;
  std::size_t matches = 0;
  for (const Entry& one : all) {
    if (one.symbol == entry) return one.symbol;
    shown.push_back(one.shown);
    if (!entry.empty() && one.name != entry) continue;
    found = &one;
    ++matches;
  }
  if (matches == 1) return found->symbol;
  const std::string kernels_text =
      all.empty() ? "it has none at all" : fmt::format("it has {}", fmt::join(shown, ", "));
  if (entry.empty()) {
    throw CompileError(all.empty()
                           ? "the source makes no kernel; a template is made by its name, such as "
                             "\"kernel<3, float>\""
                           : fmt::format("the source has several kernels; name one: {}", kernels_text),
                       log);
  }
  if (matches > 1) {
    throw CompileError(fmt::format("the source has several kernels \"{}\"; name one by an expression such as "
                                   "\"{}<3, float>\": {}",
                                   entry, entry, kernels_text),
                       log);
  }
  throw CompileError(
      fmt::format("the source has no kernel \"{}\"; {}. Declare it __global__; a template's is "
                  "named with its arguments, such as \"{}<3, float>\"",
                  entry, kernels_text, entry),
      log);
}

TMAJIT_END
