/// Moves between short and odd dimensions by every candidate that could do them, on the simulated device,
/// which reports what its kernels do wrong.
#include "families/gather/gather_layout.hpp"
#include "families/spans/spans_layout.hpp"
#include "families/weave/weave_layout.hpp"
#include "ops/every_candidate.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace {

constexpr std::uint64_t most_elements = 12'000;

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

/// A permutation of rank 2 to 8 with a last dimension of a few elements, mostly an odd number. The
/// destination has gaps now and then; the source, too, and dimensions that are repeated, flipped, or lie on
/// others.
ShortMove short_move(std::uint64_t seed) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  const auto rank = static_cast<std::uint32_t>(between(random, 2, max_view_rank));
  std::vector<std::uint64_t> shape(rank, 1);
  std::uint64_t elements = 1;
  for (std::uint32_t d = rank; d-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(most_elements / elements, 1);
    const std::uint64_t most = d + 1 == rank ? 60 / size_of(type) : one_in(random, 3) ? 300 : 12;
    shape[d] = between(random, 1, std::min(room, most));
    if (d + 1 == rank) shape[d] = one_in(random, 3) ? 3 : shape[d] | 1;
    elements *= shape[d];
  }
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  // As often as not the short dimension stays where it is.
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
    if (one_in(random, 24)) continue;  // the next lies on this one
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 10)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  const auto shift = [&] { return one_in(random, 2) ? 0 : between(random, 0, 15) * size_of(type); };
  const std::uint64_t to_shift = shift();
  return {tests::move_operand(type, shape, to, to_shift), tests::move_operand(type, shape, from, shift())};
}

