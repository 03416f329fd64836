#include "ptx/ast.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

/// Calls visit(word) for the words after the first until visit returns true. Returns whether it has.
template <class Visit>
bool any_modifier(std::string_view name, const Visit& visit) {
  for (std::size_t dot = name.find('.'); dot != name.npos;) {
    const std::size_t begin = dot + 1;
    dot = name.find('.', begin);
    if (visit(name.substr(begin, dot - begin))) return true;
  }
  return false;
}

/// The words after the first that `parse` recognises, parsed.
template <class Parsed>
llvm::SmallVector<Parsed, 4> parse_words(std::string_view name,
                                         std::optional<Parsed> (*parse)(std::string_view) noexcept) {
  llvm::SmallVector<Parsed, 4> found;
  any_modifier(name, [&](std::string_view word) {
    if (const auto parsed = parse(word)) found.push_back(*parsed);
    return false;
  });
  return found;
}

}  // namespace

llvm::SmallVector<llvm::StringRef, 8> Instruction::words() const {
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::StringRef(name).split(words, '.');
  return words;
}

bool Instruction::has(std::string_view word) const noexcept {
  return any_modifier(name, [&](std::string_view each) { return each == word; });
}

llvm::SmallVector<ScalarType, 4> Instruction::types() const {
  return parse_words(name, parse_scalar_type);
}

llvm::SmallVector<StateSpace, 4> Instruction::spaces() const {
  return parse_words(name, parse_state_space);
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
