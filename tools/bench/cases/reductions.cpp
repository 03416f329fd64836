#include "random_cases.hpp"
#include "random_shapes.hpp"

#include <tmajit/operations/reduce.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;
using tmajit::ReductionOp;

Case reduction(const char* group, ElementType type, const Shape& shape,
               const std::vector<std::uint32_t>& axes, ReductionOp op = ReductionOp::sum) {
  Case c = make_case(
      group, fmt::format("{} ({}) over {}", tmajit::name(op), fmt::join(shape, ","), fmt::join(axes, ",")),
      "reduce", {{type, shape}}, {{"op", std::string(tmajit::name(op))}, {"axes", tmajit::Dims(axes)}});
  // As PyTorch has them: sums of bytes are 64 bits long.
  if (op == ReductionOp::sum && type == ElementType::u8) c.destinations.front().type = ElementType::i64;
  return c;
}

Case random_reduction(Random& random, bool tiny) {
  const std::size_t rank = random.between(2, 4);
  const Shape shape =
      tiny ? random_shape(random, rank, 64, 4096) : random_shape(random, rank, 4 * MiB, 256 * MiB);
  std::vector<std::uint32_t> axes;
  while (axes.empty()) {
    for (std::uint32_t d = 0; d < rank; ++d) {
      if (random.one_in(2)) axes.push_back(d);
    }
  }
  return reduction("random reduction", ElementType::f32, shape, axes);
}

}  // namespace

std::vector<Case> reductions(const RandomOptions& options) {
  using enum ElementType;
  std::vector<Case> cases;
  if (options.count > 0) {
    return draw_cases(options.count, options.seed,
                      [&](Random& random) { return random_reduction(random, options.tiny); });
  }
  const auto extent = [&](std::uint64_t n) { return options.tiny && n > 64 ? 8 + n % 61 : n; };
  const auto add = [&](ElementType type, Shape shape, const std::vector<std::uint32_t>& axes,
                       ReductionOp op = ReductionOp::sum) {
    std::ranges::transform(shape, shape.begin(), extent);
    cases.push_back(reduction("reductions", type, shape, axes, op));
  };
  for (const ElementType type : {f32, bf16, u8}) add(type, {1 << 28}, {0});
  for (const ElementType type : {f32, bf16}) {
    add(type, {16384, 16384}, {1});
    add(type, {16384, 16384}, {0});
    add(type, {16381, 16381}, {1});
    add(type, {16381, 16381}, {0});
  }
  add(f32, {64, 4 << 20}, {1});
  add(f32, {64, 4 << 20}, {0});
  add(f32, {4 << 20, 64}, {1});
  add(f32, {4 << 20, 64}, {0});
  add(f32, {20'000'000, 7}, {1});
  add(f32, {20'000'000, 7}, {0});
  add(f32, {512, 512, 1024}, {1});
  add(f32, {512, 512, 1024}, {0, 2});
  add(f32, {1 << 20}, {0});
  add(f32, {1024, 1024}, {1});
  add(f32, {1024, 1024}, {0});
  add(f32, {1 << 28}, {0}, ReductionOp::max);
  add(f32, {16384, 16384}, {1}, ReductionOp::max);
  add(f32, {16384, 16384}, {1}, ReductionOp::arg_max);
  add(f32, {16384, 16384}, {0}, ReductionOp::arg_max);
  for (Case& c : cases) c.quick = true;
  return cases;
}

}  // namespace bench
