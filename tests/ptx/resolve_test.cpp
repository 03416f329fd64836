#include "ptx/resolve.hpp"

#include "ptx/texts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace tmajit::ptx;

namespace {

/// A resolved kernel with the module it points into.
struct Resolved {
  explicit Resolved(const std::string& body) : module(tests::parse(tests::kernel(body))) {
    result = resolve(module, *module.find("kernel"));
  }
  const FlatFunction& flat() const { return result.function.value(); }
  std::string error() const { return result ? "" : result.diagnostics.at(0).message; }

  Module module;
  ResolveResult result;
};

}  // namespace

TEST_CASE("registers are numbered from 0 in the order of their first use") {
  const Resolved resolved(
      ".reg .b32 %r<1000000>; .reg .f64 %fd<3>;\nadd.s32 %r7, %r9, %r7;\nneg.f64 %fd1, %fd2;");
  REQUIRE(resolved.result);
  REQUIRE(resolved.flat().registers.size() == 4);
  CHECK(resolved.flat().registers[0].name == "%r7");
  CHECK(resolved.flat().registers[2].type == ScalarType::f64);
  const auto& bindings = resolved.flat().instructions[0].bindings;
  CHECK(bindings == llvm::SmallVector<Binding, 4>{RegisterRef{0}, RegisterRef{1}, RegisterRef{0}});
}

TEST_CASE("a scope hides outer names until it ends") {
  const Resolved resolved(
      ".reg .b32 x;\n mov.b32 x, 1;\n{ .reg .b16 x; mov.b16 x, 2; }\n{ .reg .b16 x; mov.b16 x, 3; }\n"
      "mov.b32 x, 4;");
  REQUIRE(resolved.result);
  CHECK(resolved.flat().registers.size() == 3);
  CHECK(resolved.flat().instructions[1].bindings[0] == Binding{RegisterRef{1}});
  CHECK(resolved.flat().instructions[2].bindings[0] == Binding{RegisterRef{2}});
  CHECK(resolved.flat().instructions[3].bindings[0] == Binding{RegisterRef{0}});
  CHECK(Resolved("{ .reg .b32 y; }\nmov.b32 y, 1;").error() == "'y' is not declared here");
}

TEST_CASE("labels are instruction indices; a block's labels are visible only in the block") {
  const Resolved resolved(
      ".reg .pred p;\n@p bra end;\n{ again: @!p bra again; bra end; }\n{ again: bra again; }\nend:");
  REQUIRE(resolved.result);
  const auto target = [&](std::size_t i) {
    return std::get<LabelRef>(resolved.flat().instructions[i].bindings.back()).index;
  };
  CHECK(target(0) == 4);
  CHECK(target(1) == 1);
  CHECK(target(2) == 4);
  CHECK(target(3) == 3);
  CHECK(resolved.flat().instructions[1].bindings[0] == Binding{RegisterRef{0}});
  CHECK(Resolved("{ inside: ret; }\nbra inside;").error() == "'inside' is not declared here");
}

TEST_CASE("a register and numbered registers of the same stem are different") {
  const Resolved resolved(
      ".reg .b32 a, c;\n.reg .b16 a<2>;\nmov.b32 {a0, a1}, a;\n{ .reg .b16 a; mov.b32 c, {a, a1}; }");
  REQUIRE(resolved.result);
  const auto& registers = resolved.flat().registers;
  REQUIRE(registers.size() == 5);
  CHECK(registers[0].type == ScalarType::b16);
  CHECK(registers[2].name == "a");
  CHECK(registers[2].type == ScalarType::b32);
  CHECK(resolved.flat().instructions[1].bindings[2] == Binding{RegisterRef{1}});
  CHECK(registers[4].type == ScalarType::b16);
  CHECK(Resolved(".reg .b32 a<2>;\n.reg .b16 a<3>;").error() == "'a' is declared twice in one scope");
}

TEST_CASE("a branch table holds instruction indices") {
  const Resolved resolved(".reg .b32 i;\nts: .branchtargets a, b, a;\nbrx.idx i, ts;\na: ret;\nb: exit;");
  REQUIRE(resolved.result);
  CHECK(resolved.flat().branch_tables == std::vector<std::vector<std::uint32_t>>{{1, 2, 1}});
  CHECK(resolved.flat().instructions[0].bindings[1] == Binding{BranchTableRef{0}});
  CHECK(Resolved("ts: .branchtargets nowhere;").error() == "'nowhere' is no label that this list can reach");
}

