#include "families/list.hpp"
#include "families/shared/indexed_vectors.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <type_traits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t indexed_threads = 256;
/// Threads have several vectors only if every SM still has this many CTAs.
constexpr std::uint64_t full_ctas_per_sm = 4;

/// The facts that an `indexed` kernel is specialised for.
struct IndexedFacts {
  std::uint32_t use = 0;  ///< an IndexedUse
  /// The elements' type, an ElementType. Kernels that need only bits have the unsigned integer of a vector's
  /// size, at most 8 bytes, so that types share them.
  std::uint32_t type = 0;
  IndexFacts index = {};
  std::uint32_t vector_bytes = 1;
  std::uint32_t turns = 1;  ///< most vectors of a thread
  Flag pads = 0;            ///< a gather stores a value other than 0 where an index selects nothing
  /// If an expression is computed: types of the tensor and of the numbers that it reads, each an ElementType.
  std::array<std::uint32_t, max_inputs> source{};
  std::uint32_t sources = 0;  ///< 0 if bits are moved

  [[nodiscard]] bool computes() const noexcept { return sources > 0; }
  [[nodiscard]] std::uint32_t vector() const noexcept { return vector_bytes / size_of(element_type()); }
  [[nodiscard]] IndexedUse indexed_use() const noexcept { return static_cast<IndexedUse>(use); }
  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

struct IndexedChoice {
  std::uint32_t vectors = 1;  ///< vectors of a thread
  static constexpr auto members() { return std::array{choice_number("vectors", &IndexedChoice::vectors)}; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} threads of {} vector{}", indexed_threads, vectors, vectors == 1 ? "" : "s");
  }
};

std::uint64_t vectors_of(const Problem& problem, std::uint32_t vector_bytes) {
  return problem.nest.elements() / (vector_bytes / problem.element_bytes(0));
}

/// The facts of a gather that stores an expression of the elements.
IndexedFacts facts_of_expression(const Problem& problem) {
  const std::uint32_t vector = computed_vector_elements(problem);
  const std::uint32_t vector_bytes = vector * problem.element_bytes(0);
  const bool is_wide = std::max(vector_bytes, vector * problem.element_bytes(1)) >= max_piece_bytes;
  IndexedFacts facts{.use = static_cast<std::uint32_t>(IndexedUse::gather),
                     .type = static_cast<std::uint32_t>(problem.type[0]),
                     .index = index_facts_of(problem, vectors_of(problem, vector_bytes)),
                     .vector_bytes = vector_bytes,
                     .turns = is_wide ? 4U : 8U,
                     .sources = 1 + problem.numbers};
  facts.source[0] = static_cast<std::uint32_t>(problem.type[1]);
  for (std::uint32_t k = 0; k < problem.numbers; ++k)
    facts.source[1 + k] = static_cast<std::uint32_t>(problem.type[2 + facts.index.indices + k]);
  return facts;
}

IndexedFacts facts_of_problem(const Problem& problem) {
  const auto& body = problem.as<IndexedProblem>();
  if (!body.expression.empty()) return facts_of_expression(problem);
  const std::uint32_t vector_bytes = indexed_vector_elements(problem) * problem.element_bytes(0);
  const bool pads = body.gathers() && body.out_of_range == OutOfRange::skip &&
                    std::bit_cast<std::uint64_t>(body.value) != 0;
  const bool needs_type = pads || body.use == IndexedUse::scatter_add;
  // With more vectors, the registers of their addresses would limit the threads of an SM.
  const std::uint32_t turns = vector_bytes == max_piece_bytes ? 4 : 8;
  return {.use = static_cast<std::uint32_t>(body.use),
          .type = static_cast<std::uint32_t>(needs_type ? problem.type[0]
                                                        : unsigned_of(std::min(vector_bytes, 8U))),
          .index = index_facts_of(problem, vectors_of(problem, vector_bytes)),
          .vector_bytes = vector_bytes,
          .turns = turns,
          .pads = pads ? 1U : 0U};
}

template <class Plan>
Plan indexed_plan(const IndexedFacts& facts, std::uint32_t turns, const Problem& problem) {
  Plan plan{};
  set_indexed_tensors(plan, problem, facts.index);
  set_indexed_digits(plan, problem, facts.index, facts.vector_bytes / problem.element_bytes(0));
  plan.vectors = vectors_of(problem, facts.vector_bytes);
  plan.value = problem.as<IndexedProblem>().value;
  plan.turns = turns;
  return plan;
}

/// Adds the plan of a kernel that stores an expression. The first number is the operand after the index
/// tensors.
template <class Plan>
void add_computed_plan(ParameterBlock& parameters, ParameterType type, Plan plan, const Problem& problem) {
  const std::uint32_t first = 2 + std::extent_v<decltype(Plan::index)>;
  for (std::uint32_t k = 0; k < problem.numbers; ++k) set_address(plan.number[k], problem.address[first + k]);
  const std::uint32_t at = add_indexed_plan(parameters, type, plan);
  for (std::uint32_t k = 0; k < problem.numbers; ++k) {
    parameters.add_address(
        at + static_cast<std::uint32_t>(offsetof(Plan, number) + k * sizeof(plan.number[k])), first + k);
  }
}

std::string_view use_name(IndexedUse use) noexcept {
  switch (use) {
    case IndexedUse::gather: return Gather::operation;
    case IndexedUse::scatter: return Scatter::operation;
    case IndexedUse::scatter_add: return ScatterAdd::operation;
    case IndexedUse::gather_sum: return GatherSum::operation;
  }
  return {};
}

