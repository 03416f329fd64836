/// The table that says which function runs which opcode.
#include "ptx/forms.hpp"
#include "sim/select.hpp"
#include "sim/support.hpp"

#include <algorithm>
#include <set>

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using ptx::Opcode;

namespace {

/// An operand of the kind that a form names by a letter.
std::string operand(char kind, bool predicates) {
  switch (kind) {
    case 'd': return predicates ? "%p1" : "%rd1";
    case 'e': return predicates ? "%p1|%p2" : "%rd1|%p2";
    case 'v': return "{%rd1}";
    case 'p': return "%p3";
    case 'k': return "16";
    case 'm': return "[%rd2]";
    case 't': return "[%rd2, {%r1}]";
    case 'l': return "L";
    default: return "%rd3";
  }
}

/// Whether the simulator runs an instruction of this form, with its optional parts or without.
bool runs(const ptx::FormRow& row, bool with_optional, bool predicates) {
  std::string text = ptx::sample_instruction(row, with_optional).full_name();
  std::string separator = " ";
  const std::string operands = row.operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == ' ' || operands[i] == '?') continue;
    if (!with_optional && i + 1 < operands.size() && operands[i + 1] == '?') continue;
    text += separator + operand(operands[i], predicates);
    separator = ", ";
  }
  try {
    const auto module = tests::module_of(
        ".reg .pred %p<4>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n" + text + ";\nL:\nret;", 1);
    (void)sim::decode(module.ptx, module.entry);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("the table of selectors holds an opcode once, and finds each") {
  std::set<Opcode> opcodes;
  for (const sim::Selector& selector : sim::selectors()) {
    CHECK(opcodes.insert(selector.opcode).second);
    CHECK(selector.select != nullptr);
    CHECK(sim::find_selector(selector.opcode) == &selector);
  }
  CHECK(sim::find_selector(Opcode::wmma) == nullptr);
  CHECK(sim::find_selector(Opcode::video) == nullptr);
}

TEST_CASE("every opcode of the table is one that the parser gives, and runs in some form") {
  // These need a function, a table of labels, a size, or types that fit each other: other tests run them.
  const std::set<Opcode> elsewhere{Opcode::call,
                                   Opcode::brx_idx,
                                   Opcode::mma,
                                   Opcode::set,
                                   Opcode::tensormap_replace,
                                   Opcode::tensormap_cp_fenceproxy,
                                   Opcode::wgmma_mma_async};
  for (const sim::Selector& selector : sim::selectors()) {
    bool known = false;
    bool run = elsewhere.contains(selector.opcode);
    std::string names;
    for (const ptx::FormRow& row : ptx::form_rows()) {
      if (row.opcode != selector.opcode) continue;
      known = true;
      names += std::string(" ") + row.name;
      for (const bool with_optional : {false, true})
        for (const bool predicates : {false, true}) run = run || runs(row, with_optional, predicates);
    }
    CAPTURE(names);
    CHECK(known);
    CHECK(run);
  }
}

TEST_CASE("what is not in the table is refused at its line") {
  CHECK_THROWS_WITH(
      sim::decode(tests::module_of(".reg .b32 %r<2>;\nvadd.u32.u32.u32 %r1, %r1, %r1;\nret;", 1).ptx, "k"),
      Catch::Matchers::ContainsSubstring("the simulator does not run") &&
          Catch::Matchers::ContainsSubstring("vadd.u32.u32.u32"));
}
