#include "view/sass_rows.hpp"

#include "view/chain.hpp"

#include <cstdlib>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::chain;
using view::Location, view::Locations, view::SassLiveRegisters, view::SassRows;

namespace {

/// Output of nvdisasm -c -gi -gp.
constexpr auto lines = R"(	.target	sm_90a

//--------------------- .text.k      --------------------------
	.section	.text.k,"ax",@progbits
        .global         k
k:
.text.k:
	//## File "/src/k.cu", line 20
	//## File ".nv_debug_ptx_txt", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/src/h.cuh", line 3 inlined at "/src/k.cu", line 10
	//## File "/src/k.cu", line 10 inlined at "/src/k.cu", line 20
	//## File "/src/k.cu", line 20
	//## File ".nv_debug_ptx_txt", line 9
        /*0010*/              @!P0 LDG.E.64 R2, [R2] ;
        /*0020*/                   IADD3 R2, R2, 0x1, RZ ;
.L_x_0:
	//## File "/src/k.cu", line 21
        /*0030*/                   EXIT ;
.L_x_1:

//--------------------- .nv.shared.k --------------------------
	.section	.nv.shared.k,"aw",@nobits
)";

/// Output of nvdisasm -c -plr -lrm count.
constexpr auto lives = R"(
//--------------------- .text.k      --------------------------
                                                           // | GPR   | PRED   | UGPR   | UPRED   |
k:                                                         // |       |        |        |         |
.text.k:                                                   // |       |        |        |         |
        /*0000*/                   LDC R1, c[0x0][0x28] ;  // |  129  |        |    4   |         |
        /*0010*/              @!P0 LDG.E.64 R2, [R2] ;     // |    3  |   1    |        |         |
        /*0020*/                   IADD3 R2, R2, 0x1, RZ ; // |    2  |        |        |    5    |
)";

}  // namespace

TEST_CASE("SASS of an inlined helper belongs to the helper's line and to each call") {
  Locations locations;
  const SassRows sass = view::read_sass(lines, lives, locations);
  REQUIRE(sass.rows.size() == 7);
  CHECK(sass.rows[0].text == "k:");
  CHECK(sass.rows[0].address == std::nullopt);
  CHECK(sass.rows[1].text == "LDC R1, c[0x0][0x28] ;");
  CHECK(sass.rows[1].address == 0U);
  CHECK(chain(locations, sass.rows[1].location) == "k.cu:20");
  CHECK(chain(locations, sass.rows[2].location) == "h.cuh:3 k.cu:10 k.cu:20");
  CHECK(sass.rows[3].location == sass.rows[2].location);
  CHECK(sass.rows[4].text == ".L_x_0:");
  CHECK(chain(locations, sass.rows[5].location) == "k.cu:21");
  CHECK(sass.rows[6].text == ".L_x_1:");
}

TEST_CASE("rows of SASS have the PTX's line and numbers of live registers") {
  Locations locations;
  const SassRows sass = view::read_sass(lines, lives, locations);
  REQUIRE(sass.rows.size() == 7);
  CHECK(sass.rows[1].ptx_line == 7);
  CHECK(sass.rows[3].ptx_line == 9);
  CHECK(sass.rows[1].live == SassLiveRegisters{129, 0, 4, 0});
  CHECK(sass.rows[2].live == SassLiveRegisters{3, 1, 0, 0});
  CHECK(sass.rows[3].live == SassLiveRegisters{2, 0, 0, 5});
  CHECK(sass.rows[5].live == std::nullopt);
  CHECK(sass.opcodes ==
        std::map<std::string, std::uint32_t>{{"EXIT", 1}, {"IADD3", 1}, {"LDC", 1}, {"LDG", 1}});
}

TEST_CASE("the reason for missing SASS is given") {
  Locations locations;
  CHECK(view::disassembled({}, locations).missing_reason ==
        "there is no cubin: only the PTX of this kernel was given");
  ::setenv("TMAJIT_NVDISASM", "/no/such/program", 1);
  const SassRows sass = view::disassembled(std::vector(1, std::byte{}), locations);
  ::unsetenv("TMAJIT_NVDISASM");
  CHECK(sass.missing_reason.starts_with("nvdisasm, which turns a cubin into SASS, was not found"));
  CHECK(sass.rows.empty());
}
