/// Pads, casts and maps by every `pick` kernel that could do them, of sources whose memory runs along other
/// dimensions than the destination's, on the simulated device, which reports what kernels do wrong.
#include "families/pick/pick_layout.hpp"
#include "ops/every_candidate.hpp"
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
using reference::between, reference::one_in, reference::one_of, reference::Random, reference::Scalar;

namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t most_elements = 12'000;

/// 2 to `most_rank` dimensions; now and then the last is short.
Shape random_shape(Random& random, std::uint32_t most_rank) {
  Shape shape(between(random, 2, most_rank), 1);
  std::uint64_t elements = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(most_elements / elements, 1);
    const std::uint64_t longest = one_in(random, 3) ? 300 : d + 1 == shape.size() ? 60 : 12;
    shape[d] = between(random, 1, std::min(room, longest));
    elements *= shape[d];
  }
  return shape;
}

/// An operand whose memory takes the dimensions in any order, the last given or not the nearest; flipped,
/// with gaps and, if `repeats`, repeated now and then.
tests::MoveOperand random_source(Random& random, ElementType type, const Shape& shape, bool repeats) {
  std::vector<std::uint32_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = one_in(random, 12) ? 2 : 1;
  for (const std::uint32_t d : axes) {
    strides[d] = one_in(random, 8) ? -step : step;
    if (repeats && one_in(random, 8)) {
      strides[d] = 0;
      continue;
    }
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 8)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  const std::uint64_t shift = one_in(random, 2) ? 0 : between(random, 0, 15) * size_of(type);
  return tests::move_operand(type, shape, strides, shift);
}

/// Rows of memory, with gaps now and then, that begin anywhere.
tests::MoveOperand random_destination(Random& random, ElementType type, const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 8)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  const std::uint64_t shift = one_in(random, 2) ? 0 : between(random, 0, 15) * size_of(type);
  return tests::move_operand(type, shape, strides, shift);
}

std::string text(const tests::MoveOperand& operand) {
  std::ostringstream out;
  out << name(operand.view.type) << " shift " << operand.shift << ':';
  for (std::uint32_t d = 0; d < operand.view.rank; ++d) {
    out << ' ' << operand.view.shape[d] << " (" << operand.view.strides[d] << ')';
  }
  return out.str();
}

using Counts = std::map<std::string_view, std::uint64_t>;

/// Runs every `pick` kernel of a move whose destination in host memory is done. On a chip without SMs CTAs do
/// several tiles even of these tensors.
void run_picks(tests::EveryCandidate& move, Counts& counts) {
  bool first = true;
  for (const Candidate& candidate : move.candidates()) {
    if (!tests::is_of(candidate, "pick")) continue;
    CHECK(move.run(candidate) == "");
    const PickLayout layout = pick_layout(move.problem(), candidate.tile.box).value();
    if (first) ++counts["moves"];
    first = false;
    if (layout.tiles_per_cta > 1) ++counts["several tiles a CTA"];
    if (layout.parts > 1) ++counts["runs in parts"];
    if (layout.sources > 1) ++counts["several sources"];
    if (layout.sources > 2) ++counts["three sources"];
    for (std::uint32_t s = 0; s < layout.sources; ++s) {
      const PickLines& source = layout.source[s];
      if (source.below > 0) ++counts["lines that run backwards"];
      for (std::uint32_t d = 0; d < layout.rank; ++d) {
        if (layout.box[d] == 1 || !is_padded(move.problem(), d)) continue;
        ++counts[source.spans(d) ? "padded along lines" : "padded across lines"];
      }
    }
  }
}

/// Calls use(runtime, n, random) for cases n = 0 … of a seed, on a simulated device that takes threads in any
/// order.
template <class Use>
Counts for_cases(std::uint64_t cases, std::uint64_t seed, const Use& use) {
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  SimOptions options{.threads = 1};
  options.mode = SimOptions::Mode::random;
  Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
  Counts counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    Random random(seed + n);
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    try {
      use(runtime, n, random, counts);
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  return counts;
}

std::uint32_t chip_of(std::uint64_t n) {
  return n % 2 == 0 ? 132 : 0;
}

}  // namespace

