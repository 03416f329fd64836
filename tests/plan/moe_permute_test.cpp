/// Problems of moe_permute: their nest, the width of vectors, the CTAs that share tokens, and the moves that
/// are refused.
#include "plan/all_candidates.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::destination_address, tests::source_address;

namespace moe_permute_test {
namespace {

/// The tensors of a call, which a test may change.
struct Tensors {
  std::vector<Tensor> to;
  Tensor x;
  Tensor experts;
  MoePermute what = {};

  [[nodiscard]] Operation operation() const { return operation::moe_permute(to, x, experts, what); }
  [[nodiscard]] Problem problem() const { return make_problem(operation().moves); }
  /// The rules that the call breaks, without their subjects.
  [[nodiscard]] tests::Rules rules() const {
    return tests::broken_rule_names([&] { return plan_kernels(operation()); });
  }
};

Tensor numbers(const Dims& shape, DevicePtr number) {
  return Tensor::contiguous(ElementType::i32, shape, destination_address + (number << 36));
}

/// Tokens of 2 slots, dense.
Tensors dense(ElementType type, std::uint64_t tokens, std::uint64_t length, std::uint64_t experts = 8) {
  const Tensor ids = Tensor::contiguous(ElementType::i64, {tokens, 2}, source_address + (1ULL << 36));
  return {.to = {Tensor::contiguous(type, {2 * tokens, length}, destination_address), numbers({tokens, 2}, 1),
                 numbers({experts}, 2), numbers({experts + 1}, 3)},
          .x = Tensor::contiguous(type, {tokens, length}, source_address),
          .experts = ids};
}

std::string choice(const Tensors& tensors) {
  const std::vector<KernelPlan> plans = plan_kernels(tensors.operation());
  return plans.size() == 1 ? plans.front().choice().text() : "several kernels";
}

std::string vector_fact(const Tensors& tensors) {
  const Problem problem = tensors.problem();
  const std::string facts = tests::facts_text(tests::candidates_of(problem).front(), problem);
  return std::to_string(tests::number_of(facts, "vector_bytes").value());
}

}  // namespace

TEST_CASE("the nest of moe_permute has the dimensions of a row, and bytes are those of all tokens") {
  using enum ElementType;
  const Problem flat = dense(bf16, 40, 64).problem();
  CHECK(flat.nest.text() == "64: 1 <- 1 0 0 0 0");
  CHECK(flat.bytes_read() == 40 * 64 * 2 + 80 * 8);
  CHECK(flat.bytes_written() == 80 * 64 * 2 + 4 * (80 + 8 + 9));
  Tensors few = dense(bf16, 40, 64);
  few.to[0].view.shape[0] = 10;
  CHECK(few.problem().bytes_written() == 10 * 64 * 2 + 4 * (80 + 8 + 9));
  Tensors columns = dense(f32, 40, 1);
  columns.x = Tensor::strided(f32, {40, 6, 5}, {30, -1, 6}, source_address);
  columns.to[0] = Tensor::contiguous(f32, {80, 6, 5}, destination_address);
  CHECK(columns.problem().nest.text() == "6x5: 5,1 <- -1,6 0,0 0,0 0,0 0,0");
  CHECK(choice(dense(u8, 40, 0)) == "moe_permute 40 groups of tokens, rows in 1 part");
  CHECK(dense(u8, 40, 0).problem().bytes_read(1) == 0);
  Tensors none = dense(bf16, 40, 64);  // NumPy's empty arrays have strides of 0
  none.to[0] = Tensor::strided(bf16, {0, 64}, {0, 0}, destination_address);
  CHECK(none.problem().bytes_written() == 4 * (80 + 8 + 9));
}

TEST_CASE("vectors of moe_permute are as wide as rows, strides and addresses of both tensors allow") {
  using enum ElementType;
  CHECK(vector_fact(dense(bf16, 40, 64)) == "16");
  CHECK(vector_fact(dense(bf16, 40, 60)) == "8");
  CHECK(vector_fact(dense(bf16, 40, 33)) == "2");
  CHECK(vector_fact(dense(f64, 40, 1)) == "8");
  Tensors shifted = dense(bf16, 40, 64);
  shifted.x.address += 4;
  CHECK(vector_fact(shifted) == "4");
  Tensors apart = dense(bf16, 40, 64);
  apart.x = Tensor::strided(bf16, {40, 64}, {68, 1}, source_address);
  CHECK(vector_fact(apart) == "8");
  Tensors odd = dense(u8, 40, 64);
  odd.to[0] = Tensor::strided(u8, {80, 64}, {65, 1}, destination_address);
  CHECK(vector_fact(odd) == "1");
}

TEST_CASE("groups of tokens fill the SMs; few tokens share their rows between CTAs") {
  using enum ElementType;
  CHECK(choice(dense(bf16, 32, 7168)) == "moe_permute 32 groups of tokens, rows in 4 parts");
  CHECK(choice(dense(bf16, 1, 7168)) == "moe_permute 1 group of tokens, rows in 28 parts");
  CHECK(choice(dense(bf16, 16384, 7168)) == "moe_permute 132 groups of tokens, rows in 1 part");
  CHECK(choice(dense(bf16, 0, 7168)) == "moe_permute 1 group of tokens, rows in 1 part");
}

TEST_CASE("moe_permute refuses illegal tensors and arguments, and names the rule") {
  using enum ElementType;
  using tests::Rules;
  const auto rules = [](const auto& change) {
    Tensors tensors = dense(bf16, 40, 64);
    change(tensors);
    return tensors.rules();
  };
  const Tensor ids = Tensor::contiguous(i32, {40}, source_address + (1ULL << 36));
  CHECK(rules([](Tensors&) {}).empty());
  CHECK(rules([&](Tensors& t) { t.experts = ids, t.to[1] = numbers({40}, 1); }).empty());
  CHECK(rules([&](Tensors& t) { t.experts = ids; }) == Rules{"moe.shape"});
  CHECK(rules([](Tensors& t) { t.x.view.rank = 1; }) == Rules{"moe.tokens"});
  CHECK(rules([](Tensors& t) { t.experts.view.shape[0] = 39; }) == Rules{"moe.experts"});
  CHECK(rules([](Tensors& t) { t.experts.view.rank = 0; }) == Rules{"moe.experts"});
  CHECK(rules([](Tensors& t) { t.experts.view.type = f64; }) == Rules{"index.type"});
  CHECK(rules([](Tensors& t) { t.to[0].view.type = f32; }) == Rules{"view.type"});
  CHECK(rules([](Tensors& t) { t.to[0].view.type = f16; }).empty());
  CHECK(rules([](Tensors& t) { t.to[0].view.shape[1] = 63; }) == Rules{"moe.shape"});
  CHECK(rules([](Tensors& t) { t.to[0].view.shape[0] = 7; }).empty());
  CHECK(rules([](Tensors& t) { t.to[1].view.type = u32; }) == Rules{"moe.type"});
  CHECK(rules([](Tensors& t) { t.to[2].view.type = i64; }) == Rules{"moe.type"});
  CHECK(rules([](Tensors& t) { t.to[3].view.shape[0] = 8; }) == Rules{"moe.shape"});
  CHECK(rules([](Tensors& t) { t.to[2] = numbers({4, 2}, 2); }) == Rules{"moe.shape", "moe.shape"});
  CHECK(rules([](Tensors& t) { t.to[2] = numbers({0}, 2), t.to[3] = numbers({1}, 3); }) ==
        Rules{"moe.count"});
  CHECK(rules([](Tensors& t) { t.to[2] = numbers({4097}, 2), t.to[3] = numbers({4098}, 3); }) ==
        Rules{"moe.count"});
  CHECK(dense(bf16, 40, 64, 4096).rules().empty());
  CHECK(rules([](Tensors& t) { t.what.alignment = 0; }) == Rules{"moe.alignment"});
  CHECK(rules([](Tensors& t) { t.what.alignment = (1U << 30) + 1; }) == Rules{"moe.alignment"});
  CHECK(rules([](Tensors& t) { t.what.alignment = 1U << 28; }) == Rules{"moe.rows"});
  CHECK(dense(bf16, 0, 64).rules().empty());
  CHECK(rules([](Tensors& t) {
          t.experts = Tensor::strided(i32, {40, 1025}, {0, 0}, source_address + (1ULL << 36));
          t.to[1] = numbers({40, 1025}, 1);
        }) == Rules{"moe.slots"});
  CHECK(dense(u8, 2, (1ULL << 30)).rules().empty());
  CHECK(dense(u8, 2, (1ULL << 30) + 1).rules() == Rules{"moe.row"});
  CHECK(rules([](Tensors& t) { t.to[1].address = t.to[2].address; }) == Rules{"memory.overlap"});
  CHECK(rules([](Tensors& t) { t.x.address = t.to[0].address; }) == Rules{"memory.overlap"});
}

TEST_CASE("a move of moe_permute alone, and moves without its sources, are refused") {
  const Operation whole = dense(ElementType::bf16, 40, 64).operation();
  const auto refused = [](const Operation& operation) {
    return tests::refusal([&] { return plan_kernels(operation); });
  };
  CHECK(refused(Operation::of({whole.moves[1]})).find("1 move of moe_permute in a row") != std::string::npos);
  Move without = whole.moves[0];
  without.sources.pop_back();
  CHECK(refused(Operation::of({without})).find("moe.sources") != std::string::npos);
}

}  // namespace moe_permute_test
