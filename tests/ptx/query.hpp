#pragma once

/// Lets tests find and count the instructions of PTX.
#include "ptx/parser.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace ptx {

/// Whether `name` ("ld.global.v4.f32") is `prefix` or continues it with '.' or ':'. So "cp.async.bulk"
/// matches every bulk copy and "…tile.mbarrier" matches "…tile.mbarrier::complete_tx::bytes", but "ld" does
/// not match "ldmatrix".
[[nodiscard]] inline bool matches(std::string_view name, std::string_view prefix) noexcept {
  if (!name.starts_with(prefix)) return false;
  return name.size() == prefix.size() || name[prefix.size()] == '.' || name[prefix.size()] == ':';
}

using VisitInstruction = std::function<void(const Instruction&)>;

inline void for_each_instruction(const Block& block, const VisitInstruction& visit) {
  for (const Statement& statement : block.statements) {
    if (const auto* instruction = std::get_if<Instruction>(&statement.node)) visit(*instruction);
    if (const auto* inner = std::get_if<Block>(&statement.node)) for_each_instruction(*inner, visit);
  }
}
/// Calls `visit` with every instruction of the body, in the order of the text, nested scopes included.
inline void for_each_instruction(const Function& function, const VisitInstruction& visit) {
  if (function.body) for_each_instruction(*function.body, visit);
}
/// Calls `visit` with every instruction of every function of the module.
inline void for_each_instruction(const Module& module, const VisitInstruction& visit) {
  for (const Directive& directive : module.directives) {
    if (const auto* function = std::get_if<Function>(&directive)) for_each_instruction(*function, visit);
  }
}

/// Full name → number of occurrences.
using Histogram = std::map<std::string, std::size_t, std::less<>>;

/// Counts the instructions of a function or a module.
template <class Scope>
[[nodiscard]] Histogram histogram(const Scope& scope) {
  Histogram result;
  for_each_instruction(scope, [&](const Instruction& instruction) { ++result[instruction.name]; });
  return result;
}
/// Counts the instructions of PTX text. Throws std::invalid_argument with the diagnostics if it does not
/// parse.
[[nodiscard]] inline Histogram histogram(std::string_view text) {
  const ParseResult result = parse(text);
  if (!result) throw std::invalid_argument(result.report);
  return histogram(*result.module);
}
[[nodiscard]] inline Histogram histogram(const std::string& text) {
  return histogram(std::string_view(text));
}
[[nodiscard]] inline Histogram histogram(const char* text) {
  return histogram(std::string_view(text));
}

/// The number of instructions of a function, a module or a text that match `prefix`.
template <class Scope>
[[nodiscard]] std::size_t count(const Scope& scope, std::string_view prefix) {
  std::size_t found = 0;
  for (const auto& [name, times] : histogram(scope)) found += matches(name, prefix) ? times : 0;
  return found;
}

}  // namespace ptx
TMAJIT_END
