#include "ptx/ast.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace ptx {

std::string Instruction::full_name() const {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += '.';
    text += word;
  }
  return text;
}

bool Instruction::has(std::string_view word) const noexcept {
  return !words.empty() && std::find(words.begin() + 1, words.end(), word) != words.end();
}

std::vector<ScalarType> Instruction::types() const {
  std::vector<ScalarType> found;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto type = parse_scalar_type(words[i])) found.push_back(*type);
  }
  return found;
}

std::vector<StateSpace> Instruction::spaces() const {
  std::vector<StateSpace> found;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto space = parse_state_space(words[i])) found.push_back(*space);
  }
  return found;
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