std::string_view use_policy(IndexedUse use) noexcept {
  switch (use) {
    case IndexedUse::gather: return "Gathers";
    case IndexedUse::scatter: return "Scatters";
    case IndexedUse::scatter_add: return "Adds";
    case IndexedUse::gather_sum: break;  // a kernel of the family gathered_sum
  }
  return {};
}

class IndexedFamily final : public TypedFamily<IndexedFacts, IndexedChoice> {
 public:
  IndexedFamily()
      : TypedFamily({.name = "indexed",
                     .summary = "moves or adds vectors between a tensor and the elements of another that "
                                "index tensors select",
                     .operations = {Gather::operation, Scatter::operation, ScatterAdd::operation},
                     .computes = true,
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (problem.as<IndexedProblem>().ordered) return;
    const IndexedFacts facts = facts_of_problem(problem);
    const std::uint64_t full = full_ctas_per_sm * problem.sm_count * indexed_threads * facts.turns;
    const bool fills_chip = vectors_of(problem, facts.vector_bytes) >= full;
    for (const std::uint32_t turns : {1U, facts.turns}) {
      Candidate made = candidate(facts, {.vectors = turns}, problem.nest);
      made.common = (turns > 1) == fills_chip;
      if (made.common) made.default_choice = DefaultChoice::yes;
      candidates.push_back(std::move(made));
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const IndexedFacts& facts = data(candidate).facts;
    const std::uint64_t vectors = vectors_of(problem, facts.vector_bytes);
    const std::uint64_t of_cta = std::uint64_t{indexed_threads} * data(candidate).choice.vectors;
    Footprint footprint{.threads = indexed_threads,
                        .tiles = ceil_div(vectors, of_cta),
                        .registers = 64,
                        .bytes_in_flight = of_cta * facts.vector_bytes,
                        .rounds = 2};
    std::uint64_t remaining = of_cta * (facts.vector_bytes / problem.element_bytes(0));
    for (std::uint32_t d = problem.nest.rank; d-- > 0;) {
      footprint.box[d] = sat_cast<std::uint32_t>(std::min(problem.nest.shape[d], remaining));
      remaining = ceil_div(remaining, std::max<std::uint64_t>(problem.nest.shape[d], 1));
    }
    // An estimate: divisions and addresses for each dimension and tensor, and the access itself.
    footprint.instructions =
        static_cast<double>(vectors) * (12 + 6.0 * facts.index.digits + 8.0 * facts.index.indices);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const IndexedFacts& facts = data(candidate).facts;
    return fmt::format(
        "Threads load the indices of {} vectors of {} bytes, then the vectors themselves, so that many loads "
        "are in flight.",
        data(candidate).choice.vectors, facts.vector_bytes);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const IndexedFacts& facts = data(candidate).facts;
    with_constant(facts.index.digits, [&](auto digits) {
      with_constant(facts.index.indices, [&](auto indices) {
        const std::uint32_t turns = data(candidate).choice.vectors;
        if (facts.computes()) {
          using Plan = params::ComputedPlan<digits, indices>;
          return add_computed_plan(parameters, {"params::ComputedPlan", digits, indices},
                                   indexed_plan<Plan>(facts, turns, problem), problem);
        }
        using Plan = params::IndexedPlan<digits, indices>;
        add_indexed_plan(parameters, {"params::IndexedPlan", digits, indices},
                         indexed_plan<Plan>(facts, turns, problem));
      });
    });
    shape.grid = grid_of(footprint(candidate, problem).tiles);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const IndexedFacts& facts = data(candidate).facts;
    SourceParts parts{.why =
                          "A thread moves vectors as wide as rows allow. The copy engine is not used: it "
                          "would need an instruction for each row.",
                      .max_threads = indexed_threads,
                      .call = "move_indexed(plan)"};
    parts.facts = text_of(facts.index, use_name(facts.indexed_use())) +
                  number_fact("threads", indexed_threads) +
                  number_fact("turns", facts.turns, "most vectors of a thread");
    parts.set("computes", facts.computes());
    if (facts.computes()) {
      parts.facts +=
          number_fact("vector", facts.vector(), "elements of a vector") + policy_fact("Use", "Computes");
      std::array<ElementType, max_inputs> from{};
      for (std::uint32_t s = 0; s < facts.sources; ++s) from[s] = static_cast<ElementType>(facts.source[s]);
      parts.numbers = facts.sources - 1;
      parts.pads = true;
      add_element_types(parts, facts.element_type(), std::span(from).first(facts.sources), true);
      return parts;
    }
    parts.facts += number_fact("vector_bytes", facts.vector_bytes);
    parts.facts += policy_fact("Use", use_policy(facts.indexed_use()));
    if (facts.indexed_use() == IndexedUse::gather)
      parts.facts += policy_fact("Missing", facts.pads != 0 ? "ValueBits" : "ZeroBits");
    parts.element_bytes = size_of(facts.element_type());
    if (facts.pads != 0 || facts.indexed_use() == IndexedUse::scatter_add) {
      parts.facts += fmt::format("struct Destination {{\n  using Element = {};\n}};\n",
                                 device_type(facts.element_type()));
      parts.elements = {facts.element_type()};
      parts.result = facts.element_type();
      parts.pads = facts.pads != 0;
    }
    return parts;
  }
};

}  // namespace

const Family& indexed_family() {
  static const IndexedFamily family;
  return family;
}

TMAJIT_END