TEST_CASE("padded sources that run along other dimensions are picked whole, and surrounded by the padding") {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 60);
  Counts counts = for_cases(
      cases, reference::seed(20261123), [&](Runtime& runtime, std::uint64_t n, Random& random, Counts& seen) {
        const ElementType type = one_of(random, types);
        const Shape from = random_shape(random, max_view_rank);
        // The source reaches beyond either end, or not as far; some dimensions it fills.
        Shape to = from;
        Padding padding{.value = 7};
        std::vector<std::int64_t> before(from.size(), 0);
        for (std::size_t d = 0; d < from.size(); ++d) {
          if (!one_in(random, from.size())) continue;
          const auto extent = static_cast<std::int64_t>(from[d]);
          const std::int64_t reach = one_in(random, 12) ? 2 * extent : std::min<std::int64_t>(extent, 9);
          before[d] =
              static_cast<std::int64_t>(between(random, 0, static_cast<std::uint64_t>(2 * reach))) - reach;
          const std::int64_t end = before[d] + extent + static_cast<std::int64_t>(between(random, 0, 9)) - 3;
          to[d] = static_cast<std::uint64_t>(std::max<std::int64_t>(end, 1));
        }
        padding.before = before;
        const tests::MoveOperand source = random_source(random, type, from, false);
        const tests::MoveOperand destination = random_destination(random, type, to);
        std::ostringstream window;
        for (const std::int64_t one : before) window << ' ' << one;
        INFO(text(destination) << " <- " << text(source) << " at" << window.str());
        tests::EveryCandidate move(runtime, destination, {source}, {}, padding, chip_of(n));
        reference::pad(move.host(0), move.host(1), before, padding.value);
        run_picks(move, seen);
      });
  for (const char* kind : {"several tiles a CTA", "runs in parts", "lines that run backwards",
                           "padded along lines", "padded across lines"}) {
    INFO(kind);
    CHECK(counts[kind] > 0);
  }
}

TEST_CASE("elements that are picked from elsewhere are converted, from any type to any") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 50);
  Counts counts = for_cases(
      cases, reference::seed(20261124), [&](Runtime& runtime, std::uint64_t n, Random& random, Counts& seen) {
        const ElementType to = one_of(random, all_element_types);
        const ElementType from = one_of(random, all_element_types);
        const Shape shape = random_shape(random, 5);
        const tests::MoveOperand source = random_source(random, from, shape, false);
        const tests::MoveOperand destination = random_destination(random, to, shape);
        INFO(text(destination) << " <- " << text(source));
        tests::EveryCandidate move(runtime, destination, {source}, "x", std::nullopt, chip_of(n));
        reference::cast(move.host(0), move.host(1));
        run_picks(move, seen);
      });
  CHECK(4 * counts["moves"] >= cases);
}

TEST_CASE("maps of one to three sources pick each from an image of its own") {
  constexpr ElementType types[] = {ElementType::u8,  ElementType::i16, ElementType::bf16,
                                   ElementType::f32, ElementType::i32, ElementType::f64};
  const auto sum = [](std::span<const Scalar> x, std::span<const std::uint64_t> /*g*/) {
    Scalar all = x[0];
    for (const Scalar& one : x.subspan(1)) all = reference::add(all, one);
    return reference::add(all, x[0]);
  };
  constexpr const char* expressions[] = {"x + x", "x0 + x1 + x0", "x0 + x1 + x2 + x0"};
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 50);
  Counts counts = for_cases(
      cases, reference::seed(20261125), [&](Runtime& runtime, std::uint64_t n, Random& random, Counts& seen) {
        const auto sources = between(random, 1, 3);
        const Shape shape = random_shape(random, 4);
        const tests::MoveOperand destination = random_destination(random, one_of(random, types), shape);
        std::vector<tests::MoveOperand> from;
        std::string description = text(destination) + " <-";
        for (std::uint64_t s = 0; s < sources; ++s) {
          const ElementType type = one_in(random, 2) ? destination.view.type : one_of(random, types);
          from.push_back(one_in(random, 3) ? random_destination(random, type, shape)
                                           : random_source(random, type, shape, sources > 1));
          description += " " + text(from.back()) + ";";
        }
        INFO(description);
        tests::EveryCandidate move(runtime, destination, from, expressions[sources - 1], std::nullopt,
                                   chip_of(n));
        std::vector<reference::HostView> views;
        for (std::uint64_t s = 1; s <= sources; ++s) views.push_back(move.host(s));
        reference::map(move.host(0), views, sum);
        run_picks(move, seen);
      });
  CHECK(counts["three sources"] > 0);
  CHECK(counts["several sources"] > counts["three sources"]);
}
