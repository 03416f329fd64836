#include "ptx/query.hpp"
#include "ptx/texts.hpp"

#include <regex>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace tmajit::ptx;

TEST_CASE("nvcc's PTX is parsed, and printing and parsing it again gives the same tree") {
  const std::string name =
      GENERATE("control.ptx", "arithmetic.ptx", "memory.ptx", "asynchronous.ptx", "debug.ptx");
  CAPTURE(name);
  const std::string text = tests::read_data(name);
  const Module module = tests::parse(text);
  const std::string printed = print(module);
  const Module again = tests::parse(printed);
  CHECK((again == module));
  CHECK(print(again) == printed);
  CHECK(histogram(module) == histogram(again));
}

TEST_CASE("operands that cannot be parsed are printed unchanged, whatever their first character") {
  for (const char* operands : {"\"\"", "\"text\", %r1", ".u32 %r1", "%r1 %r2", "[["}) {
    const std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() { frobnicate " +
                             std::string(operands) + "; ret; }";
    INFO(text);
    const ParseResult first = parse(text);
    REQUIRE(first);
    const ParseResult second = parse(print(*first.module));
    REQUIRE(second);
    CHECK(*second.module == *first.module);
  }
}

TEST_CASE("the tree has as many instructions as a line-by-line count finds in the text") {
  // The count uses no parser: it counts the lines that start, after a guard, with an opcode. The arguments of
  // a call are on separate lines, which have no ';' or start with '('.
  const std::regex line(R"(^\s*(@!?%p\d+\s+)?([a-z][a-z0-9_]*)[^;]*;.*$)");
  const std::string name = GENERATE("memory.ptx", "control.ptx");
  std::istringstream text(tests::read_data(name));
  std::size_t expected = 0;
  for (std::string each; std::getline(text, each);) {
    if (each.find(".callprototype") != std::string::npos) continue;
    if (std::regex_match(each, line) || each.find("\tcall") != std::string::npos) ++expected;
  }
  std::size_t found = 0;
  for (const auto& [word, times] : histogram(tests::read_data(name))) found += times;
  CHECK(found == expected);
  CHECK(found > 100);
}

TEST_CASE("trees with different content compare unequal, and positions in the text do not matter") {
  const std::string text = tests::read_data("asynchronous.ptx");
  const Module module = tests::parse(text);
  CHECK((tests::parse("\n\n" + text) == module));
  std::size_t changed = 0;
  Module other = module;
  for (Directive& directive : other.directives) {
    auto* function = std::get_if<Function>(&directive);
    if (function == nullptr || !function->body) continue;
    for (Statement& statement : function->body->statements) {
      auto* instruction = std::get_if<Instruction>(&statement.node);
      if (instruction == nullptr || instruction->operands.empty()) continue;
      const Operand saved = instruction->operands[0];
      instruction->operands[0].offset += 1;
      CHECK((other != module));
      instruction->operands[0] = saved;
      ++changed;
    }
  }
  CHECK((other == module));
  CHECK(changed > 20);
}
