/// Problems of gather, scatter, scatter_add and gather_sum: their nests, the width of their vectors, the
/// kernels that do them, and the moves that are refused.
#include "families/shared/indexed_vectors.hpp"
#include "plan/all_candidates.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::destination_address, tests::source_address;

namespace {

constexpr DevicePtr index_address = DevicePtr{1} << 45;

Tensor places(const Dims& shape, ElementType type = ElementType::i64) {
  return Tensor::contiguous(type, shape, index_address);
}
Tensor to(ElementType type, const Dims& shape, DevicePtr shift = 0) {
  return Tensor::contiguous(type, shape, destination_address + shift);
}
Tensor from(ElementType type, const Dims& shape, DevicePtr shift = 0) {
  return Tensor::contiguous(type, shape, source_address + shift);
}

Problem problem_of(const Operation& operation) {
  return make_problem(operation.moves.front());
}

/// The rules that an operation breaks, without their subjects.
tests::Rules rules(const Operation& operation) {
  return tests::broken_rule_names([&] { return plan_kernels(operation); });
}

}  // namespace

TEST_CASE("indexed problems have the nest of the moved tensor, and merge what is contiguous") {
  using enum ElementType;
  const Problem rows =
      problem_of(operation::gather(to(bf16, {6, 5, 4, 8}), from(bf16, {100, 4, 8}), {places({6, 5})}));
  CHECK(rows.nest.text() == "30x32: 32,1 <- 0,1 1,0");
  CHECK(rows.as<IndexedProblem>().axis[0].extent == 100);
  CHECK(rows.as<IndexedProblem>().axis[0].stride == 32);
  CHECK(rows.bytes_read(1) == 6 * 5 * 4 * 8 * 2);
  const Problem inverse =
      problem_of(operation::scatter(to(bf16, {100, 4, 8}), from(bf16, {6, 5, 4, 8}), {places({6, 5})}));
  CHECK(inverse.nest.text() == "30x32: 0,1 <- 32,1 1,0");
  const Problem along = problem_of(
      operation::gather(to(f32, {6, 3}), from(f32, {6, 9}), {places({6, 3})}, {.axes = {-1}, .along = true}));
  CHECK(along.nest.text() == "6x3: 3,1 <- 9,0 3,1");
  const Problem elements = problem_of(
      operation::gather(to(f32, {7, 3}), from(f32, {6, 9}), {places({7, 1}), places({3})}, {.axes = {0, 1}}));
  CHECK(elements.nest.text() == "7x3: 3,1 <- 0,0 1,0 0,1");
}

TEST_CASE("flat axes that are one dimension in memory are one axis; other ones are counted by the kernel") {
  using enum ElementType;
  const auto body = [](const Operation& operation) { return problem_of(operation).as<IndexedProblem>(); };
  const Gather flat{.axes = {0, 1}, .flat = true};
  const IndexedProblem merged =
      body(operation::gather(to(bf16, {9, 8, 128}), from(bf16, {64, 16, 8, 128}), {places({9})}, flat));
  CHECK((merged.flat == 0 && merged.indices == 1 && merged.axis[0].extent == 1024 &&
         merged.axis[0].stride == 1024));
  const Tensor turned = Tensor::strided(bf16, {64, 16, 8, 128}, {16384, 128, 2048, 1}, source_address);
  const IndexedProblem separate = body(operation::gather(to(bf16, {9, 8, 128}), turned, {places({9})}, flat));
  CHECK((separate.flat == 2 && separate.indices == 1 && separate.first_extent() == 1024));
  CHECK((separate.axis[0].extent == 64 && separate.axis[0].stride == 16384));
  CHECK((separate.axis[1].extent == 16 && separate.axis[1].stride == 128));
  // Only one of the axes of 1, 5 and 1 elements remains.
  const IndexedProblem one = body(
      operation::gather(to(f32, {9, 3}), Tensor::strided(f32, {1, 5, 1, 3}, {7, 20, 3, 1}, source_address),
                        {places({9})}, {.axes = {0, 1, 2}, .flat = true}));
  CHECK((one.flat == 0 && one.axis[0].extent == 5 && one.axis[0].stride == 20));
}

TEST_CASE("a gather's expression reads vectors of the source, and numbers after the index tensors") {
  using enum ElementType;
  const auto vector = [](const Operation& operation) {
    return computed_vector_elements(problem_of(operation));
  };
  const Gather doubled{.expression = "x * 2"};
  const auto rows = [&](ElementType destination, ElementType source, std::uint64_t length) {
    return operation::gather(to(destination, {6, length}), from(source, {100, length}), {places({6})},
                             doubled);
  };
  CHECK(vector(rows(f32, bf16, 64)) == 8);
  CHECK(vector(rows(u8, f64, 64)) == 2);
  CHECK(vector(rows(f64, u8, 64)) == 4);
  CHECK(vector(rows(f32, bf16, 12)) == 4);
  CHECK(vector(rows(f32, bf16, 63)) == 1);
  const Operation scaled = operation::gather(to(f32, {6, 64}), from(bf16, {100, 64}),
                                             {places({6}), number(2.0F)}, {.expression = "x * p0"});
  const Problem problem = problem_of(scaled);
  CHECK(problem.nest.text() == "6x64: 64,1 <- 0,1 1,0 0,0");
  CHECK((problem.numbers == 1 && problem.as<IndexedProblem>().indices == 1));
  CHECK(problem.expression() == "x * p0");
  CHECK(tests::candidates_of(scaled.moves.front()).size() == 2);
  CHECK(rules(operation::gather(to(f32, {6, 64}), from(f32, {100, 64}), {places({6}), number(2.0F)})) ==
        tests::Rules{"number.operation"});
  CHECK(rules(operation::gather(to(bf16, {6, 64}), from(f32, {100, 64}), {places({6})})) ==
        tests::Rules{"view.type"});
}

