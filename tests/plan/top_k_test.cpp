/// Problems of top_k: their nest, the threads that take a row, and the moves that are refused.
#include "plan/all_candidates.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::destination_address, tests::source_address;

namespace top_k_test {
namespace {

/// The tensors of a call, which a test may change.
struct Tensors {
  std::vector<Tensor> to;
  Tensor x;
  TopK what = {};

  [[nodiscard]] Operation operation() const { return operation::top_k(to, x, what); }
  [[nodiscard]] Problem problem() const { return make_problem(operation().moves); }
  /// The rules that the call breaks, without their subjects.
  [[nodiscard]] tests::Rules rules() const {
    return tests::broken_rule_names([&] { return plan_kernels(operation()); });
  }
};

/// Rows along the last dimension.
Tensors dense(ElementType type, const std::vector<std::uint64_t>& shape, std::uint64_t k) {
  std::vector<std::uint64_t> results = shape;
  results.back() = k;
  return {.to = {Tensor::contiguous(type, results, destination_address),
                 Tensor::contiguous(ElementType::i64, results, destination_address + (1ULL << 40))},
          .x = Tensor::contiguous(type, shape, source_address)};
}

std::string choice(const Tensors& tensors) {
  const std::vector<KernelPlan> plans = plan_kernels(tensors.operation());
  return plans.size() == 1 ? plans.front().choice().text() : "several kernels";
}

std::uint64_t fact(const Tensors& tensors, std::string_view name) {
  const Problem problem = tensors.problem();
  const std::string facts = tests::facts_text(tests::candidates_of(problem).front(), problem);
  return tests::number_of(facts, name).value();
}

}  // namespace

TEST_CASE("one kernel computes values and index, over the dimensions that count rows") {
  using enum ElementType;
  const Tensors rows = dense(bf16, {6, 40, 1000}, 5);
  CHECK(plan_kernels(rows.operation()).size() == 1);
  CHECK(rows.problem().nest.text() == "240: 5 <- 1000 5");
  CHECK(rows.problem().bytes_read() == 240 * 1000 * 2);
  CHECK(rows.problem().bytes_written() == 240 * 5 * (2 + 8));
  Tensors alone = rows;
  alone.to.pop_back();
  CHECK(alone.problem().nest.text() == "240: 5 <- 1000");
  CHECK(alone.problem().bytes_written() == 240 * 5 * 2);
  Tensors columns = rows;
  columns.what.axis = -2;
  columns.to = {Tensor::contiguous(bf16, {6, 7, 1000}, destination_address)};
  CHECK(columns.problem().nest.text() == "6x1000: 7000,1 <- 40000,1");
  CHECK(columns.problem().as<TopKProblem>().stride[0] == 1000);
  const Tensors row = dense(f32, {100}, 100);
  CHECK(row.problem().bytes_read() == 400);
  CHECK(choice(row) == "top_k 128 threads, a CTA for each row");
}

TEST_CASE(
    "a warp takes a row that its registers hold; a CTA keeps a longer row in shared memory, if it fits") {
  using enum ElementType;
  const std::string warp = "top_k 128 threads, a warp for each row";
  CHECK(choice(dense(f32, {512, 256}, 8)) == warp);
  CHECK(choice(dense(f32, {512, 1024}, 32)) == warp);
  CHECK(choice(dense(bf16, {512, 1024}, 1)) == warp);
  CHECK(choice(dense(f64, {512, 512}, 8)) == warp);
  CHECK(choice(dense(f64, {512, 513}, 8)) != warp);
  CHECK(choice(dense(f32, {512, 256}, 33)) == "top_k 128 threads, a CTA for each row");
  CHECK(choice(dense(f32, {512, 1028}, 8)) ==
        "top_k 128 threads, a CTA for each row, which stays in shared memory");
  CHECK(choice(dense(f32, {9, 32768}, 64)) ==
        "top_k 1024 threads, a CTA for each row, which stays in shared memory");
  CHECK(choice(dense(bf16, {9, 128256}, 64)) == "top_k 1024 threads, a CTA for each row");
  // Lanes load vectors of as many bytes as rows, strides and addresses allow.
  CHECK(fact(dense(f32, {512, 384}, 8), "vectors") == 3);
  CHECK(fact(dense(bf16, {512, 384}, 8), "vectors") == 2);
  CHECK(fact(dense(bf16, {512, 12}, 8), "vector_bytes") == 8);
  CHECK(fact(dense(u8, {512, 255}, 8), "vector_bytes") == 1);
  CHECK(fact(dense(u8, {512, 255}, 8), "vectors") == 8);
  Tensors shifted = dense(f32, {512, 256}, 8);
  shifted.x.address += 4;
  CHECK(fact(shifted, "vector_bytes") == 4);
}

TEST_CASE("lengths, rows and k are numbers of the launch") {
  const auto key = [](const std::vector<std::uint64_t>& shape, std::uint64_t k) {
    return std::string(plan_kernels(dense(ElementType::f32, shape, k).operation()).front().key());
  };
  CHECK(key({512, 256}, 8) == key({7, 252}, 3));
  CHECK(key({512, 2000}, 8) == key({33, 32001}, 1000));
  CHECK(key({512, 100000}, 8) == key({3, 262144}, 2048));
  CHECK(key({512, 256}, 8) != key({512, 384}, 8));
}

TEST_CASE("top_k refuses illegal tensors and arguments, and names the rule") {
  using enum ElementType;
  using tests::Rules;
  const auto rules = [](const auto& change) {
    Tensors tensors = dense(f32, {6, 100}, 5);
    change(tensors);
    return tensors.rules();
  };
  CHECK(rules([](Tensors&) {}).empty());
  CHECK(rules([](Tensors& t) { t.to[1].view.type = i32; }).empty());
  CHECK(rules([](Tensors& t) { t.to[1].view.type = u32; }) == Rules{"top_k.index"});
  CHECK(rules([](Tensors& t) { t.to[0].view.type = i32; }) == Rules{"top_k.type"});
  CHECK(rules([](Tensors& t) { t.what.axis = 2; }) == Rules{"top_k.axis"});
  CHECK(rules([](Tensors& t) { t.what.axis = -3; }) == Rules{"top_k.axis"});
  CHECK(rules([](Tensors& t) { t.to[0].view.shape[0] = 5; }) == Rules{"top_k.shape"});
  CHECK(rules([](Tensors& t) { t.to[1].view.shape[1] = 4; }) == Rules{"top_k.shape"});
  CHECK(rules([](Tensors& t) { t.x.view.shape[1] = 4; }) == Rules{"top_k.count"});
  CHECK(rules([](Tensors& t) { t.x.view.shape[1] = 5; }).empty());
  CHECK(dense(f32, {2, 3000}, 2048).rules().empty());
  CHECK(dense(f32, {2, 3000}, 2049).rules() == Rules{"top_k.count"});
  CHECK(dense(f32, {2, 3000}, 0).rules() == Rules{"top_k.count"});
  CHECK(dense(u8, {0, 3000}, 7).rules().empty());
  CHECK(dense(u8, {1, (1ULL << 31) - 1}, 7).rules().empty());
  CHECK(dense(u8, {1, 1ULL << 31}, 7).rules() == Rules{"top_k.length"});
  CHECK(rules([](Tensors& t) { t = dense(u8, {1ULL << 31, 3}, 1); }) == Rules{"top_k.rows"});
  CHECK(rules([](Tensors& t) { t.x.view.rank = 0, t.to[0].view.rank = 0, t.to[1].view.rank = 0; }) ==
        Rules{"top_k.axis"});
  CHECK(rules([](Tensors& t) { t.to[1].address = t.to[0].address; }) == Rules{"memory.overlap"});
  CHECK(rules([](Tensors& t) { t.x.address = t.to[0].address; }) == Rules{"memory.overlap"});
}

TEST_CASE("a move of the index alone, and moves without their source, are refused") {
  const Operation whole = dense(ElementType::f32, {6, 100}, 5).operation();
  const auto refused = [](const Operation& operation) {
    return tests::refusal([&] { return plan_kernels(operation); });
  };
  CHECK(refused(Operation::of({whole.moves[1]})).find("computes the index alone") != std::string::npos);
  Move without = whole.moves[0];
  without.sources.clear();
  CHECK(refused(Operation::of({without})).find("top_k.sources") != std::string::npos);
}

}  // namespace top_k_test
