#include "random_cases.hpp"

#include "random_shapes.hpp"

#include <array>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};

Case random_permutation(Random& random, ElementType type, bool tiny) {
  const std::size_t rank = random.between(2, 6);
  const Shape from =
      tiny ? random_shape(random, rank, 64, 4096) : random_shape(random, rank, 8 * MiB, 256 * MiB);
  return permutation("random permutation", type, from, random_axes(random, rank));
}

}  // namespace

Case permutation(const char* group, ElementType type, const Shape& from,
                 const std::vector<std::uint32_t>& axes) {
  return make_case(group, fmt::format("({})->({})", fmt::join(from, ","), fmt::join(axes, ",")), "permute",
                   {{type, from}}, {{"axes", tmajit::Dims(axes)}});
}

std::vector<Case> random_permutations(const RandomOptions& options) {
  Random random(options.seed);
  UniqueCases cases;
  for (std::size_t k = 0; k < options.count; ++k) {
    for (const ElementType type : std::span(types).first(options.f64 ? 4 : 3)) {
      cases.add([&] { return random_permutation(random, type, options.tiny); });
    }
  }
  return cases.take();
}

}  // namespace bench
