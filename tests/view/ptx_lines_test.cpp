#include "view/ptx_lines.hpp"

#include "view/chain.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::chain;
using view::LiveRegisters, view::Location, view::Locations, view::PtxLines;

namespace {

/// A kernel that calls outer() in line 20 of k.cu. outer() calls inner() in line 10; inner() is in line 3 of
/// h.cuh. Line 1 of the text is empty, and .version is in line 2.
constexpr auto nested = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .pred %p<2>;
  .loc 1 20 3
  ld.param.u64 %rd1, [out];
  .loc 1 10 5, function_name $L__info_string0, inlined_at 1 20 3
  .loc 2 3 7, function_name $L__info_string1, inlined_at 1 10 5
  mov.u32 %r1,
    %tid.x;
  setp.ne.s32 %p1, %r1, 0;
  .loc 1 21 3
  @%p1 bra $done;
  st.global.u32 [%rd1], %r1;
$done:
  ret;
}
.file 1 "/src/k.cu"
.file 2 "/src/h.cuh"
.section .debug_str
{
$L__info_string0:
.b8 95,90,53,111,117,116,101
.b8 114,105,0
$L__info_string1:
.b8 105,110,110,101,114,0
}
)";

}  // namespace

TEST_CASE("an instruction of an inlined helper belongs to the helper's line and to each call") {
  Locations locations;
  const PtxLines lines = view::read_ptx(nested, locations);
  CHECK(lines.missing_reason.empty());
  CHECK(lines.main_path == "/src/k.cu");
  REQUIRE(lines.texts.size() == 32);
  const auto at = [&](std::size_t number) { return chain(locations, lines.facts[number - 1].location); };
  CHECK(at(11) == "k.cu:20");
  CHECK(at(14) == "h.cuh:3 k.cu:10 k.cu:20");
  CHECK(at(15) == "h.cuh:3 k.cu:10 k.cu:20");  // the instruction's second line
  CHECK(at(16) == "h.cuh:3 k.cu:10 k.cu:20");
  CHECK(at(18) == "k.cu:21");
  CHECK(at(7).empty());   // a declaration
  CHECK(at(12).empty());  // a .loc
  // Locations are distinct: inner()'s line, the call in outer(), and two lines of the kernel.
  CHECK(locations.all().size() == 4);
}

TEST_CASE("locations of inlined functions have the functions' names") {
  Locations locations;
  const PtxLines lines = view::read_ptx(nested, locations);
  const view::Location& inner = locations[lines.facts[13].location];
  CHECK(inner.function == "inner");
  CHECK(locations[inner.inlined_at].function == "outer(int)");
  CHECK(locations[locations[inner.inlined_at].inlined_at].function.empty());
}

TEST_CASE("the live registers at an instruction include its results") {
  Locations locations;
  const PtxLines lines = view::read_ptx(nested, locations);
  const auto live = [&](std::size_t number) { return lines.facts[number - 1].live; };
  CHECK(live(11) == LiveRegisters{2, 0});  // %rd1: two words
  CHECK(live(14) == LiveRegisters{3, 0});  // %rd1, %r1
  CHECK(live(16) == LiveRegisters{3, 1});  // %rd1, %r1, %p1
  CHECK(live(18) == LiveRegisters{3, 1});
  CHECK(live(19) == LiveRegisters{3, 0});
  CHECK(live(21) == LiveRegisters{0, 0});
  CHECK(live(7) == std::nullopt);
}

TEST_CASE("a guarded write of a register that is not read later makes it live only at the write") {
  const std::string text = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, 7;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 mov.u32 %r2, 5;
  @%p1 mov.u32 %r3, 5;
  setp.ne.s32 %p1, %r3, 0;
  ret;
}
)";
  Locations locations;
  const PtxLines lines = view::read_ptx(text, locations);
  const auto live = [&](std::size_t number) { return lines.facts[number - 1].live; };
  CHECK(live(8) == LiveRegisters{1, 0});   // %r1
  CHECK(live(9) == LiveRegisters{2, 0});   // %r1, %r3
  CHECK(live(10) == LiveRegisters{2, 1});  // %r1, %r3, %p1
  CHECK(live(11) == LiveRegisters{2, 1});  // %r2, %r3, %p1
  CHECK(live(12) == LiveRegisters{1, 1});  // %r3, %p1
}

TEST_CASE("instructions are counted by the first word of their names") {
  Locations locations;
  const auto opcodes = view::read_ptx(nested, locations).opcodes;
  CHECK(opcodes == std::map<std::string, std::uint32_t>{
                       {"bra", 1}, {"ld", 1}, {"mov", 1}, {"ret", 1}, {"setp", 1}, {"st", 1}});
}

TEST_CASE("PTX that does not parse has lines, and a reason for its missing facts") {
  Locations locations;
  const PtxLines lines = view::read_ptx("int main() {\n}\n", locations);
  CHECK(lines.texts == std::vector<std::string>{"int main() {", "}"});
  CHECK(lines.missing_reason.starts_with("the PTX does not parse: "));
  CHECK(locations.all().empty());
}

TEST_CASE("a kernel with an unknown instruction has no numbers of live registers") {
  std::string text = nested;
  text.replace(text.find("setp.ne.s32"), 11, "setq.ne.s32");
  Locations locations;
  const PtxLines lines = view::read_ptx(text, locations);
  CHECK(lines.facts[10].live == std::nullopt);
  CHECK(lines.facts[10].location != Location::none);
}
