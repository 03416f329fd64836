#include "families/list.hpp"
#include "families/shared/indexed_vectors.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_ordered_threads = 256;
/// More CTAs share the additions better, but each CTA reads all indices.
constexpr std::uint64_t ordered_ctas_per_sm = 4;

/// The facts that an `ordered_add` kernel is specialised for.
struct OrderedFacts {
  std::uint32_t type = 0;  ///< type of the elements, an ElementType
  IndexFacts index = {};
  std::uint32_t vector_bytes = 1;
  Flag shares_indices = 0;  ///< all lines have the same indices

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

struct OrderedChoice {
  std::uint32_t threads = 0;
  std::uint32_t parts = 1;  ///< parts of the first indexed dimension, each of a CTA
  static constexpr auto members() {
    return std::array{choice_number("threads", &OrderedChoice::threads),
                      choice_side("parts", &OrderedChoice::parts)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} threads, {} part{}", threads, parts, parts == 1 ? "" : "s");
  }
};

/// How a nest is divided. Lines add to different elements of the destination. The positions of a line may add
/// to the same element.
struct OrderedLayout {
  std::vector<std::uint32_t> line_dims;
  std::vector<std::uint32_t> position_dims;
  std::uint32_t vector = 1;  ///< elements of a vector
  std::uint64_t lines = 1;
  std::uint64_t positions = 1;
};

OrderedLayout layout_of_lines(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  OrderedLayout layout{.line_dims = {}, .position_dims = {}, .vector = indexed_vector_elements(problem)};
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const bool is_line = nest.operand[0].strides[d] != 0;
    (is_line ? layout.line_dims : layout.position_dims).push_back(d);
    std::uint64_t& count = is_line ? layout.lines : layout.positions;
    count *= nest.shape[d];
  }
  layout.lines /= layout.vector;
  return layout;
}

bool lines_share_indices(const Problem& problem, const OrderedLayout& layout) {
  return std::ranges::all_of(layout.line_dims, [&](std::uint32_t d) {
    for (std::uint32_t i = 2; i < problem.nest.operands; ++i) {
      if (problem.nest.operand[i].strides[d] != 0) return false;
    }
    return true;
  });
}

template <std::uint32_t digits, std::uint32_t indices>
params::OrderedPlan<digits, indices> ordered_plan(const OrderedFacts& facts, std::uint32_t parts,
                                                  const OrderedLayout& layout, const Problem& problem) {
  const std::uint32_t rank = facts.index.rank;
  params::OrderedPlan<digits, indices> plan{};
  set_indexed_tensors(plan, problem, facts.index);
  std::vector<std::uint32_t> dims = layout.line_dims;
  dims.insert(dims.end(), layout.position_dims.begin(), layout.position_dims.end());
  dims.resize(rank, problem.nest.rank);
  for (std::uint32_t n = 0; n < rank; ++n) {
    const bool is_vector = dims[n] + 1 == problem.nest.rank;
    plan.digit[n] =
        indexed_digit<indices>(problem, dims[n], is_vector ? layout.vector : 1, facts.index.wide != 0);
  }
  plan.lines = layout.lines;
  plan.positions = layout.positions;
  plan.parts = make_divider<params::Divider>(parts);
  plan.part =
      static_cast<std::int64_t>(ceil_div(problem.as<IndexedProblem>().first_extent(), std::uint64_t{parts}));
  plan.line_digits = static_cast<std::uint32_t>(layout.line_dims.size());
  return plan;
}

class OrderedAdd final : public TypedFamily<OrderedFacts, OrderedChoice, OrderedLayout> {
 public:
  OrderedAdd()
      : TypedFamily({.name = "ordered_add",
                     .summary = "adds vectors to elements that index tensors select, in an order that never "
                                "changes",
                     .operations = {ScatterAdd::operation},
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const auto& body = problem.as<IndexedProblem>();
    if (!body.ordered) return;
    OrderedLayout layout = layout_of_lines(problem);
    const OrderedFacts facts{.type = static_cast<std::uint32_t>(problem.type[0]),
                             .index = index_facts_of(problem, std::max(layout.lines, layout.positions)),
                             .vector_bytes = layout.vector * problem.element_bytes(0),
                             .shares_indices = lines_share_indices(problem, layout) ? 1U : 0U};
    const std::uint32_t threads = clamp_to(round_up(layout.lines, 32), max_ordered_threads);
    const std::uint64_t wanted =
        ceil_div(ordered_ctas_per_sm * problem.sm_count, ceil_div(layout.lines, std::uint64_t{threads}));
    // Parts of equal size, none of which is empty.
    const std::uint64_t part = ceil_div(body.first_extent(), std::min(wanted, body.first_extent()));
    const auto parts = static_cast<std::uint32_t>(ceil_div(body.first_extent(), part));
    Candidate made = candidate(facts, {.threads = threads, .parts = parts}, problem.nest, std::move(layout));
    made.default_choice = DefaultChoice::yes;
    candidates.push_back(std::move(made));
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const OrderedLayout& layout = data(candidate).layout;
    const auto [threads, parts] = data(candidate).choice;
    const std::uint64_t ctas = sat_mul(ceil_div(layout.lines, std::uint64_t{threads}), parts);
    Footprint footprint{.threads = threads,
                        .tiles = ctas,
                        .registers = 64,
                        .bytes_in_flight = std::uint64_t{threads} * data(candidate).facts.vector_bytes};
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    // A CTA makes the additions of its part one after the other, and reads the indices of all positions.
    const auto positions = static_cast<double>(layout.positions);
    footprint.waits = positions / parts;
    const double scans = data(candidate).facts.shares_indices != 0 ? positions / 32 : positions;
    footprint.instructions = static_cast<double>(ctas) * threads * (scans * 40 + footprint.waits * 30);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    return fmt::format(
        "Each of {} parts of the first indexed dimension belongs to a CTA of its own, which "
        "reads all indices in order.",
        data(candidate).choice.parts);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const Data& own = data(candidate);
    with_constant(own.facts.index.digits, [&](auto digits) {
      with_constant(own.facts.index.indices, [&](auto indices) {
        add_indexed_plan(parameters, {"params::OrderedPlan", digits, indices},
                         ordered_plan<digits, indices>(own.facts, own.choice.parts, own.layout, problem));
      });
    });
    shape.grid = grid_of(footprint(candidate, problem).tiles);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const OrderedFacts& facts = data(candidate).facts;
    SourceParts parts{.why =
                          "One thread makes all additions to an element, in the order of the index, so that "
                          "equal launches leave equal bits.",
                      .max_threads = max_ordered_threads,
                      .call = "add_in_order(plan)"};
    parts.facts =
        text_of(facts.index, ScatterAdd::operation) + number_fact("vector_bytes", facts.vector_bytes) +
        policy_fact("Order", facts.shares_indices != 0 ? "SharedIndices" : "OwnIndices") +
        fmt::format("struct Destination {{\n  using Element = {};\n}};\n", device_type(facts.element_type()));
    parts.elements = {facts.element_type()};
    parts.result = facts.element_type();
    return parts;
  }
};

}  // namespace

const Family& ordered_add_family() {
  static const OrderedAdd family;
  return family;
}

TMAJIT_END
