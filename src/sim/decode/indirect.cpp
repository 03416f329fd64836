/// The parts of the decoder for indirect calls, and for addresses in the initial values of variables.
#include "sim/decode/decode.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// First address of a function. Functions have addresses 16 bytes apart; no memory has these addresses.
constexpr std::uint64_t function_window = 0x7a00'0000'0000;
constexpr std::uint64_t function_bytes = 16;

void add_names(const ptx::Initializer& value, std::set<std::string>& names) {
  if (!value.name.empty()) names.insert(value.name);
  for (const ptx::Initializer& inner : value.elements) add_names(inner, names);
}

void add_names(const ptx::Operand& operand, std::set<std::string>& names) {
  if (operand.kind == ptx::Operand::Kind::symbol) names.insert(operand.name);
  for (const ptx::Operand& element : operand.elements) add_names(element, names);
}

/// Adds the names in all instructions except calls.
void add_names(const ptx::Block& block, std::set<std::string>& names) {
  for (const ptx::Statement& statement : block.statements) {
    if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) add_names(*inner, names);
    const auto* instruction = std::get_if<ptx::Instruction>(&statement.node);
    if (instruction == nullptr || instruction->opcode == Opcode::call) continue;
    for (const ptx::Operand& operand : instruction->operands) add_names(operand, names);
  }
}

/// Whether two lists of parameters or results have the same number and sizes.
bool agree(const std::vector<ptx::Variable>& a, const std::vector<ptx::Variable>& b) {
  return std::ranges::equal(
      a, b, {}, [](const ptx::Variable& each) { return bytes_of(each); },
      [](const ptx::Variable& each) { return bytes_of(each); });
}

}  // namespace

void Decoder::collect_functions(const ptx::Module& module) {
  std::set<std::string> names;
  for (const ptx::Directive& directive : module.directives) {
    if (const auto* variable = std::get_if<ptx::Variable>(&directive); variable != nullptr) {
      if (variable->initializer) add_names(*variable->initializer, names);
      variables_[variable->name] = variable;
    }
    const auto* function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr) continue;
    if (function->body) add_names(*function->body, names);
    // A declaration and the definition share an address.
    function_addresses_.try_emplace(function->name,
                                    function_window + function_bytes * (function_addresses_.size() + 1));
  }
  for (const auto& [name, address] : function_addresses_) {
    const ptx::Function* function = module.find(name);
    if (names.contains(name) && function->body && !function->is_entry) addressed_.push_back(function);
  }
  module_ = &module;
}

std::vector<const ptx::Function*> Decoder::targets(const ptx::Binding& binding) const {
  std::vector<const ptx::Function*> found;
  if (const auto* list = std::get_if<const ptx::TargetList*>(&binding)) {
    for (const std::string& name : (*list)->targets) {
      const ptx::Function* function = module_->find(name);
      if (function != nullptr && function->body) found.push_back(function);
    }
  }
  if (const auto* prototype = std::get_if<const ptx::CallPrototype*>(&binding)) {
    std::ranges::copy_if(addressed_, std::back_inserter(found), [&](const ptx::Function* function) {
      return agree(function->parameters, (*prototype)->parameters) &&
             agree(function->results, (*prototype)->results);
    });
  }
  return found;
}

std::vector<const ptx::Function*> Decoder::called_by(const ptx::FlatFunction& flat) const {
  std::vector<const ptx::Function*> all;
  const auto add = [&](const ptx::Function* function) {
    if (function->body && std::ranges::find(all, function) == all.end()) all.push_back(function);
  };
  for (const ptx::FlatInstruction& each : flat.instructions) {
    if (each.instruction->opcode != Opcode::call) continue;
    for (const ptx::Binding& binding : each.bindings) {
      if (const auto* function = std::get_if<const ptx::Function*>(&binding)) add(*function);
      for (const ptx::Function* function : targets(binding)) add(function);
    }
  }
  return all;
}

std::uint64_t Decoder::function_address(const ptx::Function& function) const {
  return function_addresses_.at(function.name);
}

void Decoder::write_relocations() {
  for (const Relocation& each : relocations_) {
    const ptx::Initializer& value = *each.value;
    std::uint64_t address = 0;
    if (const auto function = function_addresses_.find(value.name); function != function_addresses_.end()) {
      address = function->second;
    } else {
      const auto found = variables_.find(value.name);
      if (found == variables_.end()) {
        throw Error(
            ErrorCode::unsupported,
            fmt::format("PTX line {}: the initial value of {} is the address of {}, which the module does "
                        "not declare",
                        each.variable->location.line, each.variable->name, value.name));
      }
      const ptx::Variable& variable = *found->second;
      address = addresses_[&variable];
      if (variable.space == StateSpace::global) {
        address += program_.global_base;
        program_.uses_globals = true;
      } else if (value.kind == ptx::Initializer::Kind::generic && variable.space == StateSpace::constant) {
        address += constant_window;
      }
    }
    address += static_cast<std::uint64_t>(value.offset);
    // 0xFF00(name) selects the bits of the address under the mask, shifted down to bit 0.
    if (value.kind == ptx::Initializer::Kind::mask && value.value.bits != 0)
      address = (address & value.value.bits) >> std::countr_zero(value.value.bits);
    auto& bank = each.global ? program_.global_image : program_.constant_bank;
    std::memcpy(bank.data() + each.at, &address, each.bytes);
  }
}

}  // namespace sim
TMAJIT_END
