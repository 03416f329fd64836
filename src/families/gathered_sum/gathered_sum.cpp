#include "families/list.hpp"
#include "families/shared/indexed_vectors.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_sum_threads = 256;
/// CTAs of few threads spread few vectors over all SMs.
constexpr std::uint32_t few_sum_threads = 64;
/// Large CTAs are chosen if every SM has this many of them.
constexpr std::uint64_t full_sum_ctas_per_sm = 4;
/// Terms whose vectors a thread loads together.
constexpr std::uint32_t terms_at_once = 8;

/// The facts that a `gathered_sum` kernel is specialised for.
struct GatheredSumFacts {
  std::uint32_t type = 0;         ///< type of the destination, an ElementType
  std::uint32_t source_type = 0;  ///< an ElementType
  std::uint32_t weight_type = 0;  ///< an ElementType; 0 without weights
  std::uint32_t offset_type = 0;  ///< an ElementType; 0 without offsets
  IndexFacts index = {};
  std::uint32_t vector = 1;  ///< elements of a vector
  Flag weighted = 0;
  Flag ragged = 0;
};

struct GatheredSumChoice {
  std::uint32_t threads = 0;
  static constexpr auto members() {
    return std::array{choice_number("threads", &GatheredSumChoice::threads)};
  }
  [[nodiscard]] std::string text() const { return fmt::format("{} threads of 1 vector", threads); }
};

/// The type in which terms are added.
std::string_view sum_text(const GatheredSumFacts& facts) {
  const auto source = static_cast<ElementType>(facts.source_type);
  const bool is_double =
      source == ElementType::f64 ||
      (facts.weighted != 0 && static_cast<ElementType>(facts.weight_type) == ElementType::f64);
  if (is_double) return "f64";
  if (facts.weighted != 0 || is_float(source)) return "f32";
  using enum ElementType;
  return source == i8 || source == i16 || source == i32 || source == i64 ? "i64" : "u64";
}

template <std::uint32_t digits, std::uint32_t indices>
params::GatheredSumPlan<digits, indices> gathered_sum_plan(const GatheredSumFacts& facts,
                                                           const Problem& problem) {
  const auto& terms = problem.as<IndexedProblem>().terms;
  params::GatheredSumPlan<digits, indices> plan{};
  set_indexed_tensors(plan, problem, facts.index);
  set_indexed_digits(plan, problem, facts.index, facts.vector);
  plan.vectors = problem.nest.elements() / facts.vector;
  plan.terms = terms.count;
  plan.index_step = terms.index_stride * static_cast<std::int64_t>(problem.element_bytes(2));
  if (facts.weighted != 0)
    plan.weight_step = terms.weight_stride * static_cast<std::int64_t>(problem.element_bytes(3));
  if (terms.ragged)
    plan.offset_step =
        terms.offset_stride * static_cast<std::int64_t>(problem.element_bytes(problem.sources()));
  return plan;
}

/// The terms of an element's sum, or their mean over ragged bags.
std::uint64_t mean_terms(const Problem& problem) {
  const auto& terms = problem.as<IndexedProblem>().terms;
  return terms.ragged ? ceil_div(terms.count, std::max<std::uint64_t>(terms.bags, 1)) : terms.count;
}