TEST_CASE("a gather_sum has the nest of its destination, and reads its terms") {
  using enum ElementType;
  const Tensor weights = Tensor::contiguous(f32, {6, 8}, index_address + (1 << 20));
  const Operation sum =
      operation::gather_sum(to(bf16, {6, 64}), from(bf16, {100, 64}), places({6, 8}), weights);
  const Problem problem = problem_of(sum);
  CHECK(problem.nest.text() == "6x64: 64,1 <- 0,1 8,0 8,0");
  CHECK(problem.as<IndexedProblem>().terms.count == 8);
  CHECK(problem.bytes_read(1) == 6 * 64 * 8 * 2);
  CHECK(problem.bytes_read(2) == 6 * 8 * 8);
  CHECK(problem.bytes_read(3) == 6 * 8 * 4);
  CHECK(tests::candidates_of(sum.moves.front()).size() == 2);
  const auto choice = [](const Operation& operation) {
    return plan_kernels(operation).front().choice().text();
  };
  CHECK(choice(sum) == "gathered_sum 64 threads of 1 vector");
  CHECK(choice(operation::gather_sum(to(bf16, {4096, 7168}), from(bf16, {32768, 7168}), places({4096, 8}))) ==
        "gathered_sum 256 threads of 1 vector");
}

TEST_CASE("a gather_sum of ragged bags reads each index of the list once") {
  using enum ElementType;
  const Tensor weights = Tensor::contiguous(f32, {100}, index_address + (1 << 20));
  const Tensor offsets = Tensor::contiguous(i32, {7}, index_address + (2 << 20));
  const Operation sum =
      operation::gather_sum(to(bf16, {6, 64}), from(bf16, {100, 64}), places({100}), weights, {}, offsets);
  const Problem problem = problem_of(sum);
  CHECK(problem.nest.text() == "6x64: 64,1 <- 0,1 0,0 0,0 1,0");
  CHECK((problem.as<IndexedProblem>().terms.count == 100 && problem.as<IndexedProblem>().terms.bags == 6));
  CHECK(problem.bytes_read(1) == 100 * 64 * 2);
  CHECK(problem.bytes_read(2) == 100 * 8);
  CHECK(problem.bytes_read(3) == 100 * 4);
  CHECK(problem.bytes_read(4) == 6 * 4);
  CHECK(tests::candidates_of(sum.moves.front()).size() == 2);
}

TEST_CASE("vectors are as wide as both tensors' rows, their alignment and one index allow") {
  using enum ElementType;
  const auto elements = [](const Operation& operation) {
    return indexed_vector_elements(problem_of(operation));
  };
  CHECK(elements(operation::gather(to(bf16, {9, 64}), from(bf16, {20, 64}), {places({9})})) == 8);
  CHECK(elements(operation::gather(to(bf16, {9, 60}), from(bf16, {20, 60}), {places({9})})) == 4);
  CHECK(elements(operation::gather(to(bf16, {9, 33}), from(bf16, {20, 33}), {places({9})})) == 1);
  CHECK(elements(operation::gather(to(bf16, {9, 64}, 4), from(bf16, {20, 64}), {places({9})})) == 2);
  CHECK(elements(operation::gather(to(bf16, {9, 64}), from(bf16, {20, 64}, 8), {places({9})})) == 4);
  CHECK(elements(
            operation::gather(to(bf16, {20, 64}), from(bf16, {20, 64}), {places({64})}, {.axes = {1}})) == 1);
  // Rows of the selected tensor begin at any element, although those that the nest walks are aligned.
  const Tensor odd = Tensor::strided(f32, {20, 64}, {65, 1}, source_address);
  CHECK(elements(operation::gather(to(f32, {9, 64}), odd, {places({9})})) == 1);
  CHECK(elements(operation::scatter_add(to(f64, {20, 64}), from(f64, {9, 64}), {places({9})})) == 2);
}