/// Calls use(runtime, n, move) for short moves n = 0 … of a seed, on a simulated device that takes threads in
/// any order.
template <class Use>
void for_short_moves(std::uint64_t cases, std::uint64_t seed, const Use& use) {
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  SimOptions options{.threads = 1};
  options.mode = SimOptions::Mode::random;
  Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
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

TEST_CASE("a plan of a gather says what made a run, and how it is stored") {
  Runtime runtime({.device = make_sim_device({.threads = 1}), .cache_directory = std::nullopt});
  const Buffer from(runtime.device(), 512ULL * 384 * 3);
  const Buffer to(runtime.device(), 512ULL * 384 * 3);
  const Tensor pixels{TensorView::contiguous(ElementType::u8, std::vector<std::uint64_t>{512, 384, 3}),
                      from.address()};
  const Tensor turned{TensorView::contiguous(ElementType::u8, std::vector<std::uint64_t>{384, 512, 3}),
                      to.address()};
  const MovePlan turn =
      plan(runtime, operation::permute(turned, pixels, std::vector<std::uint32_t>{1, 0, 2}));
  const MoveStep step = turn.explain().steps.front();
  CHECK(step.kernel == "gather");
  CHECK(step.why.starts_with("Dimension 2 is short"));
  CHECK(std::ranges::count_if(step.rewrites, [](const std::string& sentence) {
          return sentence.ends_with("of the canonical nest are one run of the destination's memory.");
        }) == 1);
}

TEST_CASE("gathers move every element between short dimensions, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 40);
  const std::uint64_t seed = reference::seed(20261121);
  std::map<std::string_view, std::uint64_t> counts;
  std::uint64_t runs = 0;
  for_short_moves(cases, seed, [&](Runtime& runtime, std::uint64_t n, const ShortMove& drawn) {
    tests::EveryCandidate move(runtime, drawn.destination, {drawn.source});
    reference::copy(move.host(0), move.host(1));
    // The first, and of the rest another each time: kernels take long to make. Other methods have tests of
    // their own.
    std::vector<const Candidate*> gathers;
    for (const Candidate& candidate : move.candidates()) {
      if (tests::is_of(candidate, "gather")) gathers.push_back(&candidate);
    }
    for (std::size_t i = 0; i < gathers.size(); ++i) {
      if (i != 0 && i != n % gathers.size()) continue;
      CHECK(move.run(*gathers[i]) == "");
      ++runs;
      const auto facts = facts_of<GatherFacts>(*gathers[i]);
      ++counts[facts.alignment == 16       ? "aligned runs"
               : facts.same_alignment != 0 ? "runs alike"
                                           : "other runs"];
      if (facts.part != 0) ++counts["runs in parts"];
      if (facts.skewed != max_view_rank) ++counts["images with gaps"];
    }
  });
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(2 * runs >= cases);
}

TEST_CASE("blocks are woven for every element between short dimensions, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 60);
  const std::uint64_t seed = reference::seed(20261123);
  std::map<std::string_view, std::uint64_t> counts;
  for_short_moves(cases, seed, [&](Runtime& runtime, std::uint64_t n, const ShortMove& drawn) {
    // On a chip without SMs CTAs do several tiles even of these tensors.
    tests::EveryCandidate move(runtime, drawn.destination, {drawn.source}, {}, std::nullopt,
                               n % 2 == 0 ? 132 : 0);
    reference::copy(move.host(0), move.host(1));
    std::vector<const Candidate*> woven;
    for (const Candidate& candidate : move.candidates()) {
      if (tests::is_of(candidate, "weave")) woven.push_back(&candidate);
    }
    // One of them: kernels take long to make.
    if (woven.empty()) return;
    const Candidate& candidate = *woven[n % woven.size()];
    CHECK(move.run(candidate) == "");
    const auto facts = facts_of<WeaveFacts>(candidate);
    ++counts[facts.group_bytes > 4 ? "wide groups" : "groups of a word"];
    if (facts.staggered != 0) ++counts["runs that begin anywhere"];
    if (facts.image_alignment < 4) ++counts["lines that begin anywhere"];
    if (facts.fused != 0) ++counts["columns of several dimensions"];
    if (facts.others > 1) ++counts["other dimensions"];
    if (facts.cut != 0) ++counts["cut tiles"];
    if (facts.below > 0) ++counts["lines that run backwards"];
    if (weave_layout(move.problem(), facts.box)->tiles_per_cta > 1) ++counts["several tiles a CTA"];
  });
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(counts.size() >= 7);
}

TEST_CASE("spans move every element between short dimensions, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 120);
  const std::uint64_t seed = reference::seed(20261124);
  std::map<std::string_view, std::uint64_t> counts;
  for_short_moves(cases, seed, [&](Runtime& runtime, std::uint64_t /*n*/, const ShortMove& drawn) {
    tests::EveryCandidate move(runtime, drawn.destination, {drawn.source});
    reference::copy(move.host(0), move.host(1));
    for (const Candidate& candidate : move.candidates()) {
      if (!tests::is_of(candidate, "spans")) continue;
      CHECK(move.run(candidate) == "");
      const auto& layout = *static_cast<const SpanLayout*>(candidate.layout.get());
      ++counts[layout.staggered ? "runs that begin anywhere" : "runs that begin at words"];
      if (layout.walk.unit > 0) ++counts["wider elements"];
      if (layout.walk.split < max_view_rank) ++counts["a split dimension"];
      if (layout.run_dimensions > 1) ++counts["runs of several dimensions"];
      if (layout.column_dimensions > 1) ++counts["columns of several dimensions"];
      if (layout.column_dimensions == 0) ++counts["no columns"];
      if (layout.others > 1) ++counts["other dimensions"];
      if (layout.run_tiles > 1) ++counts["several parts of a run"];
      if (layout.columns < layout.all_columns) ++counts["several tiles of columns"];
      if (layout.all_columns % layout.columns != 0) ++counts["a cut tile"];
    }
  });
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(counts.size() >= 9);
}

TEST_CASE("the last tile along a run may have less of it than a word") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  Runtime runtime({.device = make_sim_device({}), .cache_directory = std::nullopt});
  Random random(seed);
  std::map<std::string_view, std::uint64_t> counts;
  for (int n = 0; n < 4000 && counts["weave"] < 3; ++n) {
    const ElementType type = one_in(random, 2) ? ElementType::u8 : ElementType::bf16;
    const std::uint64_t run = between(random, 3000, 9000);
    const std::uint64_t columns = between(random, 20, 90);
    const auto to = tests::move_operand(type, {columns, run}, {static_cast<std::int64_t>(run), 1});
    const auto from = tests::move_operand(type, {columns, run}, {1, static_cast<std::int64_t>(columns)});
    tests::EveryCandidate move(runtime, to, {from});
    reference::copy(move.host(0), move.host(1));
    for (const Candidate& candidate : move.candidates()) {
      const std::uint64_t rest = run % candidate.family->footprint(candidate, move.problem()).box[1];
      std::uint64_t& count = counts[candidate.family->name()];
      if (rest == 0 || rest * size_of(type) >= 4 || count >= 3) continue;
      INFO("TMAJIT_SEED=" << seed << ": " << candidate.family->choice(candidate).text() << " of " << run
                          << " x " << columns << ' ' << name(type));
      CHECK(move.run(candidate) == "");
      ++count;
    }
  }
  for (const auto& [family, times] : counts) std::cout << "  " << family << ": " << times << '\n';
  CHECK(counts["weave"] > 0);
}
