#include "codegen/plan_tensors.hpp"
#include "codegen/plans.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/ragged.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

using namespace tmajit;

namespace tests {
namespace {

/// Batches of two tensors.
std::vector<NamedPlan> ragged_plans() {
  const auto batch = [](const std::string& name, const TensorView& one, const TensorView& other,
                        DevicePtr shift = 0) {
    const std::vector<Tensor> to{{one, to_address}, {other, to_address + (1 << 20)}};
    const std::vector<Tensor> from{{one, from_address}, {other, from_address + (1 << 20) + shift}};
    return NamedPlan{"batch of " + name, plan_ragged(to, from).kernel};
  };
  const auto rows = [](ElementType type, std::uint64_t count, std::uint64_t columns) {
    return TensorView::strided(type, Shape{count, columns}, Strides{64, 1});
  };
  using enum ElementType;
  return {batch("f32 in one piece", TensorView::contiguous(f32, Shape{1000}),
                TensorView::contiguous(f32, Shape{24})),
          batch("bytes in one piece", TensorView::contiguous(u8, Shape{999}),
                TensorView::contiguous(u8, Shape{24})),
          batch("rows of f16", rows(f16, 100, 56), rows(f16, 7, 32)),
          batch("rows of f16 with ends", rows(f16, 100, 55), rows(f16, 7, 3)),
          batch("rows at odd addresses", rows(f32, 100, 56), rows(f32, 7, 32), 4),
          batch("blocks of bytes",
                TensorView::strided(u8, Shape{9, 8, 7, 6, 5}, Strides{16384, 2048, 256, 32, 1}),
                TensorView::strided(u8, Shape{1, 2, 3, 4, 5}, Strides{16384, 2048, 256, 32, 1}))};
}

/// Rows of tokens that are sorted by expert: one kernel has four destinations.
std::vector<NamedPlan> moe_plans() {
  const auto sorted = [](const std::string& name, const Tensor& x, const Tensor& experts) {
    Shape rows(x.view.shape.begin(), x.view.shape.begin() + x.view.rank);
    rows[0] *= 2;
    const auto numbers = [](const Shape& shape, DevicePtr number) {
      return to(ElementType::i32, shape, number << 30);
    };
    const Shape pairs(experts.view.shape.begin(), experts.view.shape.begin() + experts.view.rank);
    const Operation operation =
        operation::moe_permute({to(x.view.type, rows), numbers(pairs, 1), numbers({8}, 2), numbers({9}, 3)},
                               x, experts, {.alignment = 16});
    return NamedPlan{"sort of " + name, plan_kernels(operation).front()};
  };
  using enum ElementType;
  return {sorted("rows by 64-bit ids", from(bf16, {300, 4096}), places(i64, {300, 2})),
          sorted("odd rows by 32-bit ids", from(u8, {300, 33}), places(u32, {300})),
          sorted("columns", from(f32, {40, 6, 30}, {180, 1, 6}), places(i32, {40, 2}))};
}

/// First elements of rows: in registers, in shared memory and read again.
std::vector<NamedPlan> top_k_plans() {
  const auto first = [](const std::string& name, const Tensor& x, std::uint64_t k, const TopK& what) {
    Shape shape(x.view.shape.begin(), x.view.shape.begin() + x.view.rank);
    shape.back() = k;
    const Operation operation =
        operation::top_k({to(x.view.type, shape), to(ElementType::i64, shape, 1ULL << 30)}, x, what);
    return NamedPlan{"top_k of " + name, plan_kernels(operation).front()};
  };
  using enum ElementType;
  return {first("experts", from(f32, {300, 256}), 8, {}),
          first("odd rows", from(u8, {300, 33}), 3, {.largest = false}),
          first("a vocabulary", from(bf16, {30, 32000}), 50, {}),
          first("long columns", from(f64, {2, 3, 100000}, {300000, 1, 3}), 50, {.largest = false})};
}

/// Kernels of casts that store several results.
std::vector<NamedPlan> cast_plans() {
  const auto cast = [](const std::string& name, const Tensor& x, ElementType type, const CastTranspose& what,
                       std::vector<Tensor> scale) {
    std::vector<Tensor> results;
    for (const TensorView& view : destinations_of("cast_transpose", std::vector{x.view},
                                                  {{"to", std::string(tmajit::name(type))},
                                                   {"orders", std::string(tmajit::name(what.orders))},
                                                   {"amax", what.amax ? "yes" : "no"}}))
      results.push_back({view, to_address + (results.size() << 30)});
    scale.insert(scale.begin(), x);
    return NamedPlan{"cast of " + name,
                     plan_kernels(operation::cast_transpose(results, what, scale)).front()};
  };
  using enum ElementType;
  const Tensor scale{TensorView::contiguous(f32, {}), from_address + (DevicePtr{1} << 36)};
  const Tensor blocks = from(bf16, {1024, 512});
  const Operation quantised =
      operation::quantize_blocks({to(e4m3, {1024, 512}), to(f32, {8, 4}, DevicePtr{1} << 36)}, {blocks});
  return {{"square blocks of bf16", plan_kernels(quantised).front()},
          cast("bf16 to e4m3 in both orders", from(bf16, {4096, 4096}), e4m3, {}, {scale}),
          cast("odd rows of f16 to e5m2", from(f16, {513, 1001}), e5m2, {}, {number(2.0F)}),
          cast("f32 to transposed bytes", from(f32, {2048, 2056}), i8,
               {.orders = CastOrders::transposed, .amax = false}, {scale}),
          cast("matrices of f32 to bf16", from(f32, {4, 64, 72}), bf16, {.orders = CastOrders::plain}, {}),
          cast("every third element", from(bf16, {64, 64}, {192, 3}), e4m3, {.amax = false}, {scale})};
}

}  // namespace

std::vector<NamedPlan> joint_plans() {
  std::vector<NamedPlan> plans;
  for (std::vector<NamedPlan> some : {ragged_plans(), moe_plans(), top_k_plans(), cast_plans()})
    std::ranges::move(some, std::back_inserter(plans));
  return plans;
}

}  // namespace tests