class GatheredSum final : public TypedFamily<GatheredSumFacts, GatheredSumChoice> {
 public:
  GatheredSum()
      : TypedFamily({.name = "gathered_sum",
                     .summary = "adds up vectors that an index tensor selects, times weights",
                     .operations = {GatherSum::operation},
                     .max_inputs = 4}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::uint32_t vector = computed_vector_elements(problem);
    const bool ragged = problem.as<IndexedProblem>().terms.ragged;
    const bool weighted = problem.sources() > (ragged ? 3U : 2U);
    const std::uint64_t vectors = problem.nest.elements() / vector;
    const GatheredSumFacts facts{
        .type = static_cast<std::uint32_t>(problem.type[0]),
        .source_type = static_cast<std::uint32_t>(problem.type[1]),
        .weight_type = weighted ? static_cast<std::uint32_t>(problem.type[3]) : 0U,
        .offset_type = ragged ? static_cast<std::uint32_t>(problem.type[problem.sources()]) : 0U,
        .index = index_facts_of(problem, vectors),
        .vector = vector,
        .weighted = weighted ? 1U : 0U,
        .ragged = ragged ? 1U : 0U};
    const bool fills_chip = vectors >= full_sum_ctas_per_sm * problem.sm_count * max_sum_threads;
    for (const std::uint32_t threads : {few_sum_threads, max_sum_threads}) {
      Candidate made = candidate(facts, {.threads = threads}, problem.nest);
      made.common = (threads == max_sum_threads) == fills_chip;
      if (made.common) made.default_choice = DefaultChoice::yes;
      candidates.push_back(std::move(made));
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const GatheredSumFacts& facts = data(candidate).facts;
    const std::uint32_t threads = data(candidate).choice.threads;
    const std::uint64_t vectors = problem.nest.elements() / facts.vector;
    const std::uint64_t terms = mean_terms(problem);
    const std::uint64_t loads = std::min<std::uint64_t>(terms, terms_at_once);
    Footprint footprint{.threads = threads,
                        .tiles = ceil_div(vectors, std::uint64_t{threads}),
                        .registers = 96,
                        .bytes_in_flight = threads * loads * facts.vector * problem.element_bytes(1),
                        .rounds = sat_cast<std::uint32_t>(2 * ceil_div(terms, std::uint64_t{terms_at_once}))};
    std::uint64_t remaining = std::uint64_t{threads} * facts.vector;
    for (std::uint32_t d = problem.nest.rank; d-- > 0;) {
      footprint.box[d] = sat_cast<std::uint32_t>(std::min(problem.nest.shape[d], remaining));
      remaining = ceil_div(remaining, std::max<std::uint64_t>(problem.nest.shape[d], 1));
    }
    // An estimate: divisions and addresses of the vector; address, load and conversions of each term.
    footprint.instructions =
        static_cast<double>(vectors) *
        (20 + 6.0 * facts.index.digits + static_cast<double>(terms) * (24 + 2.0 * facts.vector));
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    return fmt::format(
        "A thread loads the indices and weights of up to {} terms of a vector of {} bytes, then their "
        "vectors, "
        "so that many loads are in flight.",
        terms_at_once, data(candidate).facts.vector * problem.element_bytes(1));
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const GatheredSumFacts& facts = data(candidate).facts;
    with_constant(facts.index.digits, [&](auto digits) {
      const auto add = [&](auto indices) {
        add_indexed_plan(parameters, {"params::GatheredSumPlan", digits, indices},
                         gathered_sum_plan<digits, indices>(facts, problem));
      };
      switch (facts.index.indices) {
        case 1: return add(std::integral_constant<std::uint32_t, 1>{});
        case 2: return add(std::integral_constant<std::uint32_t, 2>{});
        default: return add(std::integral_constant<std::uint32_t, 3>{});
      }
    });
    shape.grid = grid_of(footprint(candidate, problem).tiles);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const GatheredSumFacts& facts = data(candidate).facts;
    SourceParts parts{
        .why =
            "A thread adds the terms of its vector in registers, in the order of the index, so that "
            "each sum is rounded once and stored once.",
        .max_threads = max_sum_threads,
        .call = "sum_vector(plan)"};
    parts.facts = text_of(facts.index, GatherSum::operation) +
                  number_fact("vector", facts.vector, "elements of a vector") +
                  number_fact("terms_at_once", terms_at_once) +
                  fmt::format("using Sum = {};\n", sum_text(facts)) +
                  policy_fact("Weights", facts.weighted != 0 ? "Weighted" : "Unweighted") +
                  policy_fact("Bags", facts.ragged != 0 ? "RaggedBags" : "EqualBags");
    if (facts.ragged != 0)
      parts.facts += fmt::format("using OffsetElement = {};\n",
                                 device_type(static_cast<ElementType>(facts.offset_type)));
    std::vector<ElementType> from{static_cast<ElementType>(facts.source_type)};
    if (facts.weighted != 0) from.push_back(static_cast<ElementType>(facts.weight_type));
    add_element_types(parts, static_cast<ElementType>(facts.type), from, true);
    return parts;
  }
};

}  // namespace

const Family& gathered_sum_family() {
  static const GatheredSum family;
  return family;
}

TMAJIT_END
