/// Checks the table of opcodes against the forms, the selectors, the rules and the tests that its rows name,
/// and against docs/opcodes.md, which is generated from it. TMAJIT_UPDATE_OPCODES=1 generates the page again.
#include "ptx/forms.hpp"
#include "ptx/opcode_rows.hpp"
#include "sim/decode/selector.hpp"

#include <tmajit/finding.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace opcodes_test {

using namespace tmajit;
using ptx::Opcode;
using ptx::OpcodeRow;

namespace {

// The words for ptx::DataFlow and ptx::Effect in docs/opcodes.md, in the order of the enumerators.
constexpr const char* flows[] = {"defines",  "computes",   "joins", "selects",   "conjoins",
                                 "disjoins", "shuffles",   "meets", "fragments", "transposes",
                                 "stores",   "hands over", "acts"};
static_assert(std::size(flows) == static_cast<std::size_t>(ptx::DataFlow::acts) + 1);
constexpr const char* effects[] = {"–",
                                   "reads",
                                   "writes",
                                   "updates",
                                   "writes a matrix",
                                   "moves fragments",
                                   "bulk copy",
                                   "tensor load",
                                   "tensor store",
                                   "tensor prefetch",
                                   "bulk prefetch",
                                   "commits a group",
                                   "waits for a group",
                                   "waits for a phase",
                                   "waits",
                                   "synchronises",
                                   "uses a map",
                                   "changes a map",
                                   "proxy fence",
                                   "init fence",
                                   "initialises",
                                   "invalidates",
                                   "expects bytes",
                                   "arrives",
                                   "remote copy",
                                   "calls"};
static_assert(std::size(effects) == static_cast<std::size_t>(ptx::Effect::calls) + 1);

std::string read(const std::string& path) {
  std::ifstream file(std::string(TMAJIT_SOURCE) + "/" + path);
  INFO(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The names of each opcode's forms, without the qualifiers that all its forms have.
std::map<Opcode, std::vector<std::string>> form_names() {
  std::map<Opcode, std::vector<std::string>> all;
  for (const ptx::FormRow& row : ptx::form_rows()) {
    const std::string full = row.name;
    const std::string name = full.substr(0, full.find(".sync"));
    std::vector<std::string>& known = all[row.opcode];
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
  }
  return all;
}

/// The file of src/sim/instructions whose table of selectors has each opcode.
std::map<Opcode, std::string> selecting_files() {
  std::map<Opcode, std::string> all;
  for (const auto& [file, selectors] : sim::selector_tables())
    for (const sim::Selector& selector : selectors) CHECK(all.emplace(selector.opcode, file).second);
  return all;
}

/// The rules of a row, separated by spaces.
std::string list_of(const OpcodeRow& row) {
  std::string list;
  for (const char* each : row.rules)
    list += each == nullptr ? "" : (list.empty() ? "" : " ") + std::string(each);
  return list;
}

/// The rows of the table in docs/opcodes.md.
std::string table_text() {
  const auto name_of = form_names();
  const auto file_of = selecting_files();
  std::string text;
  for (const OpcodeRow& row : ptx::opcode_rows().drop_front()) {
    const auto file = file_of.find(row.opcode);
    std::string rules;
    llvm::SmallVector<llvm::StringRef, 8> parts;
    const std::string list = list_of(row);
    llvm::StringRef(list).split(parts, ' ', -1, false);
    for (const llvm::StringRef part : parts)
      rules += fmt::format("{}`{}`", rules.empty() ? "" : " ", part.str());
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", fmt::join(name_of.at(row.opcode), "`, `"),
                        row.section, file == file_of.end() ? "–" : "`" + file->second + ".cpp`",
                        flows[static_cast<std::size_t>(row.flow)],
                        effects[static_cast<std::size_t>(row.effect)], rules.empty() ? "–" : rules,
                        row.test == nullptr ? "–" : fmt::format("`{}_test.cpp`", row.test));
  }
  return text;
}

}  // namespace

TEST_CASE("each opcode has a row in the table, and forms") {
  const auto name_of = form_names();
  REQUIRE(name_of.size() + 1 == ptx::opcode_rows().size());
  for (const auto& [opcode, forms] : name_of) {
    CAPTURE(forms);
    REQUIRE(static_cast<std::size_t>(opcode) < ptx::opcode_rows().size());
  }
}

TEST_CASE("the simulator selects the opcodes whose rows name a test, and no other") {
  const auto name_of = form_names();
  const auto file_of = selecting_files();
  for (const OpcodeRow& row : ptx::opcode_rows().drop_front()) {
    CAPTURE(name_of.at(row.opcode));
    CHECK(file_of.contains(row.opcode) == (row.test != nullptr));
    CHECK((sim::find_selector(row.opcode) != nullptr) == (row.test != nullptr));
    if (row.test == nullptr) continue;
    // selectors_test.cpp makes an instruction of each form. Other files contain the opcode's name.
    const std::string test = read(fmt::format("tests/sim/{}_test.cpp", row.test));
    const auto named = [&](const std::string& name) {
      for (std::size_t at = 0; (at = test.find(name, at)) != std::string::npos; ++at) {
        const char before = at == 0 ? ' ' : test[at - 1];
        const char after = test[std::min(at + name.size(), test.size() - 1)];
        const bool ends = after == '.' || after == ';' || after == '"' ||
                          (after == ' ' && (name == "bra" || name.find('.') != std::string::npos));
        if (!std::isalnum(static_cast<unsigned char>(before)) && before != '.' && ends) return true;
      }
      return false;
    };
    CHECK((std::ranges::any_of(name_of.at(row.opcode), named) || std::string_view(row.test) == "selectors"));
  }
}

TEST_CASE("rows name rules that exist, and each rule about an instruction") {
  std::set<std::string> rest;
  std::vector<std::string> ids;
  for (const Rule& rule : check_rules()) ids.emplace_back(rule.id);
  rest.insert(ids.begin(), ids.end());
  for (const OpcodeRow& row : ptx::opcode_rows()) {
    const std::string list = list_of(row);
    for (const std::string& id : ids)
      if (ptx::concerns(list, id)) rest.erase(id);
    llvm::SmallVector<llvm::StringRef, 8> parts;
    llvm::StringRef(list).split(parts, ' ', -1, false);
    for (const llvm::StringRef part : parts) {
      CAPTURE(part.str());
      CHECK(std::ranges::any_of(ids, [&](const std::string& id) { return ptx::concerns(part, id); }));
    }
  }
  // These rules are not about particular instructions: they are about texts, targets, the host, limits, or
  // any operand.
  const std::set<std::string> about_no_instruction{"allow.unknown",
                                                   "host.free",
                                                   "host.stream",
                                                   "instruction-limit",
                                                   "instruction.unknown",
                                                   "name",
                                                   "register.uninitialised",
                                                   "report-limit",
                                                   "syntax",
                                                   "target.architecture",
                                                   "target.feature",
                                                   "target.version",
                                                   "time-limit"};
  CHECK(rest == about_no_instruction);
}

TEST_CASE("docs/opcodes.md equals the page generated from the table") {
  const std::string page = read("docs/opcodes.md");
  const std::string heading = "| --- | --- | --- | --- | --- | --- | --- |\n";
  const std::size_t begin = page.find(heading);
  REQUIRE(begin != std::string::npos);
  const std::string now = page.substr(0, begin + heading.size()) + table_text();
  if (const char* update = std::getenv("TMAJIT_UPDATE_OPCODES"); update != nullptr && *update == '1') {
    std::ofstream(std::string(TMAJIT_SOURCE) + "/docs/opcodes.md") << now;
    SUCCEED("written");
    return;
  }
  INFO("to generate the page: TMAJIT_UPDATE_OPCODES=1 test_sim 'docs/opcodes.md*'");
  CHECK(page == now);
}

}  // namespace opcodes_test
