#pragma once

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/query.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace tests {

inline const std::string header = ".version 8.3\n.target sm_90a\n.address_size 64\n";

/// A module with one kernel, whose `body` begins at line 6.
inline std::string kernel(const std::string& body) {
  return header + ".visible .entry kernel()\n{\n" + body + "\n}\n";
}

inline tmajit::ptx::Module parse(const std::string& text) {
  auto result = tmajit::ptx::parse(text, "test.ptx");
  if (!result) throw std::runtime_error(result.report);
  return std::move(*result.module);
}

/// The statements of kernel(body).
inline std::vector<tmajit::ptx::Statement> statements(const std::string& body) {
  const auto module = parse(kernel(body));
  return module.find("kernel")->body->statements;
}

/// The first statement of kernel(text), which must be an instruction.
inline tmajit::ptx::Instruction instruction(const std::string& text) {
  return std::get<tmajit::ptx::Instruction>(statements(text).at(0).node);
}

/// The first error of a text, or the fault of its first unknown instruction; empty if there is none.
inline std::string error_of(const std::string& text) {
  const auto result = tmajit::ptx::parse(text, "test.ptx");
  if (!result) return result.diagnostics.at(0).message;
  std::string fault;
  tmajit::ptx::for_each_instruction(*result.module, [&](const tmajit::ptx::Instruction& each) {
    CHECK(each.fault.empty() == (each.opcode != tmajit::ptx::Opcode::unknown));
    if (fault.empty()) fault = each.fault;
  });
  return fault;
}

inline std::string read_data(const std::string& name) {
  std::ifstream file(std::string(TMAJIT_PTX_DATA) + "/" + name);
  if (!file) throw std::runtime_error("no " + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tests
