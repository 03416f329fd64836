#include "ptx/ast.hpp"

#include <algorithm>

#include <llvm/ADT/StringExtras.h>

TMAJIT_BEGIN
namespace ptx {

std::string Instruction::full_name() const {
  return llvm::join(words, ".");
}

bool Instruction::has(std::string_view word) const noexcept {
  return !words.empty() && std::find(words.begin() + 1, words.end(), word) != words.end();
}

/// The words after the first that `parse` recognises, parsed.
template <class Parsed>
static std::vector<Parsed> parse_words(const std::vector<std::string>& words,
                                       std::optional<Parsed> (*parse)(std::string_view) noexcept) {
  std::vector<Parsed> found;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto parsed = parse(words[i])) found.push_back(*parsed);
  }
  return found;
}

std::vector<ScalarType> Instruction::types() const {
  return parse_words(words, parse_scalar_type);
}

std::vector<StateSpace> Instruction::spaces() const {
  return parse_words(words, parse_state_space);
}

std::uint32_t Instruction::vector_width() const noexcept {
  if (has("v2")) return 2;
  if (has("v4")) return 4;
  return has("v8") ? 8 : 1;
}

const Function* Module::find(std::string_view function) const noexcept {
  const Function* declared = nullptr;
  for (const Directive& directive : directives) {
    const auto* candidate = std::get_if<Function>(&directive);
    if (candidate == nullptr || candidate->name != function) continue;
    if (candidate->body) return candidate;
    declared = candidate;
  }
  return declared;
}

}  // namespace ptx
TMAJIT_END
