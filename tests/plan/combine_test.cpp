/// Plans of reduce_into: merged dimensions, errors, and the chosen kernels.
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/plan.hpp>

#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::broken_rules, tests::source_address, tests::refusal, tests::Rules, tests::destination_address;

namespace {

Tensor to_view(const TensorView& view) {
  return {view, destination_address};
}
Tensor from_view(const TensorView& view) {
  return {view, source_address};
}
TensorView dense_view(ElementType type, const Dims& shape) {
  return TensorView::contiguous(type, shape);
}

std::string type_of_map(CombineOp op, ElementType type) {
  const TensorView view = dense_view(type, {64, 64});
  const KernelPlan made = plan_kernels(operation::reduce_into(to_view(view), op, from_view(view))).at(0);
  for (const Parameter& parameter : made.parameters()) {
    if (parameter.map) return std::string(name(parameter.map->type));
  }
  return {};
}

}  // namespace

TEST_CASE("reduce_into: exactly the operations and types of the copy engine are accepted") {
  for (const CombineOp op : all_combine_ops) {
    CHECK(parse<CombineOp>(name(op)) == op);
    for (const ElementType type : all_element_types) {
      CAPTURE(name(op), name(type));
      const TensorView view = dense_view(type, {64, 64});
      const auto planned = [&] {
        return plan_kernels(operation::reduce_into(to_view(view), op, from_view(view)));
      };
      if (const auto as = combined_as(op, type)) {
        CHECK(size_of(*as) == size_of(type));
        REQUIRE(planned().size() == 1);
        CHECK(planned().front().family().name == "reduce_into");
        CHECK_THAT(source(planned().front()).text, ContainsSubstring("cp.reduce.async.bulk.tensor"));
        CHECK(type_of_map(op, type) == name(*as));
      } else {
        CHECK(broken_rules(planned) == Rules{"combine.type of the destination: type"});
      }
    }
  }
  CHECK_THAT(
      refusal([] {
        const TensorView view = dense_view(ElementType::f64, {8});
        return plan_kernels(operation::reduce_into(to_view(view), CombineOp::add, from_view(view)));
      }),
      ContainsSubstring("add of f64") && ContainsSubstring("legal: u32, i32, u64, i64, f16, bf16, f32"));
  CHECK_THROWS_AS(parse<CombineOp>("mean"), Error);
}

TEST_CASE("reduce_into: contiguous dimensions merge into one, which is split into rows") {
  const auto shape = [](const TensorView& view) {
    return plan_kernels(operation::reduce_into(to_view(view), CombineOp::add, from_view(view))).at(0).shape();
  };
  CHECK(shape(dense_view(ElementType::f32, {13, 7, 37})).tile == std::vector<std::uint32_t>{256});
  // A long dimension is split into rows that fit a box.
  CHECK(shape(dense_view(ElementType::f32, {4096, 4096})).tile == std::vector<std::uint32_t>{8, 256});
  CHECK(shape(dense_view(ElementType::f16, {1000, 1000})).tile.at(1) == 200);
  CHECK(shape(dense_view(ElementType::f32, {1, 1})).tile.size() == 1);
  CHECK(shape(TensorView::strided(ElementType::f32, {13, 7, 37}, {400, 40, 1})).tile.size() == 3);
  CHECK(plan_kernels(operation::reduce_into(to_view(dense_view(ElementType::f32, {0, 4})), CombineOp::add,
                                            from_view(dense_view(ElementType::f32, {0, 4}))))
            .empty());
}

TEST_CASE("reduce_into: rows of one element with strides of at least 16 bytes are accepted") {
  const TensorView spaced = TensorView::strided(ElementType::f32, {2, 1, 30, 1}, {372, 368, 12, 1});
  for (const TensorView& view : {spaced, TensorView::strided(ElementType::f32, {5, 1}, {4, 1})}) {
    const std::vector<KernelPlan> made =
        plan_kernels(operation::reduce_into(to_view(view), CombineOp::add, from_view(view)));
    REQUIRE(made.size() == 1);
    CHECK(made.front().family().name == "reduce_into");
  }
}

TEST_CASE("reduce_into: the error for views that no tensor map describes says why") {
  const TensorView view = dense_view(ElementType::u32, {64, 64});
  CHECK(broken_rules([&] {
          return plan_kernels(operation::reduce_into(to_view(view), CombineOp::add,
                                                     from_view(dense_view(ElementType::i32, {64, 64}))));
        }) == Rules{"combine.same-type of the source: type"});
  CHECK(broken_rules([&] {
          return plan_kernels(operation::reduce_into(to_view(view), CombineOp::add, to_view(view)));
        }).size() == 1);

  // No tensor map describes contiguous rows of 63 elements, rows of stride 0, or a misaligned address.
  const auto says = [](const Tensor& destination, const Tensor& source) {
    CHECK_THAT(
        refusal([&] { return plan_kernels(operation::reduce_into(destination, CombineOp::add, source)); }),
        ContainsSubstring("the copy engine cannot combine these tensors (in elements: extents "));
  };
  const auto odd = TensorView::strided(ElementType::u32, {64, 62}, {63, 1});
  says(to_view(odd), from_view(odd));
  says(to_view(view), from_view(dense_view(ElementType::u32, {64, 1})));
  says(to_view(view), {view, source_address + 4});
  says(to_view(view), permuted(from_view(view), {1, 0}));
}
