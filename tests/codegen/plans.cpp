#include "codegen/plans.hpp"

#include "codegen/plan_tensors.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

using namespace tmajit;

namespace tests {
namespace {

using Axes = std::vector<std::uint32_t>;

/// A move of permuted(source, axes) to a dense destination.
Move permutation(ElementType type, const Shape& source, const Axes& axes) {
  const Tensor turned = permuted(from(type, source), axes);
  return {.destination = to(type, {turned.view.shape.begin(), turned.view.shape.begin() + turned.view.rank}),
          .sources = {turned}};
}

Move computed(const Tensor& destination, std::vector<Tensor> sources, std::string expression) {
  return {.destination = destination, .sources = std::move(sources), .body = Map{std::move(expression)}};
}

Move stencil(const Tensor& destination, const Tensor& source, const std::string& expression,
             const Stencil& options = {}) {
  return operation::stencil(destination, expression, {source}, options).moves.front();
}

Move padded(const Tensor& destination, const Tensor& source, const std::vector<std::int64_t>& before,
            double value) {
  return {.destination = destination, .sources = {source}, .body = Padding{.before = before, .value = value}};
}

Move reduced(const Tensor& destination, std::vector<Tensor> sources, Reduction reduction) {
  return {.destination = destination, .sources = std::move(sources), .body = std::move(reduction)};
}

Move scanned(const Tensor& destination, std::vector<Tensor> sources, const Scan& scan) {
  return operation::scan(destination, scan, sources).moves.front();
}

constexpr auto softmax = "m = max(x); e = expf(x - m); r = 1.0f / sum(e); y = e * r";

Move row_steps(const Tensor& destination, std::vector<Tensor> sources, const char* steps,
               std::int64_t axis = -1) {
  return operation::rowwise({destination}, {.steps = steps, .axes = {axis}}, sources).moves.front();
}

Move windows_of(const Tensor& destination, const Tensor& source, const Windows& windows) {
  return operation::im2col(destination, source, windows).moves.front();
}

Move convolved(const Tensor& destination, const Tensor& images, const Tensor& filter,
               const Windows& windows = {}) {
  return operation::convolution(destination, images, filter, windows).moves.front();
}

/// Describes a plan in one line, for a name.
std::string described(const KernelPlan& plan) {
  return plan.choice().text();
}

void add(std::vector<NamedPlan>& plans, std::string name, const KernelPlan& plan) {
  plans.push_back({std::move(name), plan});
}

std::string tile_name(const FamilyInfo& family, std::uint32_t rank, Swizzle swizzle, ElementType type) {
  return std::string(family.name) + " tiles, rank " + std::to_string(rank) + ", swizzle " +
         std::string(tmajit::name(swizzle)) + ", " + std::string(tmajit::name(type));
}

/// Adds plans of a family's tiles that vary other options than rank, swizzle and type.
void add_options(const FamilyInfo& family, std::vector<NamedPlan>& plans) {
  const auto view = family.flat ? TensorView::contiguous(ElementType::f32, Shape{4096})
                                : TensorView::contiguous(ElementType::f32, Shape{256, 64});
  const auto with = [&](const std::string& what, const TileOptions& options) {
    TileRequest request{.family = family.name, .destination = {view}, .sources = {{view}}, .tiles = options};
    if (family.computes) request.expression = "x * 2 + 1";
    if (!family.flat) {
      for (std::size_t d = 0; d < options.element_strides.size(); ++d) {
        request.sources[0].view.shape[d] *= options.element_strides[d];
      }
      request.sources[0].view =
          TensorView::contiguous(ElementType::f32, std::span(request.sources[0].view.shape).first(2));
    }
    if (family.writes_images) request.destination.view = destination_view(request);
    add(plans, std::string(family.name) + " tiles, " + what, plan_tiles(request));
  };
  with("one stage", {.stages = 1, .ctas_per_sm = 1});
  with("a persistent grid", {.tiles_per_cta = 0});
  with("five tiles a CTA", {.stages = 3, .tiles_per_cta = 5});
  if (family.computes) {
    with("seven warps", {.output_stages = 3, .warps = 7});
    add(plans, std::string(family.name) + " tiles, numbers",
        plan_tiles({.family = family.name,
                    .destination = {view},
                    .sources = {{view}, number(2.0F), number(3.0)},
                    .expression = "x * p0 + p1"}));
  }
  if (family.flat) return;
  const std::array<std::uint32_t, 2> steps{4, 1};
  with("element strides 4, 1", {.element_strides = steps});
}

}  // namespace

std::vector<FamilyInfo> tile_families() {
  std::vector<FamilyInfo> found;
  std::ranges::copy_if(families(), std::back_inserter(found),
                       [](const FamilyInfo& family) { return family.does("tiles"); });
  return found;
}

std::optional<CombineOp> some_combine_op(const FamilyInfo& family, std::uint32_t rank, ElementType type) {
  if (!family.does("reduce_into")) return std::nullopt;
  std::vector<CombineOp> legal;
  std::ranges::copy_if(all_combine_ops, std::back_inserter(legal),
                       [&](CombineOp op) { return combined_as(op, type).has_value(); });
  if (legal.empty()) return std::nullopt;
  return legal[rank % legal.size()];
}

KernelPlan small_plan(const FamilyInfo& family, std::uint32_t rank, Swizzle swizzle, ElementType type,
                      bool row_tails, bool persistent) {
  Shape shape(rank, 64);
  TensorView view = TensorView::contiguous(type, shape);
  if (row_tails) view.shape[rank - 1] = 63;  // rows that still begin 16 bytes apart
  TileRequest request{.family = family.name,
                      .destination = {view},
                      .sources = {{view}},
                      .expression = family.computes ? "x" : "",
                      .combine = some_combine_op(family, rank, type).value_or(CombineOp::add),
                      .tiles = {.swizzle = swizzle}};
  if (persistent) request.tiles.tiles_per_cta = 0;
  if (family.writes_images) request.destination.view = destination_view(request);
  return plan_tiles(request);
}

KernelPlan map_plan(std::string_view expression, const std::vector<ElementType>& types) {
  const Shape shape{64, 64};
  const std::array<std::uint32_t, 2> box{16, 32};
  TileRequest request{.family = "map", .expression = expression, .tiles = {.box = box, .stages = 2}};
  for (const ElementType type : types) request.sources.push_back({TensorView::contiguous(type, shape)});
  request.destination = request.sources.back();
  request.sources.pop_back();
  return plan_tiles(request);
}

std::vector<NamedMove> broad_moves() {
  constexpr auto u8 = ElementType::u8;
  constexpr auto f16 = ElementType::f16;
  constexpr auto bf16 = ElementType::bf16;
  constexpr auto f32 = ElementType::f32;
  constexpr auto f64 = ElementType::f64;
  constexpr auto i32 = ElementType::i32;
  const Tensor square = from(f32, {4096, 4096});
  const Tensor turned = permuted(square, Axes{1, 0});
  return {
      {"sums of rows", reduced(to(f32, {4096}), {square}, {.axes = {1}})},
      {"sums of columns", reduced(to(f32, {4096}), {square}, {.axes = {0}})},
      {"means of rows that begin anywhere",
       reduced(to(f32, {1000}), {from(bf16, {1000, 1001})},
               {.op = ReductionOp::mean, .axes = {1}, .epilogue = "sqrt(x)"})},
      {"the greatest of parts of columns",
       reduced(to(u8, {1001}), {from(u8, {64, 1001}, {1008, 1})}, {.op = ReductionOp::max, .axes = {0}})},
      {"places of the least of bytes in two dimensions",
       reduced(to(i32, {64}), {from(u8, {64, 32, 80}, {4096, 100, 1})},
               {.op = ReductionOp::arg_min, .axes = {1, 2}})},
      {"dot products", reduced(to(f64, {64}), {from(f16, {64, 512}), from(f64, {64, 512})},
                               {.axes = {1}, .expression = "x0 * x1"})},
      {"whether any of many is true", reduced(to(u8, {2}), {from(f32, {2, std::uint64_t{1} << 31}, {1, 2})},
                                              {.op = ReductionOp::any, .axes = {1}})},
      {"cumulative sums of a long row", scanned(to(f32, {1 << 24}), {from(f32, {1 << 24})}, {})},
      {"cumulative sums of short rows", scanned(to(bf16, {1000, 33}), {from(bf16, {1000, 33})}, {})},
      {"cumulative maxima of columns, backwards",
       scanned(to(u8, {512, 1001}), {from(u8, {512, 1001})},
               {.op = ScanOp::max, .axis = 0, .exclusive = true, .reverse = true})},
      {"cumulative products of an expression",
       scanned(to(f64, {64, 5000}), {from(f16, {64, 5000}), from(f64, {64, 5000})},
               {.op = ScanOp::product, .expression = "x0 * x1"})},
      {"softmax of short rows", row_steps(to(bf16, {1000, 64}), {from(bf16, {1000, 64})}, softmax)},
      {"softmax of rows in a CTA", row_steps(to(f32, {100, 4096}), {from(f32, {100, 4096})}, softmax)},
      {"softmax of rows in a cluster",
       row_steps(to(bf16, {10, 100'000}), {from(bf16, {10, 100'000})}, softmax)},
      {"softmax of columns", row_steps(to(f32, {500, 1000}), {from(f32, {500, 1000})}, softmax, 0)},
      {"softmax of odd rows that are loaded again",
       row_steps(to(f32, {2, 1'000'001}), {from(f32, {2, 1'000'001})}, softmax)},
      {"rows by 64-bit indices", operation::gather(to(bf16, {1000, 4096}), from(bf16, {32000, 4096}),
                                                   {places(ElementType::i64, {1000})})
                                     .moves.front()},
      {"an expression of rows of another type",
       operation::gather(to(f32, {1000, 4096}), from(bf16, {32000, 4096}),
                         {places(ElementType::i64, {1000}), number(2.0F)}, {.expression = "x * p0 + 1"})
           .moves.front()},
      {"an expression of clamped elements",
       operation::gather(to(u8, {100, 33}), from(f64, {1000, 33}), {places(ElementType::i32, {100})},
                         {.out_of_range = OutOfRange::clamp, .expression = "x * x"})
           .moves.front()},
      {"columns by clamped 32-bit indices",
       operation::gather(to(f32, {64, 100}), from(f32, {64, 99}), {places(ElementType::i32, {100})},
                         {.axes = {1}, .out_of_range = OutOfRange::clamp})
           .moves.front()},
      {"elements of two axes, or a value",
       operation::gather(to(f16, {10, 7, 33}), from(f16, {20, 30, 33}),
                         {places(ElementType::u32, {10, 7}), places(ElementType::u32, {7})},
                         {.axes = {0, 1}, .value = 1})
           .moves.front()},
      {"elements along an axis to places",
       operation::scatter(to(u8, {64, 100}), from(u8, {64, 40}), {places(ElementType::u64, {64, 40})},
                          {.axes = {1}, .along = true})
           .moves.front()},
      {"rows to places",
       operation::scatter(to(f64, {900, 64}), from(f64, {100, 64}), {places(ElementType::i64, {100})})
           .moves.front()},
      {"rows added",
       operation::scatter_add(to(bf16, {900, 64}), from(bf16, {100, 64}), {places(ElementType::i32, {100})})
           .moves.front()},
      {"rows added in order",
       operation::scatter_add(to(bf16, {900, 64}), from(bf16, {100, 64}), {places(ElementType::i32, {100})},
                              {.deterministic = true})
           .moves.front()},
      {"numbers along an axis added in order",
       operation::scatter_add(to(f32, {30, 50}), from(f32, {30, 20}), {places(ElementType::i64, {30, 20})},
                              {.axes = {1}, .along = true, .deterministic = true})
           .moves.front()},
      {"numbers added",
       operation::scatter_add(to(f32, {900}), from(f32, {10000}), {places(ElementType::i32, {10000})})
           .moves.front()},
      {"rows of a paged cache by slots",
       operation::gather(
           to(bf16, {100, 8, 128}),
           {TensorView::strided(bf16, Shape{64, 16, 8, 128}, Strides{16384, 128, 2048, 1}), from_address},
           {places(ElementType::i32, {100})}, {.axes = {0, 1}, .flat = true})
           .moves.front()},
      {"rows added to slots in order",
       operation::scatter_add({TensorView::strided(f32, Shape{30, 20, 64}, Strides{64, 3000, 1}), to_address},
                              from(f32, {100, 64}), {places(ElementType::i64, {100})},
                              {.axes = {0, 1}, .flat = true, .deterministic = true})
           .moves.front()},
      {"rows whose indices are asserted",
       operation::scatter(to(f32, {900, 64}), from(f32, {100, 64}), {places(ElementType::i32, {100})},
                          {.out_of_range = OutOfRange::error})
           .moves.front()},
      {"weighted sums of rows",
       operation::gather_sum(
           to(bf16, {4096, 7168}), from(bf16, {32768, 7168}), places(ElementType::i32, {4096, 8}),
           Tensor{TensorView::contiguous(f32, {4096, 8}), places(f32, {1}).address + (1 << 20)})
           .moves.front()},
      {"sums of short rows of integers",
       operation::gather_sum(to(ElementType::i64, {100, 33}), from(u8, {1000, 33}),
                             places(ElementType::i64, {100, 5}))
           .moves.front()},
      {"sums of ragged bags",
       operation::gather_sum(
           to(f32, {4096, 64}), from(f32, {1 << 20, 64}), places(ElementType::i64, {100000}), {}, {},
           Tensor{TensorView::contiguous(ElementType::i64, {4097}), places(f32, {1}).address + (1 << 20)})
           .moves.front()},
      // Both contiguous in the last dimension, all at multiples of 16 bytes.
      {"dense copy", {to(f32, {4096, 4096}), {square}}},
      {"dense copy of bytes", {to(u8, {1 << 20}), {from(u8, {1 << 20})}}},
      {"small dense copy", {to(f32, {64}), {from(f32, {64})}}},
      {"rows of a wider matrix", {to(f32, {100, 512}), {from(f32, {100, 512}, {1024, 1})}}},
      {"rows into a wider matrix",
       {{TensorView::strided(f16, Shape{512, 256}, Strides{512, 1}), to_address}, {from(f16, {512, 256})}}},
      {"heads beside tokens", permutation(f16, {8, 512, 16, 64}, {0, 2, 1, 3})},
      {"rows with gaps in five dimensions",
       {to(f32, {4, 6, 8, 10, 64}), {from(f32, {4, 6, 8, 10, 64}, {1 << 20, 1 << 17, 1 << 13, 256, 1})}}},
      {"a row repeated", {to(f32, {512, 1024}), {from(f32, {512, 1024}, {0, 1})}}},
      {"rows 2 GiB apart", {to(u8, {8, 64}), {from(u8, {8, 64}, {std::int64_t{1} << 31, 1})}}},

      // Contiguous in different dimensions.
      {"transpose", permutation(f32, {4096, 4096}, {1, 0})},
      {"transpose of bytes", permutation(u8, {2048, 4096}, {1, 0})},
      {"transpose of 2 bytes", permutation(bf16, {4096, 2048}, {1, 0})},
      {"transpose of 8 bytes", permutation(f64, {512, 256}, {1, 0})},
      {"transpose, cut blocks", permutation(f16, {1000, 1004}, {1, 0})},
      {"transpose, odd rows", permutation(u8, {1001, 1003}, {1, 0})},
      {"small transpose", permutation(f32, {48, 40}, {1, 0})},
      {"batched transpose", permutation(f32, {16, 256, 512}, {0, 2, 1})},
      {"NCHW to NHWC", permutation(f16, {8, 64, 56, 56}, {0, 2, 3, 1})},
      {"NHWC to NCHW", permutation(f16, {8, 56, 56, 64}, {0, 3, 1, 2})},
      {"three turned round", permutation(f32, {64, 96, 128}, {2, 1, 0})},
      {"six dimensions turned round", permutation(f32, {8, 6, 4, 10, 12, 16}, {5, 3, 1, 4, 2, 0})},
      {"a column repeated", {to(f32, {512, 1024}), {from(f32, {512, 1024}, {1, 0})}}},

      // Elements that move together become one wider element.
      {"complex numbers", permutation(f64, {512, 256, 2}, {1, 0, 2})},
      {"pixels of four bytes", permutation(u8, {501, 255, 4}, {1, 0, 2})},
      {"pixels of three bytes", permutation(u8, {501, 255, 3}, {1, 0, 2})},
      {"planes of three", permutation(u8, {512, 512, 3}, {2, 0, 1})},
      {"interleaved planes", permutation(u8, {3, 512, 512}, {1, 2, 0})},
      {"two columns of bytes", permutation(u8, {1000, 2}, {1, 0})},
      {"two columns of a wide matrix", {to(u8, {2, 1008}), {from(u8, {2, 1008}, {1, 64})}}},

      // All other moves.
      {"source 4 bytes off", {to(f32, {4096, 64}), {from(f32, {4096, 64}, 4)}}},
      {"destination 4 bytes off", {to(f32, {4096, 64}, 4), {from(f32, {4096, 64})}}},
      {"odd bytes", {to(u8, {999}, 1), {from(u8, {999})}}},
      {"single element", {to(f32, {1, 1}), {from(f32, {1, 1})}}},
      {"one element everywhere", {to(f32, {256, 1024}), {from(f32, {256, 1024}, {0, 0})}}},
      {"rows backwards", {to(f32, {64, 1024}), {from(f32, {64, 1024}, {1024, -1}, 4092)}}},
      {"columns backwards", {to(f32, {512, 512}), {from(f32, {512, 512}, {-1, 512}, 511ULL * 4)}}},
      {"rows in backward order", {to(f32, {64, 1024}), {from(f32, {64, 1024}, {-1024, 1}, 63ULL * 4096)}}},
      {"every second f32", {to(f32, {64, 512}), {from(f32, {64, 512}, {1024, 2})}}},
      {"elements 4 GiB apart", {to(f32, {4, 64}), {from(f32, {4, 64}, {std::int64_t{1} << 30, 2})}}},
      {"every third byte", {to(u8, {64, 512}), {from(u8, {64, 512}, {1600, 3})}}},
      {"every ninth byte", {to(u8, {64, 512}), {from(u8, {64, 512}, {4608, 9})}}},
      {"into every second byte",
       {{TensorView::strided(u8, Shape{64, 512}, Strides{1024, 2}), to_address}, {from(u8, {64, 512})}}},
      {"padded", padded(to(f16, {130, 136}), from(f16, {128, 128}), {1, 2}, 1.5)},
      {"padded with zeros", padded(to(f32, {130, 132}), from(f32, {128, 128}), {1, 0}, 0)},
      {"padded transpose",
       padded(to(f32, {128, 132}), permuted(from(f32, {128, 128}), Axes{1, 0}), {0, 1}, 1.5)},
      {"padded repeats", padded(to(u8, {4, 20}), from(u8, {4, 5}, {5, 0}), {0, 3}, 1.5)},
      {"cropped", padded(to(f32, {100, 96}), from(f32, {128, 128}), {-4, -8}, 0)},

      // Expressions.
      {"twice", computed(to(f32, {4096, 4096}), {square}, "x * 2")},
      {"twice, of any length", computed(to(f32, {1000003}), {from(f32, {1000003})}, "x * 2")},
      {"sum", computed(to(f32, {4096, 4096}), {square, square}, "x0 + x1")},
      {"sum of eight", computed(to(bf16, {1024, 1024}), std::vector<Tensor>(8, from(bf16, {1024, 1024})),
                                "x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7")},
      {"sum with a transpose", computed(to(f32, {4096, 4096}), {square, turned}, "x0 + x1")},
      {"sum of transposes, one backwards",
       computed(to(f32, {512, 512}),
                {from(f32, {512, 512}, {1, 512}), from(f32, {512, 512}, {-1, 512}, 511ULL * 4)}, "x0 - x1")},
      {"sum with a staggered transpose",
       computed(to(f32, {512, 510}, 4), {permuted(from(f32, {510, 512}), Axes{1, 0})}, "x * 2")},
      {"lines through the row",
       computed(to(f16, {64, 8, 16}), {from(f16, {64, 8, 16}, {128, 1, 8})}, "x + x")},
      {"bias",
       computed(to(f16, {512, 1024}), {from(f16, {512, 1024}), from(f16, {512, 1024}, {0, 1})}, "x0 + x1")},
      {"scale of rows",
       computed(to(f16, {512, 1024}), {from(f16, {512, 1024}), from(f32, {512, 1024}, {1, 0})}, "x0 * x1")},
      {"cast", computed(to(f32, {512, 1024}), {from(f16, {512, 1024})}, "x")},
      {"cast down", computed(to(ElementType::e4m3, {512, 1024}), {from(f32, {512, 1024})}, "x")},
      {"cast of integers", computed(to(u8, {512, 1024}), {from(i32, {512, 1024})}, "x")},
      {"coordinates", computed(to(f32, {3, 512, 1024}), {from(f32, {3, 512, 1024})}, "x + g[0] * 2 + g[2]")},
      {"coordinates beyond 32 bits", computed(to(u8, {1ULL << 33}), {from(u8, {1ULL << 33})}, "g[0] % 251")},
      {"coordinates of a staggered row", computed(to(u8, {31, 33}), {from(f64, {31, 33})}, "x + g[1]")},

      // Expressions of neighbours.
      {"five points",
       stencil(to(f32, {4096, 4096}), square, "x(-1, 0) + x(1, 0) + x(0, -1) + x(0, 1) - 4 * x")},
      {"seven points, clamped",
       stencil(to(f32, {256, 256, 256}), from(f32, {256, 256, 256}),
               "x(-1, 0, 0) + x(1, 0, 0) + x(0, -1, 0) + x(0, 1, 0) + x(0, 0, -1) + x(0, 0, 1)",
               {.boundary = Boundary::clamp})},
      {"differences of odd rows of bytes, around a constant",
       stencil(to(i32, {512, 333}), from(u8, {512, 333}), "x(0, 1) - x(1, 0)",
               {.boundary = Boundary::constant, .value = 7})},

      // Windows of images.
      {"windows of 3 x 3",
       windows_of(to(f16, {32ULL * 28 * 28, 9ULL * 64}), from(f16, {32, 56, 56, 64}),
                  {.filter = {3, 3}, .strides = {2, 2}, .before = {1, 1}, .after = {1, 1}})},
      {"windows of a line of bytes",
       windows_of(to(u8, {4, 998, 3, 48}), from(u8, {4, 1000, 48}), {.filter = {3}})},
      {"windows of 2 x 2 x 2", windows_of(to(f32, {2ULL * 7 * 7 * 7, 8ULL * 32}), from(f32, {2, 8, 8, 8, 32}),
                                          {.filter = {2, 2, 2}})},
      {"windows of colours",
       windows_of(to(u8, {8ULL * 30 * 30, 27}), from(u8, {8, 32, 32, 3}), {.filter = {3, 3}})},

      {"convolution of 3 x 3",
       convolved(to(f32, {32, 28, 28, 128}), from(f32, {32, 28, 28, 64}), from(f32, {128, 3, 3, 64}, 1 << 30),
                 {.before = {1, 1}, .after = {1, 1}})},
      {"convolution of a line",
       convolved(to(f32, {4, 96, 20}), from(f32, {4, 100, 8}), from(f32, {20, 5, 8}, 1 << 30))},
      {"convolution of colours",
       convolved(to(f32, {8, 112, 112, 64}), from(f32, {8, 224, 224, 3}), from(f32, {64, 7, 7, 3}, 1 << 30),
                 {.strides = {2, 2}, .before = {3, 3}, .after = {3, 3}})},

      // Values without sources.
      {"a constant", computed(to(f32, {1000, 1024}), {}, "0.5f")},
      {"an identity matrix", computed(to(f16, {512, 1024}), {}, "g[0] == g[1]")},
      {"indices of a staggered row", computed(to(i32, {31, 33}, 4), {}, "g[0] * 33 + g[1]")},
  };
}

