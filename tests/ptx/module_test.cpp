#include "ptx/texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit::ptx;
using tests::error_of;
using tests::header;

namespace {

template <class Node>
Node only(const std::string& directive) {
  const Module module = tests::parse(header + directive);
  REQUIRE(module.directives.size() == 1);
  return std::get<Node>(module.directives[0]);
}

}  // namespace

TEST_CASE("a module must start with its version, targets and address size") {
  const Module module = tests::parse(".version 8.3\n.target sm_90a, debug\n.address_size 64\n");
  CHECK(module.version_major == 8);
  CHECK(module.version_minor == 3);
  CHECK(module.targets == std::vector<std::string>{"sm_90a", "debug"});
  CHECK(module.address_size == 64);
  CHECK(module.directives.empty());
  CHECK(error_of("") == "expected '.version' as the first directive, found the end of the text");
  CHECK(error_of(".version 8\n.target sm_90a") == "expected a version such as 8.3, found '8'");
  CHECK(error_of(".version 8.3\n.address_size 64") == "expected '.target', found '.address_size'");
}

TEST_CASE("comments and white space only separate tokens") {
  CHECK(tests::parse("// a\n.version/* b\n */8.3 // c\n.target\tsm_90a\r\n.address_size 64") ==
        tests::parse(header));
}

TEST_CASE("a variable's state space, alignment, type, extents and initial value are parsed") {
  const auto shared = only<Variable>(".extern .shared .align 1024 .b8 tile[];");
  CHECK(shared.linkage == Linkage::extern_);
  CHECK(shared.space == StateSpace::shared);
  CHECK(shared.alignment == 1024);
  CHECK(shared.type == ScalarType::b8);
  REQUIRE(shared.extents.size() == 1);
  CHECK_FALSE(shared.extents[0]);

  const auto matrix = only<Variable>(".visible .const .v2 .f32 m[2][3] = {0f3F800000, 0x10, {-1.5}};");
  CHECK(matrix.space == StateSpace::constant);
  CHECK(matrix.vector_width == 2);
  CHECK(matrix.extents == std::vector<std::optional<std::uint64_t>>{2, 3});
  REQUIRE(matrix.initializer);
  CHECK(matrix.initializer->elements[0].value == Immediate{Immediate::Kind::f32, 0x3F800000});
  CHECK(matrix.initializer->elements[1].value == Immediate{Immediate::Kind::integer, 16});
  CHECK(matrix.initializer->elements[2].literals ==
        std::vector<Immediate>{{Immediate::Kind::f64, 0xBFF8000000000000}});

  CHECK(only<Variable>(".global .attribute(.managed) .u32 x;").attributes ==
        std::vector<std::string>{"managed"});
  CHECK(error_of(header + ".global .align 3 .u32 x;") == "an alignment is a power of two, not 3");
  CHECK(error_of(header + ".global x;") == "expected a type such as .b32, found 'x'");
}

TEST_CASE("a variable's initial value may be an address, generic or masked") {
  const auto plain = only<Variable>(".global .u64 p = other+4;").initializer;
  CHECK(plain->kind == Initializer::Kind::symbol);
  CHECK(plain->name == "other");
  CHECK(plain->offset == 4);
  const auto generic = only<Variable>(".global .u64 p[1] = {generic(other)-8};").initializer->elements[0];
  CHECK(generic.kind == Initializer::Kind::generic);
  CHECK(generic.offset == -8);
  const auto mask = only<Variable>(".global .u8 p[1] = {0xFF00(other)};").initializer->elements[0];
  CHECK(mask.kind == Initializer::Kind::mask);
  CHECK(mask.value.bits == 0xFF00);
  const auto literals = only<Variable>(".global .u8 p[3] = {1, 2, 3};").initializer;
  CHECK(literals->kind == Initializer::Kind::literals);
  CHECK(literals->literals.size() == 3);
  const auto mixed = only<Variable>(".global .u64 p[3] = {1, 2, other};").initializer;
  CHECK(mixed->kind == Initializer::Kind::list);
  REQUIRE(mixed->elements.size() == 3);
  CHECK(mixed->elements[1].kind == Initializer::Kind::value);
  CHECK(mixed->elements[1].value.bits == 2);
}

TEST_CASE("a kernel's parameters and performance-tuning directives are parsed") {
  const auto kernel = only<Function>(
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 .ptr .global .align 16 p)\n"
      ".reqntid 128, 1, 1 .minnctapersm 2 .explicitcluster .reqnctapercluster 2 { ret; }");
  CHECK(kernel.is_entry);
  CHECK(kernel.linkage == Linkage::visible);
  REQUIRE(kernel.parameters.size() == 2);
  CHECK(kernel.parameters[0].alignment == 64);
  CHECK(kernel.parameters[0].extents[0] == 128);
  REQUIRE(kernel.parameters[1].pointer);
  CHECK(kernel.parameters[1].pointer->space == StateSpace::global);
  CHECK(kernel.parameters[1].pointer->alignment == 16);
  CHECK(kernel.tuning == std::vector<Tuning>{{"reqntid", {128, 1, 1}},
                                             {"minnctapersm", {2}},
                                             {"explicitcluster", {}},
                                             {"reqnctapercluster", {2}}});
  REQUIRE(kernel.body);
  CHECK(kernel.body->statements.size() == 1);
  CHECK(error_of(header + ".entry k() .maxntids 3 { }") == "unknown directive '.maxntids' of a function");
  CHECK(error_of(header + ".entry k(.global .u32 x) { }")
            .starts_with("expected a parameter in .param or .reg"));
}

TEST_CASE("functions with results, and declarations without a body, are parsed") {
  const auto function =
      only<Function>(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b) .noreturn;");
  CHECK_FALSE(function.is_entry);
  CHECK(function.results.size() == 1);
  CHECK(function.parameters.size() == 2);
  CHECK_FALSE(function.body);

  const Module module = tests::parse(header + ".func f();\n.weak .func f() { ret; }\n.alias g, f;\n");
  REQUIRE(module.find("f"));
  CHECK(module.find("f")->body);
  CHECK(module.find("g") == nullptr);
  CHECK(std::get<Alias>(module.directives[2]).target == "f");
}

TEST_CASE(".file directives and debug sections stay in the tree") {
  const auto file = only<File>(".file 1 \"a b.cu\", 17, 4");
  CHECK(file.index == 1);
  CHECK(file.name == "a b.cu");
  CHECK(file.time == 17);
  CHECK(file.size == 4);

  const auto section = only<Section>(
      ".section .debug_info {\n.b8 1, -2\nstart:\n.b64 start+4, .debug_abbrev\n.b32 stop-start\n}");
  CHECK(section.name == ".debug_info");
  REQUIRE(section.lines.size() == 4);
  CHECK(section.lines[0].values[1].value == -2);
  CHECK(section.lines[1].label == "start");
  CHECK(section.lines[2].values[0].symbol == "start");
  CHECK(section.lines[2].values[1].symbol == ".debug_abbrev");
  CHECK(section.lines[3].values[0].minus == "start");
}
