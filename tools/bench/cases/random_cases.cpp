#include "random_cases.hpp"

#include "random_shapes.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8};

Case random_permutation(Random& random, ElementType type, bool tiny) {
  const std::size_t rank = random.between(2, 6);
  const Shape from =
      tiny ? random_shape(random, rank, 64, 4096) : random_shape(random, rank, 8 * MiB, 256 * MiB);
  Case c;
  c.group = "random permutation";
  c.kind = Kind::permute;
  c.axes = random_axes(random, rank);
  Shape to;
  for (const std::uint32_t axis : c.axes) to.push_back(from[axis]);
  c.sources = {{type, from}};
  c.destinations = {{type, to}};
  c.name = fmt::format("({})->({})", fmt::join(from, ","), fmt::join(c.axes, ","));
  return c;
}

}  // namespace

std::vector<Case> random_permutations(const RandomOptions& options) {
  Random random(options.seed);
  UniqueCases cases;
  for (std::size_t k = 0; k < options.count; ++k) {
    for (const ElementType type : types) {
      cases.add([&] { return random_permutation(random, type, options.tiny); });
    }
  }
  return cases.take();
}

}  // namespace bench