TEST_CASE("large problems have several vectors a thread; additions in order have a family of their own") {
  using enum ElementType;
  const auto choice = [](const Operation& operation) {
    return plan_kernels(operation).front().choice().text();
  };
  const auto rows = [&](std::uint64_t count) {
    return operation::gather(to(bf16, {count, 4096}), from(bf16, {4000, 4096}), {places({count})});
  };
  CHECK(choice(rows(8)) == "indexed 256 threads of 1 vector");
  CHECK(choice(rows(8192)) == "indexed 256 threads of 4 vectors");
  const auto added = [&](const Dims& shape, bool deterministic) {
    return operation::scatter_add(to(f32, {1000, 64}), from(f32, shape), {places({shape[0]})},
                                  {.deterministic = deterministic});
  };
  CHECK(tests::candidates_of(added({50, 64}, false).moves.front()).size() == 2);
  CHECK(tests::candidates_of(added({50, 64}, true).moves.front()).size() == 1);
  CHECK(choice(added({50, 64}, true)) == "ordered_add 32 threads, 500 parts");
}

TEST_CASE("indexed moves that break a rule are refused, and the rule is named") {
  using enum ElementType;
  const Tensor y = to(f32, {5, 8});
  const Tensor x = from(f32, {20, 8});
  CHECK(rules(operation::gather(y, x, {places({5})})).empty());
  CHECK(rules(operation::gather(y, x, {})) == tests::Rules{"index.count"});
  CHECK(rules(operation::gather(y, x, {places({5})}, {.axes = {}})) == tests::Rules{"index.axes"});
  CHECK(rules(operation::gather(y, x, {places({5})}, {.axes = {2}})) == tests::Rules{"index.axes"});
  CHECK(rules(operation::gather(y, x, {places({5}), places({5})}, {.axes = {1, 0}})) ==
        tests::Rules{"index.axes"});
  CHECK(rules(operation::gather(y, x, {places({5}, i16)})) == tests::Rules{"index.type"});
  CHECK(rules(operation::gather(y, x, {places({4})})) == tests::Rules{"index.moved-shape"});
  CHECK(rules(operation::gather(y, x, {places({5})}, {.along = true})) == tests::Rules{"index.along"});
  CHECK(rules(operation::gather(y, x, {places({5, 3})}, {.along = true})) == tests::Rules{"index.shape"});
  CHECK(rules(operation::gather(to(f16, {5, 8}), x, {places({5})})) == tests::Rules{"view.type"});
  CHECK(rules(operation::gather(y, from(f32, {0, 8}), {places({5})}, {.out_of_range = OutOfRange::clamp})) ==
        tests::Rules{"index.empty-axis"});
  const Gather flat{.axes = {0, 1}, .flat = true};
  CHECK(rules(operation::gather(to(f32, {5}), x, {places({5})}, flat)).empty());
  CHECK(rules(operation::gather(to(f32, {5}), x, {places({5}), places({5})}, flat)) ==
        tests::Rules{"index.count"});
  CHECK(rules(operation::gather(y, x, {places({5, 8})}, {.along = true, .flat = true})) ==
        tests::Rules{"index.along"});
  const Tensor deep = Tensor::strided(f32, {2, 2, 2, 2, 2, 2}, {64, 1, 32, 2, 16, 4}, source_address);
  CHECK(rules(operation::gather(to(f32, {5, 5, 2, 2, 2, 2}), deep, {places({5, 5})}, flat)).empty());
  CHECK(rules(operation::gather(to(f32, {5, 5, 5, 2, 2, 2, 2}), deep, {places({5, 5, 5})}, flat)) ==
        tests::Rules{"index.flat-axes"});
  CHECK(rules(operation::gather_sum(y, x, places({5, 3}))).empty());
  CHECK(rules(operation::gather_sum(to(i32, {5, 8}), x, places({5, 3}))).empty());
  CHECK(rules(operation::gather_sum(y, x, places({}))) == tests::Rules{"index.terms"});
  CHECK(rules(operation::gather_sum(y, x, places({5, 3}), to(i32, {5, 3}, 1 << 20))) ==
        tests::Rules{"index.weights-type"});
  CHECK(rules(operation::gather_sum(y, x, places({5, 3}), to(f32, {5, 4}, 1 << 20))) ==
        tests::Rules{"index.weights-shape"});
  CHECK(rules(operation::gather_sum(y, x, places({5}))) == tests::Rules{"index.moved-shape"});
  CHECK(rules(operation::gather_sum(y, x, places({5, 3}), {}, {.axes = {0, 1}})) ==
        tests::Rules{"index.count"});
  const Tensor table = to(f32, {20, 8});
  CHECK(rules(operation::scatter(table, from(f32, {5, 8}), {places({5})})).empty());
  CHECK(rules(operation::scatter(to(f32, {20, 1}), from(f32, {5, 8}), {places({5, 8})}, {.along = true})) ==
        tests::Rules{"index.repeated"});
  CHECK(rules(operation::scatter_add(table, from(i32, {5, 8}), {places({5})})) ==
        tests::Rules{"index.same-type"});
  CHECK(rules(operation::scatter_add(to(u8, {20, 8}), from(u8, {5, 8}), {places({5})})) ==
        tests::Rules{"index.added-type"});
  // A scatter's source and index may not overlap its destination.
  CHECK_FALSE(rules(operation::scatter(table, to(f32, {5, 8}), {places({5})})).empty());
  CHECK_FALSE(rules(operation::scatter(table, from(f32, {5, 8}), {to(i64, {5})})).empty());
}
