/// Compares the reports of random kernels with a simple interpretation of each lane. The kernels never write
/// some of their registers.
#include "seed.hpp"
#include "sim/text_kernel.hpp"

#include <tmajit/lint.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace undefined_random_test {

using namespace tmajit;
using namespace tests::text;

constexpr std::uint32_t lane_count = 32;
constexpr std::uint32_t register_count = 6;   ///< %a0 …
constexpr std::uint32_t predicate_count = 3;  ///< %q0 …

/// The value of a register in a lane; empty if uninitialised.
using Value = std::optional<std::uint32_t>;

struct Lane {
  Value registers[register_count];
  std::optional<bool> predicates[predicate_count];
  std::optional<bool> carry = false;
  Value slot;  ///< the thread's own word of shared memory
  bool active = true;
};

class Kernel {
 public:
  explicit Kernel(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t i = 0; i < register_count; ++i) {
      if (draw(2) == 0) continue;
      text_ += fmt::format("mul.lo.u32 %a{}, %r1, {};\n", i, i);
      for (std::uint32_t n = 0; n < lane_count; ++n) lanes_[n].registers[i] = n * i;
    }
    const std::uint32_t length = 4 + draw(40);
    for (std::uint32_t i = 0; i < length; ++i) add_instruction(true);
    stored_ = draw(register_count);
    text_ += fmt::format("st.global.u32 [%rd3], %a{};\n", stored_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Value& stored(std::uint32_t lane) const { return lanes_[lane].registers[stored_]; }

 private:
  /// A random number below `below`.
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  /// Sets register d to value(lane, number of the lane), sometimes under a guard. If the guard is undefined,
  /// d becomes undefined.
  template <typename Result>
  void set_register(std::uint32_t d, const std::string& instruction, const Result& value) {
    const bool guarded = draw(4) == 0;
    const std::uint32_t guard = draw(predicate_count);
    text_ += (guarded ? fmt::format("@%q{} ", guard) : "") + instruction + "\n";
    for (std::uint32_t n = 0; n < lane_count; ++n) {
      Lane& lane = lanes_[n];
      if (!lane.active) continue;
      const std::optional<bool> passes = guarded ? lane.predicates[guard] : true;
      if (!passes.has_value()) {
        lane.registers[d] = {};
      } else if (*passes) {
        lane.registers[d] = value(lane, n);
      }
    }
  }

  /// Emits an operation on two registers. If `decides(x)` is true for a defined operand x, the result is
  /// defined even if the other operand is not.
  template <typename Operation, typename Decides>
  void combine(const char* name, const Operation& operation, const Decides& decides) {
    const std::uint32_t d = draw(register_count);
    const std::uint32_t a = draw(register_count);
    const std::uint32_t b = draw(register_count);
    set_register(d, fmt::format("{} %a{}, %a{}, %a{};", name, d, a, b),
                 [&](const Lane& lane, std::uint32_t) -> Value {
                   const Value x = lane.registers[a];
                   const Value y = lane.registers[b];
                   const bool decided = (x && decides(*x)) || (y && decides(*y));
                   if (!decided && (!x || !y)) return {};
                   return operation(x.value_or(0), y.value_or(0));
                 });
  }

  /// Adds a random instruction or branch. Only if `whole_warp` is true can it be one that all lanes must
  /// execute.
  void add_instruction(bool whole_warp) {
    const std::uint32_t d = draw(register_count);
    const std::uint32_t a = draw(register_count);
    const std::uint32_t b = draw(register_count);
    const std::uint32_t q = draw(predicate_count);
    const auto zero = [](std::uint32_t x) { return x == 0; };
    switch (draw(whole_warp ? 15 : 12)) {
      case 0: return combine("add.u32", std::plus<std::uint32_t>{}, [](std::uint32_t) { return false; });
      case 1: return combine("and.b32", std::bit_and<std::uint32_t>{}, zero);
      case 2:
        if (draw(2) == 0) return add_product(d, a, b);
        return combine("mul.lo.u32", std::multiplies<std::uint32_t>{}, zero);
      case 3:
        return combine("or.b32", std::bit_or<std::uint32_t>{}, [](std::uint32_t x) { return x == ~0U; });
      case 4:
        return set_register(d, fmt::format("selp.b32 %a{}, %a{}, %a{}, %q{};", d, a, b, q),
                            [&](const Lane& lane, std::uint32_t) -> Value {
                              if (!lane.predicates[q]) return {};
                              return lane.registers[*lane.predicates[q] ? a : b];
                            });
      case 5: return compare(q, a);
      case 6:
        text_ += fmt::format("st.shared.u32 [%r6], %a{};\n", a);
        for (Lane& lane : lanes_)
          if (lane.active) lane.slot = lane.registers[a];
        return;
      case 7:
        return set_register(d, fmt::format("ld.shared.u32 %a{}, [%r6];", d),
                            [](const Lane& lane, std::uint32_t) { return lane.slot; });
      case 8:
        return set_register(d, fmt::format("mov.u32 %a{}, %r1;", d),
                            [](const Lane&, std::uint32_t n) { return n; });
      case 9:
        return set_register(d, fmt::format("xor.b32 %a{}, %a{}, %a{};", d, a, a),
                            [](const Lane&, std::uint32_t) { return 0; });
      case 10: return add_with_carry(d, a, b);
      case 11: return call(d, a);
      case 12: return branch(q);
      case 13: return transpose(d, a);
      default: return shuffle(d, a);
    }
  }

  void add_product(std::uint32_t d, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t c = draw(register_count);
    set_register(d, fmt::format("mad.lo.u32 %a{}, %a{}, %a{}, %a{};", d, a, b, c),
                 [&](const Lane& lane, std::uint32_t) -> Value {
                   const Value x = lane.registers[a];
                   const Value y = lane.registers[b];
                   const bool decided = x == 0U || y == 0U;
                   if (!lane.registers[c] || (!decided && (!x || !y))) return {};
                   return x.value_or(0) * y.value_or(0) + *lane.registers[c];
                 });
  }

  void compare(std::uint32_t q, std::uint32_t a) {
    const std::uint32_t than = draw(64);
    text_ += fmt::format("setp.lt.u32 %q{}, %a{}, {};\n", q, a, than);
    for (Lane& lane : lanes_) {
      if (!lane.active) continue;
      lane.predicates[q] = {};
      if (lane.registers[a]) lane.predicates[q] = *lane.registers[a] < than;
    }
  }

  /// Emits a branch around some instructions, by a predicate that is defined in all lanes.
  void branch(std::uint32_t q) {
    if (!std::ranges::all_of(lanes_, [&](const Lane& lane) { return lane.predicates[q].has_value(); }))
      return;
    const std::uint32_t label = labels_++;
    text_ += fmt::format("@%q{} bra L{};\n", q, label);
    for (Lane& lane : lanes_) lane.active = !*lane.predicates[q];
    const std::uint32_t length = 1 + draw(4);
    for (std::uint32_t i = 0; i < length; ++i) add_instruction(false);
    text_ += fmt::format("L{}:\n", label);
    for (Lane& lane : lanes_) lane.active = true;
  }

  /// Emits a sum that uses the carry, sets it, or both.
  void add_with_carry(std::uint32_t d, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t kind = 1 + draw(3);
    const bool takes = (kind & 1) != 0;
    const bool gives = (kind & 2) != 0;
    text_ += fmt::format("add{}{}.u32 %a{}, %a{}, %a{};\n", takes ? "c" : "", gives ? ".cc" : "", d, a, b);
    for (Lane& lane : lanes_) {
      if (!lane.active) continue;
      const bool known = lane.registers[a] && lane.registers[b] && (!takes || lane.carry);
      const std::uint64_t sum =
          !known ? 0
                 : std::uint64_t{*lane.registers[a]} + *lane.registers[b] + (takes && *lane.carry ? 1 : 0);
      lane.registers[d] = known ? Value(static_cast<std::uint32_t>(sum)) : Value();
      if (gives) lane.carry = known ? std::optional(sum >> 32 != 0) : std::nullopt;
    }
  }

  /// Emits a call of a function that calls itself three times, and adds its argument each time.
  void call(std::uint32_t d, std::uint32_t a) {
    text_ += fmt::format(
        "{{\n.param .b32 n;\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [n], 3;\nst.param.b32 [x], %a{};\n"
        "call (y), sums, (n, x);\nld.param.b32 %a{}, [y];\n}}\n",
        a, d);
    for (Lane& lane : lanes_) {
      if (!lane.active) continue;
      lane.registers[d] = lane.registers[a] ? Value(*lane.registers[a] * 4) : Value();
    }
  }

  /// Emits a movmatrix if, for every lane, the two words from which it gets halves are both defined or both
  /// undefined.
  void transpose(std::uint32_t d, std::uint32_t a) {
    std::vector<Value> all;
    for (const Lane& lane : lanes_) all.push_back(lane.registers[a]);
    std::vector<Value> result(lane_count);
    for (std::uint32_t n = 0; n < lane_count; ++n) {
      // Lane n gets rows 2 (n mod 4) and 2 (n mod 4) + 1 of column n / 4.
      const Value& first = all[4 * (n % 4 * 2) + n / 4 / 2];
      const Value& second = all[4 * (n % 4 * 2 + 1) + n / 4 / 2];
      if (first.has_value() != second.has_value()) return;
      const std::uint32_t shift = n / 4 % 2 * 16;
      if (first) result[n] = (*first >> shift & 0xffff) | (*second >> shift & 0xffff) << 16;
    }
    text_ += fmt::format("movmatrix.sync.aligned.m8n8.trans.b16 %a{}, %a{};\n", d, a);
    for (std::uint32_t n = 0; n < lane_count; ++n) lanes_[n].registers[d] = result[n];
  }

  void shuffle(std::uint32_t d, std::uint32_t a) {
    const std::uint32_t by = draw(lane_count);
    text_ += fmt::format("shfl.sync.bfly.b32 %a{}, %a{}, {}, 31, -1;\n", d, a, by);
    std::vector<Value> all;
    for (const Lane& lane : lanes_) all.push_back(lane.registers[a]);
    for (std::uint32_t n = 0; n < lane_count; ++n) lanes_[n].registers[d] = all[n ^ by];
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<Lane> lanes_{lane_count};
  std::uint32_t labels_ = 0;
  std::uint32_t stored_ = 0;
};

const std::string sums =
    ".func (.param .b32 y) sums(.param .b32 n, .param .b32 x) {\n.reg .b32 %n;\n.reg .b32 %x<4>;\n.reg .pred "
    "%e;\n"
    "ld.param.b32 %n, [n];\nld.param.b32 %x1, [x];\nmov.u32 %x2, %x1;\nsetp.eq.u32 %e, %n, 0;\n@%e bra E;\n"
    "sub.u32 %n, %n, 1;\n{\n.param .b32 m;\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [m], %n;\n"
    "st.param.b32 [a], %x1;\ncall (b), sums, (m, a);\nld.param.b32 %x3, [b];\n}\nadd.u32 %x2, %x1, %x3;\n"
    "E:\nst.param.b32 [y], %x2;\nret;\n}\n";

TEST_CASE("random kernels are reported in exactly the lanes that store uninitialised values") {
  const auto seed = static_cast<std::uint32_t>(tests::seed(20261123));
  constexpr std::uint32_t cases = 300;
  std::cout << "undefined: TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::uint32_t reported = 0;
  std::uint32_t linted = 0;
  for (std::uint32_t i = 0; i < cases; ++i) {
    const Kernel kernel(seed * 1000 + i);
    Shape shape;
    shape.grid = shape.cluster = 1;
    shape.options.mode = static_cast<SimOptions::Mode>(i % 3);
    const std::string text = registers + element +
                             ".reg .b32 %a<6>;\n.reg .pred %q<3>;\nshl.b32 %r6, %r1, 2;\n" +
                             "add.u32 %r6, %r6, %r5;\n" + kernel.text() + "ret;\n";
    const Outcome outcome = run(text, shape, sums);
    INFO("case " << i << "\n" << kernel.text() << reports_text(outcome));
    std::uint64_t undefined = 0;
    for (std::uint32_t n = 0; n < lane_count; ++n) {
      INFO("lane " << n);
      undefined += kernel.stored(n) ? 0 : 1;
      if (kernel.stored(n)) REQUIRE(outcome.words[n] == *kernel.stored(n));
    }
    std::uint64_t found = 0;
    for (const Report& report : outcome.reports) {
      REQUIRE((report.rule == "register.uninitialised" || report.rule == "shared.uninitialised"));
      found += report.count;
    }
    REQUIRE(found == undefined);
    // A register that lint reports is written on no path, and so must be reported in all lanes.
    const LintResult lint =
        lint_ptx(tests::module_of(text, 1, ".extern .shared .align 1024 .b8 smem[];\n" + sums).ptx);
    for (const Finding& finding : lint.findings) REQUIRE(finding.rule == "register.uninitialised");
    if (!lint.findings.empty()) REQUIRE(undefined == lane_count);
    linted += lint.findings.empty() ? 0 : 1;
    reported += found != 0 ? 1 : 0;
  }
  // Enough kernels must have a report, and enough none.
  CHECK(reported > cases / 10);
  CHECK(reported < cases * 9 / 10);
  CHECK(linted > cases / 20);
}

}  // namespace undefined_random_test
