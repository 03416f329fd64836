#include "families/list.hpp"
#include "families/shared/indexed_vectors.hpp"
#include "kernel/moe_limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/moe_plan.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t moe_threads = 1024;
constexpr std::uint32_t moe_turns = 2;  ///< vectors that a thread has in flight
/// Vectors of a round: they are numbered by 32 bits, and dividends of a params::Divider are below 2^31.
constexpr std::uint64_t max_round_vectors = std::uint64_t{1} << 30;
/// A CTA moves at least this many vectors of a row, so that its loads and stores are whole cache lines.
constexpr std::uint64_t min_part_vectors = 32;

/// The facts that a `moe_permute` kernel is specialised for.
struct MoeFacts {
  std::uint32_t rank = 1;        ///< dimensions of a row
  std::uint32_t index_type = 0;  ///< an ElementType
  Flag neighbouring = 0;         ///< ids are contiguous, and begin at a multiple of 16 bytes
  std::uint32_t vector_bytes = 1;
};

struct MoeChoice {
  std::uint32_t groups = 1;  ///< groups of tokens, each with CTAs of its own
  std::uint32_t parts = 1;   ///< CTAs that share the rows of a group
  static constexpr auto members() {
    return std::array{choice_side("groups", &MoeChoice::groups), choice_side("parts", &MoeChoice::parts)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} group{} of tokens, rows in {} part{}", groups, groups == 1 ? "" : "s", parts,
                       parts == 1 ? "" : "s");
  }
};

/// Bytes of a vector: as many as are contiguous and aligned in all rows of both tensors.
std::uint32_t vector_bytes_of(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  const auto& body = problem.as<MoePermuteProblem>();
  const std::uint64_t size = problem.element_bytes(0);
  const std::uint32_t last = nest.rank - 1;
  if (nest.rank == 0 || nest.operand[0].strides[last] != 1 || nest.operand[1].strides[last] != 1)
    return static_cast<std::uint32_t>(size);
  std::uint64_t bits = max_piece_bytes | nest.shape[last] * size;
  bits |= problem.alignment(0, last) | problem.alignment(1, last);
  bits |= static_cast<std::uint64_t>(body.row_stride) * size;
  bits |= static_cast<std::uint64_t>(body.token_stride) * size;
  return 1U << std::countr_zero(bits);
}

/// Whether all ids are neighbours in memory, in the order of tokens and slots, and aligned to 16 bytes.
bool has_neighbouring_ids(const Problem& problem) {
  const auto& body = problem.as<MoePermuteProblem>();
  const bool in_order = (body.slots < 2 || body.ids.slot == 1) &&
                        (body.tokens < 2 || body.ids.token == static_cast<std::int64_t>(body.slots));
  return in_order && problem.address[2] % max_piece_bytes == 0;
}

std::uint64_t vectors_of_row(const Problem& problem, std::uint32_t vector_bytes) {
  return problem.as<MoePermuteProblem>().row_elements * problem.element_bytes(0) / vector_bytes;
}

/// Tokens of a group; the last group may have fewer.
std::uint64_t tokens_of_group(const MoePermuteProblem& body, std::uint64_t groups) {
  return std::max<std::uint64_t>(ceil_div(body.tokens, groups), 1);
}

/// Chooses at most one CTA for each SM: one for each group of tokens, or several that share the group's rows
/// if groups are few.
MoeChoice choice_of(const Problem& problem, std::uint32_t vector_bytes) {
  const auto& body = problem.as<MoePermuteProblem>();
  const std::uint64_t group = tokens_of_group(body, problem.sm_count);
  const std::uint64_t groups = std::max<std::uint64_t>(ceil_div(body.tokens, group), 1);
  const std::uint64_t most =
      std::max<std::uint64_t>(vectors_of_row(problem, vector_bytes) / min_part_vectors, 1);
  const std::uint64_t parts = std::clamp<std::uint64_t>(problem.sm_count / groups, 1, most);
  return {.groups = static_cast<std::uint32_t>(groups), .parts = static_cast<std::uint32_t>(parts)};
}

template <std::uint32_t rank>
params::MoePlan<rank> moe_plan(const MoeFacts& facts, const MoeChoice& choice, const Problem& problem) {
  const auto& body = problem.as<MoePermuteProblem>();
  const auto bytes = [&](std::uint32_t operand, std::int64_t stride) {
    return stride * static_cast<std::int64_t>(problem.element_bytes(operand));
  };
  params::MoePlan<rank> plan{};
  set_address(plan.rows, problem.address[0]);
  set_address(plan.x, problem.address[1]);
  plan.row_step = bytes(0, body.row_stride);
  plan.token_step = bytes(1, body.token_stride);
  set_address(plan.experts.first, problem.address[2]);
  plan.experts.token = bytes(2, body.ids.token);
  plan.experts.slot = bytes(2, body.ids.slot);
  set_address(plan.positions.first, problem.address[3]);
  plan.positions.token = bytes(3, body.positions.token);
  plan.positions.slot = bytes(3, body.positions.slot);
  set_address(plan.counts.first, problem.address[4]);
  plan.counts.step = bytes(4, body.count_stride);
  set_address(plan.offsets.first, problem.address[5]);
  plan.offsets.step = bytes(5, body.offset_stride);
  const std::uint32_t elements = facts.vector_bytes / problem.element_bytes(0);
  for (std::uint32_t d = 0; d < rank; ++d) {
    const bool exists = d < problem.nest.rank;
    const std::uint32_t unit = d + 1 == rank ? elements : 1;
    plan.digit[d].count = make_divider<params::Divider>(exists ? problem.nest.shape[d] / unit : 1);
    plan.digit[d].rows = exists ? problem.step(0, d) * unit : 0;
    plan.digit[d].x = exists ? problem.step(1, d) * unit : 0;
  }
  const std::uint64_t vectors = vectors_of_row(problem, facts.vector_bytes);
  const std::uint64_t part_vectors = std::max<std::uint64_t>(ceil_div(vectors, choice.parts), 1);
  const std::uint64_t slots = std::max<std::uint64_t>(body.slots, 1);
  plan.slots = make_divider<params::Divider>(slots);
  plan.alignment = make_divider<params::Divider>(body.alignment);
  plan.parts = make_divider<params::Divider>(choice.parts);
  plan.part_vectors = make_divider<params::Divider>(part_vectors);
  plan.tokens = static_cast<std::uint32_t>(body.tokens);
  plan.expert_count = static_cast<std::uint32_t>(body.experts);
  plan.capacity = static_cast<std::uint32_t>(std::min(body.capacity, max_moe_rows));
  plan.vectors = static_cast<std::uint32_t>(vectors);
  plan.group_tokens = sat_cast<std::uint32_t>(tokens_of_group(body, choice.groups));
  plan.round_tokens = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min(max_moe_slots / slots, max_round_vectors / part_vectors), 1));
  return plan;
}