TEST_CASE("special registers need no declaration") {
  const Resolved resolved(".reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r0, WARP_SZ;");
  REQUIRE(resolved.result);
  CHECK(resolved.flat().instructions[0].bindings[1] == Binding{SpecialRef{"%tid"}});
  CHECK(is_special_register("%cluster_ctarank"));
  CHECK(is_special_register("%envreg31"));
  CHECK(is_special_register("%pm3_64"));
  CHECK_FALSE(is_special_register("%envreg32"));
  CHECK_FALSE(is_special_register("%r1"));
}

TEST_CASE("an instruction's source line is that of the last .loc before it") {
  const Resolved resolved("bar.sync 0;\n.loc 1 12 3\nbar.sync 0;\nret;");
  REQUIRE(resolved.result);
  CHECK(resolved.flat().instructions[0].source.line == 0);
  CHECK(resolved.flat().instructions[1].source.line == 12);
  CHECK(resolved.flat().instructions[2].source.line == 12);
}

TEST_CASE("the source line of inlined code is the line of the outermost call, through any depth") {
  const Resolved resolved(
      ".loc 1 12 3\nbar.sync 0;\n.loc 2 40 5, function_name $a, inlined_at 1 12 3\nbar.sync 0;\n"
      ".loc 3 7 1, function_name $b, inlined_at 2 40 5\nbar.sync 0;\n"
      ".loc 3 8 1, function_name $b, inlined_at 9 9 9\nbar.sync 0;\nret;");
  REQUIRE(resolved.result);
  const std::uint64_t lines[] = {12, 12, 12, 9};
  for (std::size_t i = 0; i < 4; ++i) CHECK(resolved.flat().instructions[i].source.line == lines[i]);
}

TEST_CASE("every instruction has the chain of frames that it was inlined through") {
  Resolved resolved(
      ".loc 1 12 3\nbar.sync 0;\n.loc 2 40 5, function_name $a, inlined_at 1 12 3\nbar.sync 0;\n"
      ".loc 3 7 1, function_name $b, inlined_at 2 40 5\nbar.sync 0;\nbar.sync 1;\nret;");
  REQUIRE(resolved.result);
  FlatFunction flat = *resolved.result.function;
  REQUIRE(flat.frames.size() == 3);
  CHECK(flat.instructions[2].frame == flat.instructions[3].frame);
  const SourceFrame& inner = flat.frames[flat.instructions[2].frame];
  CHECK(inner.at.line == 7);
  CHECK(flat.frames[inner.caller].at.line == 40);
  CHECK(flat.frames[flat.frames[inner.caller].caller].at.line == 12);
  choose_sources(flat, [](std::span<const std::string_view> paths) { return paths.size() / 2; });
  const std::uint64_t lines[] = {12, 12, 40, 40};
  for (std::size_t i = 0; i < 4; ++i) CHECK(flat.instructions[i].source.line == lines[i]);
}

TEST_CASE("the chain of frames is cut if a line is inlined into itself very often") {
  std::string text = ".loc 1 5 3\nbar.sync 0;\n";
  for (int i = 0; i < 1000; ++i) text += ".loc 1 5 3, function_name $a, inlined_at 1 5 3\nbar.sync 0;\n";
  const Resolved resolved(text + "ret;");
  REQUIRE(resolved.result);
  CHECK(resolved.flat().instructions[1000].source.line == 5);
}

TEST_CASE("undeclared and doubly declared names are reported at their line") {
  const Resolved resolved(".reg .b32 %r<4>;\nadd.s32 %r3, %r4, 1;");
  REQUIRE_FALSE(resolved.result);
  CHECK(resolved.error() == "'%r4' is not declared here");
  CHECK(resolved.result.diagnostics[0].location.line == 7);
  CHECK(resolved.result.diagnostics[0].location.column == 14);
  CHECK(Resolved(".reg .b32 x;\n.reg .b16 x;").error() == "'x' is declared twice in one scope");
  CHECK(Resolved("l: ret;\nl: ret;").error() == "'l' is declared twice in one scope");
  CHECK(Resolved(".reg .b32 %r<9>;\nmov.b32 %r007, 1;").error() == "'%r007' is not declared here");
}

TEST_CASE("every function of nvcc's PTX can be resolved") {
  const std::string name =
      GENERATE("control.ptx", "arithmetic.ptx", "memory.ptx", "asynchronous.ptx", "debug.ptx");
  const Module module = tests::parse(tests::read_data(name));
  for (const Directive& directive : module.directives) {
    const auto* function = std::get_if<Function>(&directive);
    if (function == nullptr || !function->body) continue;
    CAPTURE(name, function->name);
    const auto result = resolve(module, *function);
    REQUIRE(result);
    CHECK_FALSE(result.function->instructions.empty());
  }
}
