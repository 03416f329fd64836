/// The choice of a plan's candidate by tuned choices and by the requested family.
#include "plan/all_candidates.hpp"
#include "plan/candidates.hpp"
#include "plan/moves.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("a tuned choice is used and reported as tuned, unless it is not a candidate") {
  const Move move = tests::permutation(ElementType::f32, {4096, 4096}, {1, 0});
  const PlanOptions untuned{};
  const std::vector<KernelPlan> candidates = plan_candidates(move, untuned);
  REQUIRE(candidates.size() > 3);
  TuningTable table;
  PlanOptions tuned{.tuning = &table};
  for (const KernelPlan& candidate : candidates) {
    table.add({.chip = tuned.chip.name,
               .shape_class = shape_class(move, untuned),
               .choice = candidate.choice(),
               .microseconds = 1});
    const KernelPlan chosen = plan_kernels(Operation::of({move}), tuned).at(0);
    INFO(candidate.choice().text());
    CHECK(chosen.key() == candidate.key());
    CHECK(chosen.tuned());
    const std::vector<KernelPlan> all = plan_candidates(move, tuned);
    CHECK(all.size() == candidates.size());
    CHECK(all.front().key() == candidate.key());
  }
  // A choice for another chip, or one that is not a candidate, is ignored.
  tuned.chip.name = "NVIDIA H100";
  CHECK(plan_kernels(Operation::of({move}), tuned).at(0).key() == candidates.front().key());
  tuned.chip.name = untuned.chip.name;
  KernelChoice none = candidates.front().choice();
  tests::number_in(none, "threads") = 32 * 31;
  table.add({.chip = tuned.chip.name,
             .shape_class = shape_class(move, untuned),
             .choice = none,
             .microseconds = 1});
  CHECK(plan_kernels(Operation::of({move}), tuned).at(0).key() == candidates.front().key());
  CHECK_FALSE(plan_kernels(Operation::of({move}), tuned).at(0).tuned());
}

TEST_CASE("a tuned choice applies to near shapes, with tiles adapted to their extents") {
  const PlanOptions untuned{};
  std::size_t flat_choices = 0;
  std::size_t used = 0;
  for (const ElementType type : {ElementType::u8, ElementType::bf16, ElementType::f32}) {
    for (const std::vector<std::uint32_t>& axes : {std::vector{2U, 0U, 1U}, {2U, 1U, 0U}, {1U, 2U, 0U}}) {
      const Move measured = tests::permutation(type, {301, 157, 523}, axes);
      const Move other = tests::permutation(type, {307, 155, 531}, axes);
      REQUIRE(shape_class(measured, untuned).distance(shape_class(other, untuned)) < ShapeClass::near);
      for (const KernelPlan& candidate : plan_candidates(measured, untuned)) {
        if (candidate.family().name != "flat") continue;
        TuningTable table;
        table.add({.chip = untuned.chip.name,
                   .shape_class = shape_class(measured, untuned),
                   .choice = candidate.choice(),
                   .microseconds = 1});
        const KernelPlan chosen = plan_kernels(Operation::of({other}), {.tuning = &table}).at(0);
        ++flat_choices;
        if (!chosen.tuned()) continue;
        CHECK(chosen.family().name == "flat");
        ++used;
      }
    }
  }
  CHECK(flat_choices > 30);
  CHECK(4 * used >= 3 * flat_choices);
}

namespace {

/// A permutation of a source with gaps in every dimension, so that no dimensions merge.
Move spaced_permutation(ElementType type, const tests::Shape& shape, const std::vector<std::uint32_t>& axes,
                        DevicePtr address = tests::source_address) {
  tests::Strides strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= static_cast<std::int64_t>(shape[d] + 16);
  }
  const Tensor source = permuted(tests::strided(type, shape, strides, address), axes);
  const tests::Shape destination_shape(source.view.shape.begin(),
                                       source.view.shape.begin() + source.view.rank);
  return {.destination = tests::dense(type, destination_shape, tests::destination_address),
          .sources = {source}};
}

}  // namespace