class MoePermuteFamily final : public TypedFamily<MoeFacts, MoeChoice> {
 public:
  MoePermuteFamily()
      : TypedFamily({.name = "moe_permute",
                     .summary =
                         "sorts the rows of tokens by expert: each CTA counts all expert ids and moves "
                         "the rows of its tokens",
                     .operations = {MoePermute::operation},
                     .max_inputs = 2}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const MoeFacts facts{.rank = std::max(problem.nest.rank, 1U),
                         .index_type = static_cast<std::uint32_t>(problem.type[2]),
                         .neighbouring = has_neighbouring_ids(problem) ? 1U : 0U,
                         .vector_bytes = vector_bytes_of(problem)};
    Candidate made = candidate(facts, choice_of(problem, facts.vector_bytes), problem.nest);
    made.default_choice = DefaultChoice::yes;
    candidates.push_back(std::move(made));
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto& body = problem.as<MoePermuteProblem>();
    const auto& [facts, choice] = std::pair(data(candidate).facts, data(candidate).choice);
    const std::uint64_t ctas = std::uint64_t{choice.groups} * choice.parts;
    Footprint footprint{
        .threads = moe_threads,
        .tiles = ctas,
        .static_shared_bytes =
            sizeof(std::uint32_t) * (2 * max_moe_experts + max_moe_slots + moe_threads / 32) + max_moe_slots,
        .registers = 64,
        .bytes_in_flight = std::uint64_t{moe_threads} * moe_turns * facts.vector_bytes,
        .rounds = 3};
    for (std::uint32_t d = 0; d < problem.nest.rank; ++d)
      footprint.box[d] = sat_cast<std::uint32_t>(problem.nest.shape[d]);
    // An estimate: each CTA reads all ids, and a vector is stored for each slot.
    const auto pairs = static_cast<double>(body.pairs());
    const auto vectors = static_cast<double>(vectors_of_row(problem, facts.vector_bytes));
    footprint.instructions =
        static_cast<double>(ctas) * pairs * 20 +
        vectors * (static_cast<double>(body.tokens) * (15 + 8.0 * facts.rank) + pairs * 6);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    return fmt::format(
        "Each CTA reads all {} expert ids, so that it knows the rows of its tokens, and loads each vector of "
        "{} bytes once.",
        problem.as<MoePermuteProblem>().pairs(), data(candidate).facts.vector_bytes);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    with_constant(data(candidate).facts.rank, [&](auto rank) {
      using Plan = params::MoePlan<rank>;
      const std::uint32_t at =
          parameters.add({"params::MoePlan", rank}, "plan",
                         moe_plan<rank>(data(candidate).facts, data(candidate).choice, problem));
      const std::array offsets{offsetof(Plan, rows),      offsetof(Plan, x),      offsetof(Plan, experts),
                               offsetof(Plan, positions), offsetof(Plan, counts), offsetof(Plan, offsets)};
      for (std::uint32_t i = 0; i < offsets.size(); ++i)
        parameters.add_address(at + static_cast<std::uint32_t>(offsets[i]), i);
    });
    shape.grid = grid_of(footprint(candidate, problem).tiles);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const MoeFacts& facts = data(candidate).facts;
    SourceParts parts{.why =
                          "A CTA counts all ids instead of waiting for the counts of other CTAs, so that one "
                          "launch without other memory is enough.",
                      .element_bytes = std::min(facts.vector_bytes, 8U),
                      .max_threads = moe_threads,
                      .call = "permute_tokens(plan)"};
    parts.facts =
        number_fact("rank", facts.rank, "dimensions of a row") +
        fmt::format("using IndexElement = {};\n", device_type(static_cast<ElementType>(facts.index_type))) +
        policy_fact("Ids", facts.neighbouring != 0 ? "NeighbouringIds" : "SingleIds") +
        number_fact("vector_bytes", facts.vector_bytes) + number_fact("threads", moe_threads) +
        number_fact("turns", moe_turns, "vectors that a thread has in flight") +
        number_fact("max_experts", max_moe_experts) +
        number_fact("max_places", max_moe_slots, "slots of a round");
    return parts;
  }
};

}  // namespace

const Family& moe_permute_family() {
  static const MoePermuteFamily family;
  return family;
}

TMAJIT_END
