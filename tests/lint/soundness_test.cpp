/// Lint's claims about registers (residues, bounds, differences and implications) must hold for the values
/// that the simulator computes.
#include "lint/propagation.hpp"
#include "lint/support.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/sim.hpp>

#include <iostream>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::Random;

namespace {

constexpr std::uint32_t lanes = 64;
constexpr std::uint32_t unset = 0xdeadbeef;

/// A kernel of random arithmetic, branches and counted loops. After every statement it stores a register and
/// a predicate, each to a row of its own with one word for each thread.
class Program {
 public:
  explicit Program(Random& random) : random_(random) {
    for (int i = 0; i < 6; ++i) initialise(i);
    statements(4, 0);
  }

  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::string text() const {
    return tests::entry(
        ".reg .pred %p<4>;\n.reg .b32 %r<8>, %t, %flag, %c<16>;\n.reg .b64 %rd<4>, %out, %at;\n"
        ".shared .align 64 .b8 fixed[256];\nld.param.u64 %out, [p0];\nmov.u32 %t, %tid.x;\n"
        "mul.wide.u32 %at, %t, 4;\nadd.s64 %out, %out, %at;\nsetp.lt.u32 %p0, %t, 5;\nsetp.eq.u32 %p1, %t, "
        "3;\n"
        "mov.pred %p2, %p0;\nmov.pred %p3, %p1;\nmov.u64 %rd0, dynamic;\nmov.u64 %rd1, 0;\nmov.u64 %rd2, "
        "fixed;\n"
        "cvt.u64.u32 %rd3, %t;\n" +
            text_ + "ret;",
        ".param .u64 p0, .param .u32 p1", ".extern .shared .align 16 .b8 dynamic[];");
  }

 private:
  // Each of these returns a random register of its kind.
  std::string reg32() { return fmt::format("%r{}", between(random_, 0, 5)); }
  std::string reg64() { return fmt::format("%rd{}", between(random_, 0, 3)); }
  std::string predicate() { return fmt::format("%p{}", between(random_, 0, 3)); }
  std::string number() {
    static constexpr std::uint32_t all[] = {0,    1,    2,          3,          4,          7,
                                            8,    15,   16,         31,         100,        1023,
                                            1024, 4096, 0xfffffff0, 0xffffffff, 0x80000000, 0xfffffc00};
    return std::to_string(all[between(random_, 0, std::size(all) - 1)]);
  }
  std::string reg32_or_number() { return one_in(random_, 2) ? reg32() : number(); }

  /// Sets %r<i> to a random initial value.
  void initialise(int i) {
    static constexpr const char* from[] = {"%tid.x", "%ctaid.x", "fixed", "dynamic", "16", "%laneid", "1000"};
    text_ += fmt::format("mov.u32 %r{}, {};\n", i, from[between(random_, 0, std::size(from) - 1)]);
  }

