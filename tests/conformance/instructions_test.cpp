/// Compares docs/instructions.md with the headers, files, rules and cases that it names.
#include "conformance/suite.hpp"
#include "ptx_alone.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/finding.hpp>
#include <tmajit/own_kernel.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace conformance;
using namespace tmajit;

namespace {

struct Row {
  std::string instruction;
  std::string header;
  std::string function;
  std::string file;
  std::vector<std::string> rules;
  std::string example;  ///< a case of the suite
};

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(TMAJIT_SOURCE) + "/" + path);
  INFO(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The texts in backquotes.
std::vector<std::string> quoted(const std::string& cell) {
  std::vector<std::string> found;
  const std::regex quote("`([^`]+)`");
  for (std::sregex_iterator at(cell.begin(), cell.end(), quote), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

std::vector<Row> table() {
  const std::string text = text_of("docs/instructions.md");
  const std::regex line(
      "\\| (`[^|]+`) \\| (`[^|]+`) \\| (`[^|]+`) \\| \\[([^|\\]]+)\\]\\(\\.\\./[^|]+\\) \\| ([^|]+) \\| "
      "(`[^|]+`) \\|\n");
  std::vector<Row> rows;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    rows.push_back({quoted((*at)[1])[0], "tmajit/" + quoted((*at)[2])[0], quoted((*at)[3])[0], (*at)[4],
                    quoted((*at)[5]), quoted((*at)[6])[0]});
  }
  // The expression above matched every line of the table except the two of its heading.
  std::size_t lines = 0;
  for (std::size_t at = text.find("\n|"); at != std::string::npos; at = text.find("\n|", at + 1)) ++lines;
  REQUIRE(rows.size() + 2 == lines);
  return rows;
}

/// An expression for the instruction. `…` stands for any text without space or semicolon.
std::regex pattern(const std::string& instruction) {
  std::string expression;
  for (std::size_t i = 0; i < instruction.size(); ++i) {
    constexpr std::string_view dots = "…";
    if (instruction.compare(i, dots.size(), dots) == 0) {
      expression += "[^\\s;]*";
      i += dots.size() - 1;
    } else {
      expression += instruction[i] == '.' ? "\\." : std::string(1, instruction[i]);
    }
  }
  return std::regex(expression);
}

std::string header(const std::string& name) {
  for (const auto& [each, text] : device_headers())
    if (each == name) return text;
  return {};
}

}  // namespace

TEST_CASE("the headers, functions, files, rules and cases in the table of instructions exist") {
  std::map<std::string, std::string> compiled;  // PTX of kernels, by their texts
  for (const Row& row : table()) {
    INFO(row.instruction);
    const std::string text = header(row.header);
    CHECK(text.find(" " + row.function + "(") != std::string::npos);
    CHECK(std::regex_search(text, pattern(row.instruction)));
    const std::string file = text_of(row.file);
    // A switch over all reductions builds function names by token pasting.
    const std::string stem = row.function.substr(0, row.function.rfind("reduce") + 6);
    CHECK((file.find(row.function) != std::string::npos ||
           (row.function.find("reduce") != std::string::npos && file.find(stem) != std::string::npos)));
    for (const std::string& rule : row.rules) {
      CHECK(std::ranges::any_of(check_rules(), [&](const Rule& each) { return each.id == rule; }));
      CHECK(text_of("docs/lint.md").find("`" + rule + "`") != std::string::npos);
    }
    const auto& cases = all_cases();
    const auto found = std::ranges::find(cases, row.example, &Case::name);
    REQUIRE(found != cases.end());
    reference::Random random(1);
    bool executed = false;
    for (const Trial& trial : found->trials(random)) {
      if (executed) break;
      std::string& ptx = compiled[trial.kernel.entry + trial.kernel.text];
      if (ptx.empty()) ptx = compile(source(trial.kernel), tests::ptx_alone).ptx;
      executed = std::regex_search(ptx, pattern(row.instruction));
    }
    CHECK(executed);
  }
}

TEST_CASE("no instruction of the device headers is missing in the table") {
  const auto rows = table();
  const std::regex instruction(
      "(cp|mbarrier|fence|barrier|elect|mapa|getctarank|griddepcontrol|setmaxnreg|ldmatrix|stmatrix|prefetch|"
      "tensormap|wgmma|st\\.async|createpolicy)\\.[\\w.:]+ ?[^ ;]");
  for (const auto& [name, text] : device_headers()) {
    if (name == "tmajit/wgmma_b1.cuh") continue;  // the page says that it leaves this header out
    const std::regex literal("asm(?: volatile)?\\(\\s*((?:\"(?:[^\"\\\\]|\\\\.)*\"\\s*)+)");
    for (std::sregex_iterator at(text.begin(), text.end(), literal), end; at != end; ++at) {
      const std::string code = (*at)[1];
      for (std::sregex_iterator one(code.begin(), code.end(), instruction); one != end; ++one) {
        const std::string found = one->str();
        INFO(name << ": " << found);
        CHECK(std::ranges::any_of(rows, [&](const Row& row) {
          // A row of matrix products names some types and stands for all types of its header.
          if (found.starts_with("wgmma.mma_async")) return row.header == name;
          return std::regex_search(found, pattern(row.instruction), std::regex_constants::match_continuous);
        }));
      }
    }
  }
}

TEST_CASE("the instructions that a case of the suite names are in the table") {
  const auto rows = table();
  for (const Case& each : all_cases()) {
    if (each.name.starts_with("convert.")) continue;  // the table has no conversions
    for (const std::string& instruction : each.instructions) {
      INFO(each.name << ": " << instruction);
      CHECK(std::ranges::any_of(rows,
                                [&](const Row& row) { return row.instruction.starts_with(instruction); }));
    }
  }
}
