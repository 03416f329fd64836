/// Concurrent writes of equal values.
#include "sim/text_kernel.hpp"

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

namespace same_value_race_test {

namespace text = tests::text;

TEST_CASE("warps that store equal values by one instruction do not race: their order does not matter") {
  text::Shape shape{.grid = 1, .cluster = 1, .block = 128, .options = {.mode = text::any_mode()}};
  const std::string lane = "and.b32 %r6, %r1, 31;\nshl.b32 %r7, %r6, 4;\nadd.u32 %r7, %r7, %r5;\n";
  const std::string clean[] = {
      "st.shared.u32 [%r5], 7;",
      "st.shared.u32 [%r7], %r6;",
      "st.shared.v4.u32 [%r7], {%r6, 1, %r6, 3};",
      "setp.lt.u32 %p2, %r6, 5;\n@%p2 st.shared.u8 [%r7], %r6;",
      "cvt.u64.u32 %rd9, %r7;\ncvta.shared.u64 %rd9, %rd9;\nst.u32 [%rd9], %r6;",
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r7], {%r6, %r7, %r6, %r7};",
  };
  for (const std::string& body : clean) {
    CAPTURE(body);
    text::expect_clean(text::run(fmt::format("{}{}{}\nbar.sync 0;\nld.shared.u32 %r8, [%r5];\n"
                                             "@%p1 st.global.u32 [%rd1], %r8;\nret;",
                                             text::registers, lane, body),
                                 shape));
  }
  const std::string wrong[] = {
      "st.shared.u32 [%r5], %r1;",
      "st.shared.v4.u32 [%r7], {%r6, 1, %r1, 3};",
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r7], {%r6, %r7, %r1, %r7};",
      // The warps store by two different instructions.
      "setp.lt.u32 %p2, %r1, 32;\n@%p2 st.shared.u32 [%r7], 7;\n@!%p2 st.shared.u32 [%r7], 7;",
  };
  for (const std::string& body : wrong) {
    CAPTURE(body);
    text::expect_first(text::run(fmt::format("{}{}{}\nret;", text::registers, lane, body), shape),
                       "race.shared-write-write");
  }
  // A read without synchronisation with the writers is still a race.
  text::expect_first(text::run(text::registers + lane +
                                   "st.shared.u32 [%r5], 7;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r8, "
                                   "[%r5];\nst.shared.u32 [%r5], 7;\n"
                                   "st.global.u32 [%rd1], %r8;\nret;",
                               shape),
                     "race.");
}

}  // namespace same_value_race_test
