/// Moves of tensors with short and odd extents by every candidate of the family `flat`, on the simulated
/// device, which reports mistakes of kernels.
#include "families/flat/flat_layout.hpp"
#include "ops/every_candidate.hpp"
#include "ptx_alone.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace {

constexpr std::uint64_t max_case_elements = 12'000;

struct ShortMove {
  tests::MoveOperand destination;
  tests::MoveOperand source;

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << name(source.view.type) << ", shifts " << destination.shift << " and " << source.shift << ":";
    for (std::uint32_t d = 0; d < source.view.rank; ++d) {
      out << ' ' << source.view.shape[d] << " (" << destination.view.strides[d] << " <- "
          << source.view.strides[d] << ')';
    }
    return out.str();
  }
};

/// A permutation of rank 2 to 8 whose last dimension has a few elements, mostly an odd number. The
/// destination sometimes has gaps. The source sometimes has gaps and dimensions that are flipped, have stride
/// 0 or overlap others.
ShortMove short_move(std::uint64_t seed) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  const auto rank = static_cast<std::uint32_t>(between(random, 2, max_view_rank));
  std::vector<std::uint64_t> shape(rank, 1);
  std::uint64_t elements = 1;
  for (std::uint32_t d = rank; d-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(max_case_elements / elements, 1);
    const std::uint64_t most = d + 1 == rank ? 60 / size_of(type) : one_in(random, 3) ? 300 : 12;
    shape[d] = between(random, 1, std::min(room, most));
    if (d + 1 == rank) shape[d] = one_in(random, 3) ? 3 : shape[d] | 1;
    elements *= shape[d];
  }
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  // In half of the cases the short dimension stays the last one.
  if (one_in(random, 2)) {
    for (std::uint32_t d = rank - 1; d-- > 0 && axes[rank - 1] != rank - 1;) {
      if (axes[d] == rank - 1) std::swap(axes[d], axes[rank - 1]);
    }
  }
  std::vector<std::int64_t> to(rank);
  std::vector<std::int64_t> from(rank);
  std::int64_t step = 1;
  for (std::uint32_t d = rank; d-- > 0;) {
    to[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 10)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  step = one_in(random, 12) ? 2 : 1;
  for (const std::uint32_t d : axes) {
    from[d] = one_in(random, 10) ? -step : step;
    if (one_in(random, 24)) {
      from[d] = 0;
      continue;
    }
    if (one_in(random, 24)) continue;  // the next dimension overlaps this one
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 10)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  const auto shift = [&] { return one_in(random, 2) ? 0 : between(random, 0, 15) * size_of(type); };
  const std::uint64_t to_shift = shift();
  return {tests::move_operand(type, shape, to, to_shift), tests::move_operand(type, shape, from, shift())};
}

/// Calls use(runtime, n, move) for the short moves n = 0 … cases - 1 of a seed, on a simulated device that
/// schedules threads in random order.
template <class Use>
void for_short_moves(std::uint64_t cases, std::uint64_t seed, const Use& use) {
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime = tests::random_order_runtime();
  for (std::uint64_t n = 0; n < cases; ++n) {
    const ShortMove drawn = short_move(seed + n);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << drawn.text());
    try {
      use(runtime, n, drawn);
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

}  // namespace

TEST_CASE("flat kernels move tensors of short dimensions like the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 60);
  const std::uint64_t seed = reference::seed(20261124);
  std::map<std::string_view, std::uint64_t> counts;
  for_short_moves(cases, seed, [&](Runtime& runtime, std::uint64_t /*n*/, const ShortMove& drawn) {
    tests::EveryCandidate move(runtime, drawn.destination, {drawn.source});
    for (const Candidate& candidate : move.candidates()) {
      if (!tests::is_of_family(candidate, "flat")) continue;
      CHECK(move.run(candidate) == "");
      const auto& layout = flat_layout_of(candidate);
      ++counts[layout.joined      ? "joined rows"
               : layout.staggered ? "rows that begin anywhere"
                                  : "rows of words"];
      if (layout.x_dimensions > 1) ++counts["x of several dimensions"];
      if (layout.rank - layout.x_dimensions > 1) ++counts["y of several dimensions"];
      if (layout.source[0].y_per_load > 1) ++counts["loads of short words"];
      if (layout.word_elements * layout.element_bytes > 4) ++counts["stores of several words"];
      if (layout.x_tiles() > 1) ++counts["several tiles along x"];
      if (layout.y_tiles() > 1) ++counts["several tiles along y"];
      if (layout.y_extent % layout.y != 0) ++counts["a cut tile"];
      if (layout.order != TileOrder::destination) ++counts["another order"];
    }
  });
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(counts.size() == 11);
}

TEST_CASE("the last tile of a row is right if it has less than a word of the row") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  Runtime runtime({.device = make_sim_device({}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  Random random(seed);
  std::map<std::string_view, std::uint64_t> counts;
  for (int n = 0; n < 4000 && counts["flat"] < 3; ++n) {
    const ElementType type = one_in(random, 2) ? ElementType::u8 : ElementType::bf16;
    const std::uint64_t run = between(random, 3000, 9000);
    const std::uint64_t columns = between(random, 20, 90);
    const auto to = tests::move_operand(type, {columns, run}, {static_cast<std::int64_t>(run), 1});
    const auto from = tests::move_operand(type, {columns, run}, {1, static_cast<std::int64_t>(columns)});
    tests::EveryCandidate move(runtime, to, {from});
    for (const Candidate& candidate : move.candidates()) {
      const std::uint64_t remainder = run % candidate.family->footprint(candidate, move.problem()).box[1];
      std::uint64_t& count = counts[candidate.family->name()];
      if (remainder == 0 || remainder * size_of(type) >= 4 || count >= 3) continue;
      INFO("TMAJIT_SEED=" << seed << ": " << candidate.family->choice(candidate).text() << " of " << run
                          << " x " << columns << ' ' << name(type));
      CHECK(move.run(candidate) == "");
      ++count;
    }
  }
  for (const auto& [family, times] : counts) std::cout << "  " << family << ": " << times << '\n';
  CHECK(counts["flat"] > 0);
}