std::vector<NamedPlan> broad_plans() {
  std::vector<NamedPlan> plans;
  for (const FamilyInfo& family : tile_families()) {
    const std::uint32_t ranks = family.flat ? 1 : max_map_rank;
    for (std::uint32_t rank = 1; rank <= ranks; ++rank) {
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
        if (family.flat && swizzle != Swizzle::none) continue;
        for (const ElementType type : all_element_types) {
          // Every pair of rank and swizzle, rank and type, swizzle and type.
          const auto turn = rank + static_cast<std::uint32_t>(swizzle) + static_cast<std::uint32_t>(type);
          if (!family.flat && turn % 4 != 0) continue;
          if (family.does("reduce_into") && !some_combine_op(family, rank, type)) continue;
          add(plans, tile_name(family, rank, swizzle, type), small_plan(family, rank, swizzle, type));
        }
      }
      if (family.flat || family.writes_images) continue;
      add(plans, tile_name(family, rank, Swizzle::none, ElementType::f16) + ", row tails",
          small_plan(family, rank, Swizzle::none, ElementType::f16, true));
    }
    add_options(family, plans);
  }
  for (NamedPlan& named : joint_plans()) plans.push_back(std::move(named));
  for (const NamedMove& named : broad_moves()) {
    for (const KernelPlan& plan : plan_candidates(named.move)) {
      std::string name = named.name + ": " + described(plan);
      add(plans, std::move(name), plan);
    }
  }
  // Kernels of one name are numbered in the order of their keys, which does not depend on a planner's order.
  std::ranges::sort(plans, [](const NamedPlan& a, const NamedPlan& b) {
    return std::pair(std::string_view(a.name), a.plan.key()) <
           std::pair(std::string_view(b.name), b.plan.key());
  });
  std::map<std::string, int> seen;
  for (NamedPlan& named : plans) {
    if (const int before = seen[named.name]++; before > 0)
      named.name += " (" + std::to_string(before + 1) + ")";
  }
  return plans;
}

std::vector<NamedPlan> one_of_each_family() {
  std::vector<NamedPlan> found;
  std::set<std::string_view> names;
  for (NamedPlan& named : broad_plans()) {
    if (names.insert(named.plan.family().name).second) found.push_back(std::move(named));
  }
  return found;
}

}  // namespace tests