TEST_CASE("a tuned choice of one permutation does not apply to another permutation of the same extents") {
  // All extents have the same logarithm, so only the order of dimensions differs.
  const tests::Shape shape{80, 96, 112, 64};
  const PlanOptions untuned{};
  std::vector<std::uint32_t> axes{0, 1, 2, 3};
  std::vector<Move> moves;
  do moves.push_back(spaced_permutation(ElementType::bf16, shape, axes));
  while (std::ranges::next_permutation(axes).found);
  REQUIRE(moves.size() == 24);
  const auto check = [&](const Move& measured, const std::vector<Move>& others) {
    TuningTable table;
    const KernelPlan measured_best = plan_candidates(measured, untuned).front();
    table.add({.chip = untuned.chip.name,
               .shape_class = shape_class(measured, untuned),
               .choice = measured_best.choice(),
               .microseconds = 1});
    CHECK(plan_kernels(Operation::of({measured}), {.tuning = &table}).at(0).tuned());
    for (const Move& other : others) {
      if (&other == &measured) continue;
      INFO(shape_class(measured, untuned).text() << " and " << shape_class(other, untuned).text());
      CHECK_FALSE(plan_kernels(Operation::of({other}), {.tuning = &table}).at(0).tuned());
    }
  };
  check(spaced_permutation(ElementType::bf16, shape, {2, 0, 1, 3}),
        {spaced_permutation(ElementType::bf16, shape, {3, 1, 0, 2})});
  for (const Move& move : moves) check(move, moves);

  // The order of each of several sources matters.
  std::vector<Move> sums;
  for (const std::vector<std::uint32_t>& second : {std::vector{2U, 1U, 0U}, {2U, 0U, 1U}, {1U, 0U, 2U}}) {
    Move sum = spaced_permutation(ElementType::f32, {96, 96, 96}, {2, 1, 0});
    sum.sources.push_back(
        spaced_permutation(ElementType::f32, {96, 96, 96}, second, tests::source_address / 2).sources[0]);
    sum.body = Map{"x0 + x1"};
    sums.push_back(sum);
  }
  for (const Move& sum : sums) check(sum, sums);
}

TEST_CASE("nearest() finds the choice of the same kernel with the nearest tile, if one is near enough") {
  const KernelChoice wanted{
      .family = "flat",
      .numbers = {
          {"tile", {8, 30}, true}, {"threads", {256}}, {"word_bytes", {8}}, {"order", {0}}, {"joined", {0}}}};
  const auto with = [&](std::uint32_t a, std::uint32_t b) {
    KernelChoice choice = wanted;
    choice.numbers.front().values = {a, b};
    return choice;
  };
  CHECK(nearest(std::vector{with(8, 31), with(8, 30), with(8, 29)}, wanted) == 1);
  CHECK(nearest(std::vector{with(8, 36), with(9, 31), with(7, 35)}, wanted) == 1);
  CHECK_FALSE(nearest(std::vector{with(8, 61), with(16, 31), with(3, 30)}, wanted).has_value());
  KernelChoice other = wanted;
  other.family = "linear";
  CHECK_FALSE(nearest(std::vector{other}, wanted).has_value());
  other = wanted;
  tests::number_in(other, "order") = 1;
  CHECK_FALSE(nearest(std::vector{other}, wanted).has_value());
  CHECK_FALSE(nearest(std::vector{with(8, 0)}, wanted).has_value());
}

TEST_CASE("a tuned choice serves its own shape and near ones, and no others") {
  const Move measured = tests::permutation(ElementType::f32, {8192, 32'768}, {1, 0});
  const std::vector<KernelPlan> candidates = plan_candidates(measured);
  TuningTable table;
  const PlanOptions options{.tuning = &table};
  table.add({.chip = options.chip.name,
             .shape_class = shape_class(measured, options),
             .choice = candidates.back().choice(),
             .microseconds = 1});
  const auto planned = [&](std::uint64_t rows, std::uint64_t columns) {
    return plan_kernels(Operation::of({tests::permutation(ElementType::f32, {rows, columns}, {1, 0})}),
                        options)
        .at(0);
  };
  CHECK(planned(8192, 32'768).key() == candidates.back().key());
  CHECK(planned(8192, 32'768).tuned());
  CHECK(planned(7680, 35'840).tuned());
  CHECK_FALSE(planned(4096, 32'768).tuned());
  CHECK_FALSE(planned(8192, 65'536).tuned());
}

TEST_CASE("with a requested family, all plans are of this family") {
  const Move move = tests::permutation(ElementType::f32, {4096, 4096}, {1, 0});
  for (const std::string_view family : {"transpose", "direct_transpose", "flat"}) {
    const PlanOptions options{.family = family};
    CHECK(plan_kernels(Operation::of({move}), options).at(0).family().name == family);
    for (const KernelPlan& candidate : plan_candidates(move, options))
      CHECK(candidate.family().name == family);
  }
  const auto code_of = [&](std::string_view family) {
    try {
      static_cast<void>(plan_kernels(Operation::of({move}), {.family = family}));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  CHECK(code_of("rows") == ErrorCode::invalid_argument);
  CHECK(code_of("columns") == ErrorCode::invalid_argument);
}