  std::string arithmetic() {
    switch (between(random_, 0, 27)) {
      case 0: return fmt::format("add.s32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 1: return fmt::format("sub.s32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 2: return fmt::format("mul.lo.s32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 3: return fmt::format("mad.lo.s32 {}, {}, {}, {};", reg32(), reg32(), number(), reg32());
      case 4: return fmt::format("shl.b32 {}, {}, {};", reg32(), reg32(), between(random_, 0, 12));
      case 5: return fmt::format("shr.u32 {}, {}, {};", reg32(), reg32(), between(random_, 0, 12));
      case 6: return fmt::format("shr.s32 {}, {}, {};", reg32(), reg32(), between(random_, 0, 12));
      case 7: return fmt::format("and.b32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 8: return fmt::format("or.b32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 9: return fmt::format("xor.b32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 10: return fmt::format("not.b32 {}, {};", reg32(), reg32());
      case 11: return fmt::format("neg.s32 {}, {};", reg32(), reg32());
      case 12:
        return fmt::format("bfi.b32 {}, {}, {}, {}, {};", reg32(), reg32(), reg32(), between(random_, 0, 31),
                           between(random_, 0, 32));
      case 13: return fmt::format("min.u32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 14: return fmt::format("max.s32 {}, {}, {};", reg32(), reg32(), reg32_or_number());
      case 15: return fmt::format("rem.u32 {}, {}, {};", reg32(), reg32(), between(random_, 1, 64));
      case 16: return fmt::format("div.u32 {}, {}, {};", reg32(), reg32(), between(random_, 1, 64));
      case 17:
        return fmt::format("selp.b32 {}, {}, {}, {};", reg32(), reg32(), reg32_or_number(), predicate());
      case 18: return fmt::format("mov.u32 {}, {};", reg32(), reg32_or_number());
      case 19: return fmt::format("cvt.u32.u64 {}, {};", reg32(), reg64());
      case 20: return fmt::format("cvt.u64.u32 {}, {};", reg64(), reg32());
      case 21: return fmt::format("cvt.s64.s32 {}, {};", reg64(), reg32());
      case 22: return fmt::format("add.s64 {}, {}, {};", reg64(), reg64(), reg64());
      case 23: return fmt::format("mul.wide.u32 {}, {}, {};", reg64(), reg32(), reg32_or_number());
      case 24: return fmt::format("mul.wide.s32 {}, {}, {};", reg64(), reg32(), number());
      case 25: return fmt::format("and.b64 {}, {}, {};", reg64(), reg64(), number());
      case 26: return fmt::format("ld.param.u32 {}, [p1];", reg32());
      default: return fmt::format("shl.b64 {}, {}, {};", reg64(), reg64(), between(random_, 0, 12));
    }
  }

  std::string condition() {
    static constexpr const char* relations[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const char* const relation = relations[between(random_, 0, 5)];
    switch (between(random_, 0, 6)) {
      case 0: return fmt::format("setp.{}.u32 {}, {}, {};", relation, predicate(), reg32(), number());
      case 1: return fmt::format("setp.{}.s32 {}, {}, {};", relation, predicate(), reg32(), number());
      // Conditions assume that the difference of two compared registers does not overflow
      // (lint/condition.hpp). Random numbers do overflow, so two registers are compared for equality only.
      case 2:
        return fmt::format("setp.{}.s32 {}, {}, {};", relations[between(random_, 0, 1)], predicate(), reg32(),
                           reg32());
      case 3: return fmt::format("xor.pred {}, {}, {};", predicate(), predicate(), predicate());
      case 4: return fmt::format("and.pred {}, {}, {};", predicate(), predicate(), predicate());
      case 5: return fmt::format("or.pred {}, {}, {};", predicate(), predicate(), predicate());
      default: return fmt::format("not.pred {}, {};", predicate(), predicate());
    }
  }

  /// Stores a random register and a random predicate to the next two rows.
  void store() {
    text_ += fmt::format("st.global.u32 [%out+{}], {};\n", rows_++ * lanes * 4, reg32());
    text_ += fmt::format("selp.u32 %flag, 1, 0, {};\nst.global.u32 [%out+{}], %flag;\n", predicate(),
                         rows_++ * lanes * 4);
  }

  void statements(std::uint32_t count, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t kind = between(random_, 0, 9);
      if (kind == 0 && depth < 3) {
        const std::uint32_t label = labels_++;
        text_ += fmt::format("@{}{} bra SKIP{};\n", one_in(random_, 2) ? "!" : "", predicate(), label);
        statements(3, depth + 1);
        text_ += fmt::format("SKIP{}:\n", label);
      } else if (kind == 1 && depth < 2 && labels_ < 12) {
        const std::uint32_t label = labels_++;
        text_ += fmt::format("mov.u32 %c{0}, 0;\nLOOP{0}:\n", label);
        statements(4, depth + 1);
        text_ += fmt::format(
            "add.s32 %c{0}, %c{0}, 1;\nmov.u32 %r{1}, %c{0};\nsetp.lt.u32 %p3, %c{0}, {2};\n@%p3 bra "
            "LOOP{0};\n",
            label, between(random_, 0, 5), between(random_, 1, 4));
      } else if (kind == 2) {
        text_ += condition() + "\n";
      } else {
        if (one_in(random_, 6)) text_ += fmt::format("@{} ", predicate());
        text_ += arithmetic() + "\n";
      }
      store();
    }
  }

  Random& random_;
  std::string text_;
  std::uint32_t rows_ = 0;
  std::uint32_t labels_ = 0;
};

std::vector<std::uint32_t> execute(const std::string& ptx, std::uint32_t rows) {
  const auto sim = make_sim_device({.threads = 1});
  Artifact artifact;
  artifact.entry = std::string("k");
  artifact.ptx = ptx;
  const auto kernel = sim->kernels().load(artifact);
  std::vector<std::uint32_t> stored(std::size_t{rows} * lanes, unset);
  const Buffer buffer(sim, stored.size() * 4);
  sim->memory().copy_in(buffer.address(), std::as_bytes(std::span(stored)), nullptr);
  std::uint64_t address = buffer.address();
  std::uint32_t parameter = 20'000;
  void* const parameters[] = {&address, &parameter};
  kernel->launch({.grid = {1, 1, 1}, .block = {lanes, 1, 1}, .shared_bytes = 512}, parameters, nullptr);
  sim->streams().synchronize(nullptr);
  sim->memory().copy_out(std::as_writable_bytes(std::span(stored)), buffer.address(), nullptr);
  return stored;
}

/// A claim about the register whose values are in row `row`.
struct Claim {
  std::uint32_t row;
  std::uint32_t block;
  lint::Value value;
};

}  // namespace

TEST_CASE("lint's claims about values hold in every thread of random kernels") {
  const std::uint64_t seed = reference::seed(20261122);
  const char* text = std::getenv("TMAJIT_CASES");
  const std::uint64_t cases = text == nullptr ? 300 : std::strtoull(text, nullptr, 0);
  std::cout << "soundness: TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::size_t claims = 0;
  std::size_t pairs = 0;
  std::size_t implied = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    Random random(seed + n);
    const Program program(random);
    const std::string ptx = program.text();
    INFO("seed " << seed << " + " << n << "\n" << ptx);
    const auto parsed = ptx::parse(ptx);
    INFO(parsed.report);
    REQUIRE(parsed);
    const auto resolved = ptx::resolve(*parsed.module, *parsed.module->find("k"));
    REQUIRE(resolved);
    const auto stored = execute(ptx, program.rows());

    lint::Values values;
    lint::Conditions conditions(values);
    const ptx::ControlFlow flow(*resolved.function);
    lint::Propagation propagation(*resolved.function, flow, values, conditions);
    std::vector<Claim> known;
    propagation.visit([&](std::uint32_t index) {
      const auto& flat = resolved.function->instructions[index];
      if (flat.instruction->opcode != ptx::Opcode::st) return;
      const auto operands = ptx::bound_operands(flat);
      known.push_back({static_cast<std::uint32_t>(operands[0].operand->offset) / (lanes * 4),
                       flow.block_of(index), propagation.read(flat, operands[1], 32)});
    });
    for (const Claim& claim : known) {
      const lint::Residue residue = values.residue(claim.value);
      for (std::uint32_t t = 0; t < lanes; ++t) {
        const std::uint32_t x = stored[claim.row * lanes + t];
        if (x == unset) continue;
        if ((x & lint::low_bits(residue.bits)) == residue.remainder && x <= claim.value.most) continue;
        FAIL_CHECK(fmt::format("row {}, thread {}: {}, claimed to be {} mod 2^{}, at most {}", claim.row, t,
                               x, residue.remainder, residue.bits, claim.value.most));
      }
      claims += residue.bits;
      // Values that one basic block stores belong to the same iteration of its loops.
      for (const Claim& other : known) {
        if (&other == &claim || other.block != claim.block) continue;
        const auto row = [&](const Claim& which, std::uint32_t t) { return stored[which.row * lanes + t]; };
        const auto condition = conditions.indicated(claim.value);
        const auto consequence = conditions.indicated(other.value);
        lint::Facts facts;
        if (condition && consequence && conditions.assume(*condition, true, facts)) {
          const auto follows = conditions.decide(*consequence, facts);
          implied += follows && facts.size() == 1 && *condition != *consequence;
          for (std::uint32_t t = 0; follows && t < lanes; ++t) {
            if (row(claim, t) != 1 || row(other, t) == unset || (row(other, t) == 1) == *follows) continue;
            FAIL_CHECK(fmt::format("thread {}: row {} is {} where row {} is 1", t, other.row, row(other, t),
                                   claim.row));
          }
        }
        const auto distance = lint::Values::difference32(claim.value, other.value);
        if (!distance) continue;
        ++pairs;
        for (std::uint32_t t = 0; t < lanes; ++t) {
          const std::uint32_t x = stored[claim.row * lanes + t];
          const std::uint32_t y = stored[other.row * lanes + t];
          if (x == unset || y == unset) continue;
          if (x - y == static_cast<std::uint32_t>(*distance)) continue;
          FAIL_CHECK(fmt::format("rows {} and {}, thread {}: {} - {}, claimed to be {}", claim.row, other.row,
                                 t, x, y, *distance));
        }
      }
    }
  }
  // There must be enough nontrivial claims.
  CHECK(claims > cases * 30);
  CHECK(pairs > cases);
  CHECK(implied > cases);
}
