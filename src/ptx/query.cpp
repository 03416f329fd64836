#include "ptx/query.hpp"

#include "ptx/parser.hpp"

#include <stdexcept>

TMAJIT_BEGIN
namespace ptx {
namespace {

void visit_block(const Block& block, const std::function<void(const Instruction&)>& visit) {
  for (const Statement& statement : block.statements) {
    if (const auto* instruction = std::get_if<Instruction>(&statement.node)) visit(*instruction);
    if (const auto* inner = std::get_if<Block>(&statement.node)) visit_block(*inner, visit);
  }
}

template <class Scope>
std::size_t count_in(const Scope& scope, std::string_view prefix) {
  std::size_t found = 0;
  for_each_instruction(scope, [&](const Instruction& instruction) {
    found += matches(instruction.full_name(), prefix) ? 1 : 0;
  });
  return found;
}

template <class Scope>
Histogram histogram_of(const Scope& scope) {
  Histogram result;
  for_each_instruction(scope, [&](const Instruction& instruction) { ++result[instruction.full_name()]; });
  return result;
}

Module parse_or_throw(std::string_view text) {
  ParseResult result = parse(text);
  if (!result) throw std::invalid_argument(result.report);
  return std::move(*result.module);
}

}  // namespace

bool matches(std::string_view name, std::string_view prefix) noexcept {
  if (!name.starts_with(prefix)) return false;
  return name.size() == prefix.size() || name[prefix.size()] == '.' || name[prefix.size()] == ':';
}

void for_each_instruction(const Function& function, const std::function<void(const Instruction&)>& visit) {
  if (function.body) visit_block(*function.body, visit);
}

void for_each_instruction(const Module& module, const std::function<void(const Instruction&)>& visit) {
  for (const Directive& directive : module.directives) {
    if (const auto* function = std::get_if<Function>(&directive)) for_each_instruction(*function, visit);
  }
}

std::size_t count(const Function& function, std::string_view prefix) {
  return count_in(function, prefix);
}
std::size_t count(const Module& module, std::string_view prefix) {
  return count_in(module, prefix);
}
std::size_t count(std::string_view text, std::string_view prefix) {
  return count_in(parse_or_throw(text), prefix);
}

std::vector<const Instruction*> find_instructions(const Module& module, std::string_view prefix) {
  std::vector<const Instruction*> found;
  for_each_instruction(module, [&](const Instruction& instruction) {
    if (matches(instruction.full_name(), prefix)) found.push_back(&instruction);
  });
  return found;
}

Histogram histogram(const Function& function) {
  return histogram_of(function);
}
Histogram histogram(const Module& module) {
  return histogram_of(module);
}
Histogram histogram(std::string_view text) {
  return histogram_of(parse_or_throw(text));
}

}  // namespace ptx
TMAJIT_END
