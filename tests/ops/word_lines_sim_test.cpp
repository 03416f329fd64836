/// Moves between a contiguous tensor with a short last dimension and lines of another tensor (`linear`), on
/// the simulated device, which reports mistakes of kernels.
#include "families/linear/linear_facts.hpp"
#include "ops/every_candidate.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace {

constexpr std::uint64_t max_case_elements = 9'000;

struct DrawnMove {
  tests::MoveOperand destination;
  tests::MoveOperand source;
  std::string text;
};

/// A move in which the destination or the source is contiguous with a last dimension of 2 to 32 elements. In
/// the other tensor, the lines may have gaps, lie in any order, and be reversed as a whole.
DrawnMove line_move(std::uint64_t seed) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  const std::uint64_t lines = between(random, 2, 32);
  const std::uint64_t columns = one_in(random, 2) ? 16 * between(random, 1, 9) : between(random, 4, 90);
  std::vector<std::uint64_t> shape{lines, columns};  // the fastest dimension of the contiguous tensor first
  for (std::uint64_t room = max_case_elements / (lines * columns); room > 1 && shape.size() < 5;) {
    shape.push_back(between(random, 1, std::min<std::uint64_t>(room, 7)));
    room /= shape.back();
  }
  std::vector<std::uint32_t> order{1, 0};  // the lined tensor's dimensions, the fastest first
  for (std::uint32_t d = 2; d < shape.size(); ++d)
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(between(random, 1, order.size())), d);
  const bool has_gaps = one_in(random, 3);
  const std::uint64_t gap_unit = one_in(random, 2) ? 16 / size_of(type) : 1;
  std::vector<std::int64_t> contiguous(shape.size());
  std::vector<std::int64_t> lined(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    contiguous[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
  }
  step = 1;
  for (const std::uint32_t d : order) {
    lined[d] = step * (d != 1 && one_in(random, 8) ? -1 : 1);
    step *= static_cast<std::int64_t>(shape[d]);
    if (has_gaps) step += static_cast<std::int64_t>(gap_unit * between(random, 0, 3));
  }
  std::ostringstream text;
  text << name(type) << ':';
  for (std::size_t d = shape.size(); d-- > 0;)
    text << ' ' << shape[d] << " (" << contiguous[d] << ", " << lined[d] << ')';
  const bool scatters = one_in(random, 2);
  text << (scatters ? ", scattered" : ", gathered");
  // The view's last dimension is the destination's fastest one.
  std::vector<std::uint32_t> view(shape.size());
  const std::vector<std::int64_t>& to = scatters ? lined : contiguous;
  const std::vector<std::int64_t>& from = scatters ? contiguous : lined;
  for (std::uint32_t d = 0; d < view.size(); ++d) view[d] = d;
  std::ranges::sort(view,
                    [&](std::uint32_t a, std::uint32_t b) { return std::abs(to[a]) > std::abs(to[b]); });
  std::vector<std::uint64_t> view_shape;
  std::vector<std::int64_t> view_to;
  std::vector<std::int64_t> view_from;
  for (const std::uint32_t d : view) {
    view_shape.push_back(shape[d]);
    view_to.push_back(to[d]);
    view_from.push_back(from[d]);
  }
  const std::uint64_t shift = one_in(random, 6) ? between(random, 1, 15) * size_of(type) : 0;
  return {tests::move_operand(type, view_shape, view_to, scatters ? shift : 0),
          tests::move_operand(type, view_shape, view_from, scatters ? 0 : shift), text.str()};
}

/// A move in which the source is contiguous in a dimension of 2 to 16 elements, which is not the
/// destination's last. The destination is contiguous. The source's other dimensions lie in any order and may
/// have gaps.
DrawnMove run_move(std::uint64_t seed) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  std::vector<std::uint64_t> shape{
      between(random, 2, 16)};  // in the destination's order; the run's dimension moves below
  for (std::uint64_t room = max_case_elements / shape[0]; room > 1 && shape.size() < 5;) {
    shape.push_back(between(random, 1, std::min<std::uint64_t>(room, 40)));
    room /= shape.back();
  }
  const auto run = static_cast<std::size_t>(between(random, 0, shape.size() - 2));
  std::swap(shape[0], shape[run]);
  std::vector<std::int64_t> to(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0; step *= static_cast<std::int64_t>(shape[d])) to[d] = step;
  std::vector<std::size_t> order;  // of the source's other dimensions, the fastest first
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d != run)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(between(random, 0, order.size())), d);
  }
  std::vector<std::int64_t> from(shape.size());
  from[run] = 1;
  step = static_cast<std::int64_t>(shape[run]);
  const bool has_gaps = one_in(random, 3);
  for (const std::size_t d : order) {
    from[d] = step * (one_in(random, 8) ? -1 : 1);
    step *= static_cast<std::int64_t>(shape[d]);
    if (has_gaps) step += static_cast<std::int64_t>(between(random, 0, 3));
  }
  std::ostringstream text;
  text << name(type) << ':';
  for (std::size_t d = 0; d < shape.size(); ++d)
    text << ' ' << shape[d] << " (" << to[d] << ", " << from[d] << ')';
  return {tests::move_operand(type, shape, to), tests::move_operand(type, shape, from),
          text.str() + ", spread"};
}

}  // namespace

TEST_CASE("words of several lines move tensors like the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 120);
  const std::uint64_t seed = reference::seed(20261128);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime = tests::random_order_runtime();
  std::map<std::string_view, std::uint64_t> counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const DrawnMove drawn = n % 3 == 0 ? run_move(seed + n) : line_move(seed + n);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << drawn.text);
    tests::EveryCandidate move(runtime, drawn.destination, {drawn.source});
    for (const Candidate& candidate : move.candidates()) {
      if (!tests::is_of_family(candidate, "linear")) continue;
      const auto facts = facts_of<LinearFacts>(candidate);
      if (facts.lines == 1) continue;
      INFO(tests::choice_text(candidate));
      try {
        CHECK(move.run(candidate) == "");
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
      }
      ++counts[facts.line_move == LineMove::gather    ? "loaded lines"
               : facts.line_move == LineMove::scatter ? "stored lines"
                                                      : "spread runs"];
      ++counts[facts.vectors != 0 ? "vectors" : "single elements"];
      if (facts.line_move == LineMove::spread)
        ++counts[facts.run_bytes != 0 ? "runs of vectors" : "runs of elements"];
      if (facts.wraps != 0) ++counts["words of two rows"];
      if (facts.turns > 1) ++counts["several words of a thread"];
      if (facts.line_move != LineMove::spread && facts.piece_bytes < 16)
        ++counts["pieces of less than 16 bytes"];
      const std::uint64_t elements = move.problem().nest.elements();
      if (elements % facts.word_elements != 0) ++counts["elements after the last word"];
      if (elements / facts.word_elements % 32 != 0) ++counts["a warp with fewer words"];
    }
  }
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
  CHECK(counts.size() == 12);
}
