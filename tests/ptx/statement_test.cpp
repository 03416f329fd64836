#include "ptx/texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit::ptx;
using tests::instruction;
using tests::statements;
using Kind = Operand::Kind;

TEST_CASE("an instruction's guard, opcode, modifiers and operands are parsed") {
  const Instruction load = instruction("@!%p1 ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16];");
  CHECK(load.guard == Guard{"%p1", true});
  CHECK(load.opcode == Opcode::ld);
  CHECK(load.name == "ld.global.v4.f32");
  CHECK(load.has("global"));
  CHECK_FALSE(load.has("ld"));
  CHECK(load.types() == llvm::SmallVector<ScalarType, 4>{ScalarType::f32});
  CHECK(load.spaces() == llvm::SmallVector<StateSpace, 4>{StateSpace::global});
  CHECK(load.vector_width() == 4);
  REQUIRE(load.operands.size() == 2);
  CHECK(load.operands[0].kind == Kind::vector);
  CHECK(load.operands[0].elements[2].kind == Kind::sink);
  CHECK(load.operands[1].kind == Kind::address);
  CHECK(load.operands[1].elements[0].name == "%rd1");
  CHECK(load.operands[1].offset == -16);
  CHECK(load.location.line == 6);
  CHECK(load.location.column == 7);
}

TEST_CASE("a tensor operand is parsed into a map and coordinates") {
  const Operand tensor =
      instruction("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, 0}], [%r2];")
          .operands[0];
  CHECK(tensor.kind == Kind::tensor);
  REQUIRE(tensor.elements.size() == 3);
  CHECK(tensor.elements[0].name == "%rd1");
  CHECK(tensor.elements[1].name == "%r1");
  CHECK(tensor.elements[2].kind == Kind::immediate);
}

TEST_CASE("operands of every kind are parsed") {
  CHECK(instruction("mov.u32 %r1, %tid.x;").operands[1].component == "x");
  CHECK(instruction("mov.u64 %rd1, table+8;").operands[1].offset == 8);
  CHECK(instruction("ld.shared.u32 %r1, [64];").operands[1].elements.empty());
  CHECK(instruction("ld.shared.u32 %r1, [64];").operands[1].offset == 64);
  const Instruction elect = instruction("elect.sync _|%p1, -1;");
  CHECK(elect.operands[0].kind == Kind::pair);
  CHECK(elect.operands[0].elements[0].kind == Kind::sink);
  CHECK(elect.operands[0].elements[1].name == "%p1");
  CHECK(instruction("vote.sync.any.pred %p1, !%p2, -1;").operands[1].kind == Kind::negated);
  const Instruction call = instruction("call.uni (r), f, (a, b);");
  CHECK(call.operands[0].kind == Kind::tuple);
  CHECK(call.operands[1].name == "f");
  CHECK(call.operands[2].elements.size() == 2);
}

TEST_CASE("literals are parsed: decimal, octal, hexadecimal, binary, unsigned, and floats by their bits") {
  const auto literal = [](const std::string& text) {
    return instruction("mov.b64 %rd1, " + text + ";").operands[1].value;
  };
  const auto integer = [](std::int64_t value) {
    return Immediate{Immediate::Kind::integer, static_cast<std::uint64_t>(value)};
  };
  CHECK(literal("42") == integer(42));
  CHECK(literal("-42") == integer(-42));
  CHECK(literal("052") == integer(42));
  CHECK(literal("0x2A") == integer(42));
  CHECK(literal("0b101010") == integer(42));
  CHECK(literal("0x0b1") == integer(177));
  CHECK(literal("0") == integer(0));
  CHECK(literal("-9223372036854775808") == integer(INT64_MIN));
  CHECK(literal("18446744073709551615U") == Immediate{Immediate::Kind::unsigned_, UINT64_MAX});
  CHECK(literal("0f3f800000") == Immediate{Immediate::Kind::f32, 0x3F800000});
  CHECK(literal("-0F3F800000") == Immediate{Immediate::Kind::f32, 0xBF800000});
  CHECK(literal("0d3FF0000000000000") == Immediate{Immediate::Kind::f64, 0x3FF0000000000000});
  CHECK(literal("1.0") == literal("0d3FF0000000000000"));
  CHECK(literal("10e-1") == literal("1.0"));
  CHECK(tests::error_of(tests::kernel("mov.b32 %r1, 0f3F;")) ==
        "'0f3F' is no f32: 0f and 8 hexadecimal digits");
  CHECK(tests::error_of(tests::kernel("mov.b64 %r1, 18446744073709551616;")) ==
        "'18446744073709551616' is no integer of at most 64 bits");
}

TEST_CASE("a block is parsed as a scope with its own registers") {
  const auto nodes = statements("{ .reg .b16 low, high; .reg .b32 %r<5>; { } }");
  const auto& block = std::get<Block>(nodes.at(0).node);
  REQUIRE(block.statements.size() == 3);
  const auto& names = std::get<RegisterDeclaration>(block.statements[0].node);
  CHECK(names.type == ScalarType::b16);
  CHECK(names.names.size() == 2);
  CHECK(std::get<RegisterDeclaration>(block.statements[1].node).names[0].count == 5);
  CHECK(std::get<Block>(block.statements[2].node).statements.empty());
}

TEST_CASE("labels, branch tables and call prototypes are parsed") {
  const auto nodes = statements(
      "$L1: bra.uni $L1;\n"
      "ts: .branchtargets $L1, $L2;\n brx.idx %r1, ts;\n$L2:\n"
      "pt : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]) ;\n"
      "call (r), %rd1, (a), pt;");
  REQUIRE(nodes.size() == 7);
  CHECK(std::get<Label>(nodes[0].node).name == "$L1");
  CHECK(std::get<TargetList>(nodes[2].node).targets == std::vector<std::string>{"$L1", "$L2"});
  CHECK(std::get<Instruction>(nodes[3].node).opcode == Opcode::brx_idx);
  const auto& prototype = std::get<CallPrototype>(nodes[5].node);
  CHECK(prototype.label == "pt");
  CHECK(prototype.results.size() == 1);
  CHECK(prototype.parameters.size() == 2);
}

TEST_CASE(".loc with and without an inlined call, and .pragma, are parsed") {
  const auto nodes = statements(
      ".loc 1 10 3\n.loc 2 20 0, function_name $L__info+7, inlined_at 1 10 3\n.pragma \"nounroll\";");
  CHECK(std::get<LineMark>(nodes.at(0).node).line == 10);
  const auto& inlined = std::get<LineMark>(nodes.at(1).node).inlined;
  REQUIRE(inlined);
  CHECK(inlined->function == "$L__info");
  CHECK(inlined->offset == 7);
  CHECK(inlined->column == 3);
  CHECK(std::get<Pragma>(nodes.at(2).node).texts == std::vector<std::string>{"nounroll"});
}

TEST_CASE("variables that a function declares are parsed") {
  const auto nodes =
      statements(".shared .align 8 .b64 bar[2];\n.local .align 16 .b8 __local_depot0[64];\n.param .b32 a;");
  CHECK(std::get<Variable>(nodes.at(0).node).space == StateSpace::shared);
  CHECK(std::get<Variable>(nodes.at(1).node).space == StateSpace::local);
  CHECK(std::get<Variable>(nodes.at(2).node).space == StateSpace::param);
}
