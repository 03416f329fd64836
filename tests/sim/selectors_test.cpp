/// Tests the table of selectors, which has a function for each opcode that the simulator supports.
#include "ptx/forms.hpp"
#include "sim/instructions/select.hpp"
#include "sim/text_kernel.hpp"

#include <algorithm>
#include <set>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace selectors_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using ptx::Opcode;

namespace {

/// The text of an operand of the kind that a form denotes by this letter.
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

/// Whether the simulator runs an instruction of this form, with or without its optional parts.
bool runs(const ptx::FormRow& row, bool with_optional, bool predicates) {
  std::string text = ptx::sample_instruction(row, with_optional).name;
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
    return sim::decode(module.ptx, module.entry).refusals.empty();
  } catch (const Error&) {
    return false;
  }
}

std::vector<sim::Selector> all_selectors() {
  std::vector<sim::Selector> all;
  for (const sim::SelectorTable& table : sim::selector_tables())
    all.insert(all.end(), table.selectors.begin(), table.selectors.end());
  return all;
}

}  // namespace

TEST_CASE("for every opcode in the table of selectors, the simulator runs at least one form") {
  // Other tests run these opcodes, which need a function, a table of labels, a size, or matching types.
  const std::set<Opcode> tested_in_other_files{Opcode::call,
                                               Opcode::brx_idx,
                                               Opcode::mma,
                                               Opcode::set,
                                               Opcode::tensormap_replace,
                                               Opcode::tensormap_cp_fenceproxy,
                                               Opcode::wgmma_mma_async,
                                               Opcode::wmma};
  for (const sim::Selector& selector : all_selectors()) {
    CHECK(sim::find_selector(selector.opcode)->select == selector.select);
    bool known = false;
    bool run = tested_in_other_files.contains(selector.opcode);
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

TEST_CASE("brx.idx jumps to the label with its index") {
  const std::string body =
      tests::text::registers +
      "ld.global.u32 %r6, [%rd1];\ntable: .branchtargets zero, one;\nbrx.idx %r6, table;\n"
      "zero:\nst.global.u32 [%rd1], 10;\nret;\none:\nst.global.u32 [%rd1], 11;\nret;";
  const auto run = [&](std::uint32_t index) {
    return tests::text::run(body, {.grid = 1, .cluster = 1, .block = 1, .words = {index}});
  };
  CHECK(run(0).words.at(0) == 10);
  CHECK(run(1).words.at(0) == 11);
  tests::text::expect_only(run(2), "branch.index");
}

TEST_CASE("unsupported and unknown instructions are rejected at their line when a thread reaches them") {
  const std::string body =
      tests::text::registers +
      "ld.global.u32 %r6, [%rd1];\nsetp.eq.u32 %p2, %r6, 1;\nsetp.eq.u32 %p3, %r6, 2;\n"
      "@%p2 multimem.st.relaxed.gpu.global.u32 [%rd1], %r6;\n@%p3 frobnicate.u32 {%r1, {%nowhere}};\n"
      "st.global.u32 [%rd1], 7;\nret;";
  const auto first_word = [&](std::uint32_t word) {
    const auto outcome = tests::text::run(body, {.grid = 1, .cluster = 1, .block = 1, .words = {word}});
    tests::text::expect_clean(outcome);
    return outcome.words.at(0);
  };
  CHECK(first_word(0) == 7);
  CHECK_THROWS_WITH(
      first_word(1),
      ContainsSubstring("the simulator does not run \"@%p2 multimem.st.relaxed.gpu.global.u32 "));
  CHECK_THROWS_WITH(first_word(2), ContainsSubstring("the operands of 'frobnicate.u32' cannot be read") &&
                                       ContainsSubstring("PTX line"));
}

}  // namespace selectors_test
