/// Variables of a module, shared memory, atomics and allocations.
#include "sim/device/allocate_between.hpp"
#include "sim/support.hpp"

#include <array>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace memory_test {

using namespace tmajit;

TEST_CASE("a module's variables have their initial values, and keep the values that launches write") {
  const auto sim = make_sim_device();
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\n"
      "atom.global.add.u32 %r2, [counter], 1;\n"
      "mov.u64 %rd2, table;\nand.b32 %r3, %r1, 1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd2, %rd2, %rd3;\n"
      "ld.const.u32 %r4, [%rd2];\nst.local.u32 [mine+4], %r4;\nmov.u64 %rd4, mine;\ncvta.local.u64 %rd4, "
      "%rd4;\n"
      "ld.u32 %r5, [%rd4+4];\nred.shared.add.u32 [total], 0;\n"
      "red.global.add.u32 [%rd1], %r5;\nret;",
      1,
      ".global .align 4 .u32 counter = 5;\n.const .align 4 .u32 table[2] = {10, 100};\n.shared .align 4 .u32 "
      "total;\n"
      ".local .align 4 .b8 mine[8];\n"));
  const Buffer sum(sim, 4);
  sim->memory().fill(sum.address(), std::byte{0}, 4, nullptr);
  std::uint64_t address = sum.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {50, 1, 1}, .block = {64, 1, 1}}, parameters, nullptr);
  std::array<std::uint32_t, 1> result{};
  sim->memory().copy_out(std::as_writable_bytes(std::span(result)), sum.address(), nullptr);
  // `total`, which shared atomics read, is uninitialised.
  CHECK(tests::rules(*sim) == std::vector<std::string>{"shared.uninitialised"});
  CHECK_THROWS_AS(sim->streams().synchronize(nullptr), Error);
  CHECK(result[0] == 50 * 32 * 110);
}

TEST_CASE("a module's shared variables count only for kernels that use them") {
  const auto sim = make_sim_device();
  const auto kernel = sim->kernels().load(
      tests::module_of(".reg .b32 %r<3>;\nst.shared.u32 [mine], 1;\nret;", 1,
                       ".shared .align 128 .b8 others[200000];\n.shared .align 4 .b8 mine[16];\n"));
  CHECK_NOTHROW(kernel->allow_shared_bytes(200'000));
  CHECK(kernel->ctas_per_sm(32, 100'000) == 2);
  CHECK_THROWS_WITH(kernel->allow_shared_bytes(232'440),
                    "kernel \"k\" cannot have 232440 bytes of dynamic shared memory; a CTA has 232448, of "
                    "which 16 are static");
}

TEST_CASE("no atomic update is lost when CTAs run on several host threads") {
  const auto sim = make_sim_device({.threads = 2});
  const auto kernel = sim->kernels().load(
      tests::module_of(".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\n"
                       "atom.global.add.u32 %r2, [%rd1], 1;\natom.global.max.u32 %r3, [%rd1+4], %r1;\n"
                       "atom.global.inc.u32 %r4, [%rd1+8], 2;\natom.global.cas.b32 %r5, [%rd1+12], 0, 7;\n"
                       "atom.global.exch.b64 %rd2, [%rd1+16], %rd1;\nred.global.xor.b32 [%rd1+24], 1;\nret;",
                       1));
  const Buffer buffer(sim, 32);
  sim->memory().fill(buffer.address(), std::byte{0}, 32, nullptr);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {100, 1, 1}, .block = {128, 1, 1}}, parameters, nullptr);
  sim->streams().synchronize(nullptr);
  std::array<std::uint32_t, 8> result{};
  sim->memory().copy_out(std::as_writable_bytes(std::span(result)), buffer.address(), nullptr);
  CHECK(result[0] == 12'800);
  CHECK(result[1] == 127);
  CHECK(result[2] == 12'800 % 3);
  CHECK(result[3] == 7);
  CHECK((result[4] | static_cast<std::uint64_t>(result[5]) << 32) == address);
  CHECK(result[6] == 0);
}

TEST_CASE("a cp.async from outside all allocations is reported") {
  for (const SimOptions::Mode mode : {SimOptions::Mode::early, SimOptions::Mode::late}) {
    SimOptions options;
    options.mode = mode;
    const auto sim = make_sim_device(options);
    const auto kernel = sim->kernels().load(
        tests::module_of(".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, image;\n"
                         "cp.async.ca.shared.global [%r1], [%rd1], 4;\ncp.async.wait_all;\nret;",
                         1, ".shared .align 16 .b8 image[16];\n"));
    const Buffer buffer(sim, 4);
    for (std::uint64_t address : {buffer.address() + 4, std::uint64_t{64}, ~std::uint64_t{3}}) {
      sim->clear_reports();
      void* const parameters[] = {&address};
      kernel->launch({}, parameters, nullptr);
      CHECK(tests::rules(*sim) == std::vector<std::string>{"load.out-of-bounds"});
    }
  }
}

TEST_CASE("an allocation at an unaligned address has an exact end, and races in it are found") {
  for (const std::uint64_t past : {0, 1, 7, 130, 511}) {
    INFO(past << " bytes past a boundary");
    const auto sim = make_sim_device();
    const auto kernel = sim->kernels().load(tests::module_of(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\nld.global.u8 %r1, [%rd1];\nret;", 1));
    const DevicePtr begin = sim::allocate_between(*sim, 3, past);
    CHECK(begin % 512 == past);
    const auto read = [&](DevicePtr address) {
      sim->clear_reports();
      void* const parameters[] = {&address};
      kernel->launch({}, parameters, nullptr);
      return tests::rules(*sim);
    };
    CHECK(read(begin).empty());
    CHECK(read(begin + 2).empty());
    CHECK_FALSE(read(begin - 1).empty());
    CHECK_FALSE(read(begin + 3).empty());

    const auto racing = sim->kernels().load(tests::module_of(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, %ctaid.x;\n"
        "st.global.u8 [%rd1+2], %r1;\nret;",
        1));
    sim->clear_reports();
    DevicePtr address = begin;
    void* const parameters[] = {&address};
    racing->launch({.grid = {2, 1, 1}, .block = {1, 1, 1}}, parameters, nullptr);
    CHECK_FALSE(tests::rules(*sim).empty());
    sim->memory().free(begin);
    CHECK_THROWS_AS(sim::allocate_between(*sim, 3, 512), Error);
  }
}

}  // namespace memory_test
