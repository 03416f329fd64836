#include "scan_cases.hpp"

#include "random_shapes.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

Case scan_case(const char* group, ElementType from, ElementType to, const Shape& shape, std::uint32_t axis) {
  Case c = make_case(group, fmt::format("sum ({}) along {}", fmt::join(shape, ","), axis), "scan",
                     {{from, shape}}, {{"op", "sum"}, {"axis", std::int64_t{axis}}});
  c.destinations.front().type = to;
  return c;
}

Case random_scan(Random& random, bool tiny) {
  using enum ElementType;
  constexpr std::array types{std::pair{f32, f32}, std::pair{bf16, bf16}, std::pair{f64, f64},
                             std::pair{u8, i64}, std::pair{i32, i64}};
  const auto [from, to] = types.at(random.one_in(2) ? 0 : random.below(types.size()));
  const std::size_t rank = random.between(1, 4);
  const Shape shape = tiny ? random_shape(random, rank, 64, 4096)
                           : random_shape(random, rank, std::uint64_t{1} << 16, std::uint64_t{1} << 27);
  return scan_case("random scan", from, to, shape, static_cast<std::uint32_t>(random.below(rank)));
}

}  // namespace

std::vector<Case> scans(const RandomOptions& options) {
  if (options.count > 0) {
    return draw_cases(options.count, options.seed,
                      [&](Random& random) { return random_scan(random, options.tiny); });
  }
  const auto n = [&](std::uint64_t extent) { return options.tiny && extent > 4 ? 2 + extent % 97 : extent; };
  const auto sum = [&](ElementType type, const Shape& shape, std::uint32_t axis) {
    return scan_case("scans", type, type, shape, axis);
  };
  return {sum(ElementType::f32, {n(1 << 28)}, 0),          sum(ElementType::f32, {n(1 << 24)}, 0),
          sum(ElementType::f32, {n(65536), n(4096)}, 1),   sum(ElementType::f32, {n(65537), n(4095)}, 1),
          sum(ElementType::bf16, {n(1 << 20), n(255)}, 1), sum(ElementType::f32, {n(16384), n(16384)}, 0)};
}

}  // namespace bench
