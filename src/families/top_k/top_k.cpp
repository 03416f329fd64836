#include "families/list.hpp"
#include "families/shared/views.hpp"
#include "kernel/top_k_limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/top_k_plan.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_warp_results = warp_lanes;  ///< results of a warp: each lane has one
constexpr std::uint32_t warp_threads = 128;
constexpr std::uint32_t max_lane_elements = 32;
constexpr std::uint32_t max_lane_bytes = 128;
constexpr std::uint32_t max_top_k_threads = 1024;
constexpr std::uint32_t min_top_k_threads = 128;
constexpr std::uint32_t row_vector_bytes = 16;
constexpr std::uint32_t row_digit_values = 256;
/// Dynamic shared memory of a row; static memory, of up to 34 KiB, comes on top.
constexpr std::uint32_t max_kept_bytes = 192 * 1024;
/// Sorting this many elements takes about as long as another pass over a row in shared memory.
constexpr std::uint32_t few_elements = 512;

/// The facts that a `top_k` kernel is specialised for.
struct TopKFacts {
  std::uint32_t rank = 1;  ///< dimensions that count rows
  std::uint32_t type = 0;  ///< an ElementType
  std::uint32_t index_bytes = 0;
  Flag largest = 1;
  std::uint32_t vectors = 0;  ///< of a lane, if a warp takes a row; 0: a CTA takes a row
  std::uint32_t vector_bytes = 1;
  Flag contiguous = 0;  ///< if a CTA takes a row: its elements are neighbours
  Flag kept = 0;        ///< the CTA holds the row in shared memory

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] std::uint32_t element_bytes() const noexcept { return size_of(element_type()); }
  /// Elements that a CTA can sort.
  [[nodiscard]] std::uint32_t capacity() const noexcept { return element_bytes() == 8 ? 2048 : 4096; }
  /// Vectors of a row that a thread has in flight. Code for each of their elements limits them.
  [[nodiscard]] std::uint32_t turns() const noexcept { return element_bytes() == 1 ? 2 : 4; }
  [[nodiscard]] std::uint32_t key_bytes() const noexcept { return element_bytes() == 8 ? 8 : 4; }
};

struct TopKChoice {
  std::uint32_t threads = warp_threads;
  std::uint32_t row_threads = warp_lanes;  ///< threads that share a row
  std::uint32_t kept = 0;                  ///< 1 if the row stays in shared memory
  static constexpr auto members() {
    return std::array{choice_side("threads", &TopKChoice::threads),
                      choice_side("row_threads", &TopKChoice::row_threads),
                      choice_number("kept", &TopKChoice::kept, 1)};
  }
  [[nodiscard]] bool by_warps() const noexcept { return row_threads == warp_lanes; }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} threads, a {} for each row{}", threads, by_warps() ? "warp" : "CTA",
                       kept != 0 ? ", which stays in shared memory" : "");
  }
};

/// The type whose order the elements have: forms of f32 differ in tensor maps alone.
ElementType ordered_type(ElementType type) noexcept {
  using enum ElementType;
  return type == f32_ftz || type == tf32 || type == tf32_ftz ? f32 : type;
}

/// The policy of templates/kernels/top_k.cu that orders elements.
std::string_view order_of(ElementType type) noexcept {
  using enum ElementType;
  switch (type) {
    case u8:
    case u16:
    case u32:
    case u64: return "UnsignedOrder";
    case i8:
    case i16:
    case i32:
    case i64: return "SignedOrder";
    default: return "FloatOrder";
  }
}

/// The bits of the greatest element that is not NaN: infinity, if the type has it.
std::uint64_t greatest_number(ElementType type) noexcept {
  using enum ElementType;
  switch (type) {
    case f16: return 0x7c00;
    case bf16: return 0x7f80;
    case f64: return 0x7ff0000000000000;
    case e4m3: return 0x7e;
    case e5m2: return 0x7c;
    default: return 0x7f800000;
  }
}

const TopKProblem& top_k_of(const Problem& problem) {
  return problem.as<TopKProblem>();
}

std::uint64_t top_k_rows(const Problem& problem) {
  return problem.nest.elements();
}

std::int64_t row_axis_step(const Problem& problem, std::uint32_t operand) {
  return top_k_of(problem).stride[operand] * static_cast<std::int64_t>(problem.element_bytes(operand));
}

/// Bytes of a vector that a lane loads: rows are whole aligned vectors.
std::uint32_t lane_vector_bytes(const Problem& problem) {
  const std::uint32_t size = problem.element_bytes(1);
  if (top_k_of(problem).stride[1] != 1) return size;
  const std::uint64_t bits =
      row_vector_bytes | top_k_of(problem).length * size | problem.alignment(1, problem.nest.rank);
  return 1U << std::countr_zero(bits);
}

/// Vectors of a lane, if a warp can take a row; else 0.
std::uint32_t lane_vectors(const Problem& problem, std::uint32_t vector_bytes) {
  const TopKProblem& body = top_k_of(problem);
  const std::uint32_t size = problem.element_bytes(1);
  const std::uint64_t elements = vector_bytes / size;
  std::uint64_t vectors = ceil_div(body.length, warp_lanes * elements);
  if (vectors > 4) vectors = std::bit_ceil(vectors);  // many lengths share a kernel
  const std::uint64_t held = vectors * elements;
  const bool fits =
      body.count <= max_warp_results && held <= max_lane_elements && held * size <= max_lane_bytes;
  return fits ? static_cast<std::uint32_t>(vectors) : 0;
}

/// Threads of a CTA that takes a row: one for 8 to 16 elements, within the limits.
std::uint32_t threads_of_row(const Problem& problem) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::bit_ceil(top_k_of(problem).length / 16),
                                                              min_top_k_threads, max_top_k_threads));
}

std::uint64_t kept_bytes(const Problem& problem) {
  return top_k_of(problem).length * problem.element_bytes(1) + row_vector_bytes;
}

/// The most elements that are sorted. A row that is not in shared memory sorts as many as a CTA can, so that
/// it is read in as few passes as possible.
std::uint32_t enough_elements(const TopKFacts& facts, const Problem& problem) {
  if (facts.kept == 0) return facts.capacity();
  const auto twice = std::bit_ceil(static_cast<std::uint32_t>(2 * top_k_of(problem).count));
  return std::clamp(twice, few_elements, facts.capacity());
}

template <std::uint32_t rank>
params::TopKPlan<rank> top_k_plan(const TopKFacts& facts, const Problem& problem) {
  const TopKProblem& body = top_k_of(problem);
  const bool has_index = problem.destinations > 1;
  params::TopKPlan<rank> plan{};
  set_address(plan.values, problem.address[0]);
  set_address(plan.x, problem.address[1]);
  plan.values_step = row_axis_step(problem, 0);
  plan.x_step = row_axis_step(problem, 1);
  if (has_index) {
    set_address(plan.index, problem.address[2]);
    plan.index_step = row_axis_step(problem, 2);
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    params::TopKDigit& digit = plan.digit[d];
    digit.count = make_divider<params::Divider>(extent_of(problem.nest, d));
    if (d >= problem.nest.rank) continue;
    digit.values = problem.step(0, d);
    digit.x = problem.step(1, d);
    if (has_index) digit.index = problem.step(2, d);
  }
  plan.rows = static_cast<std::uint32_t>(top_k_rows(problem));
  plan.length = static_cast<std::uint32_t>(body.length);
  plan.count = static_cast<std::uint32_t>(body.count);
  plan.enough = enough_elements(facts, problem);
  plan.place_digits =
      static_cast<std::uint32_t>(ceil_div(std::bit_width(std::max<std::uint64_t>(body.length - 1, 1)), 8));
  return plan;
}

class TopKFamily final : public TypedFamily<TopKFacts, TopKChoice> {
 public:
  TopKFamily()
      : TypedFamily({.name = "top_k",
                     .summary = "takes the first elements of rows in order: a warp holds a short row in "
                                "registers, a CTA counts the digits of a long one",
                     .operations = {TopK::operation},
                     .max_inputs = 1}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    TopKFacts facts{.rank = std::max(problem.nest.rank, 1U),
                    .type = static_cast<std::uint32_t>(ordered_type(problem.type[1])),
                    .index_bytes = problem.destinations > 1 ? problem.element_bytes(2) : 0,
                    .largest = top_k_of(problem).largest ? 1U : 0U};
    const auto add = [&](const TopKChoice& choice, bool is_default) {
      candidates.push_back(candidate(facts, choice, problem.nest));
      if (is_default) candidates.back().default_choice = DefaultChoice::yes;
    };
    facts.vector_bytes = lane_vector_bytes(problem);
    facts.vectors = lane_vectors(problem, facts.vector_bytes);
    if (facts.vectors > 0) return add({}, true);
    const std::uint32_t threads = threads_of_row(problem);
    facts.vector_bytes = row_vector_bytes;
    facts.contiguous = top_k_of(problem).stride[1] == 1 ? 1 : 0;
    facts.kept = 1;
    const bool keeps =
        kept_bytes(problem) <= max_kept_bytes && top_k_of(problem).length > enough_elements(facts, problem);
    if (keeps) add({.threads = threads, .row_threads = threads, .kept = 1}, true);
    facts.kept = 0;
    add({.threads = threads, .row_threads = threads}, !keeps);
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const TopKFacts& facts = data(candidate).facts;
    const TopKChoice& choice = data(candidate).choice;
    const TopKProblem& body = top_k_of(problem);
    const std::uint64_t rows = top_k_rows(problem);
    Footprint footprint{.threads = choice.threads,
                        .tiles = ceil_div(rows, std::uint64_t{choice.threads / choice.row_threads})};
    std::fill_n(footprint.box.begin(), problem.nest.rank, 1U);
    // Instructions are estimates.
    const auto elements = static_cast<double>(body.length);
    const auto count = static_cast<double>(body.count);
    if (choice.by_warps()) {
      const std::uint32_t held = facts.vectors * facts.vector_bytes;
      footprint.registers = held / facts.element_bytes() * facts.key_bytes() > 64 ? 64 : 40;
      footprint.bytes_in_flight = std::uint64_t{choice.threads} * held;
      footprint.rounds = 2;
      footprint.instructions = static_cast<double>(rows) * warp_lanes *
                               (60 + held / facts.element_bytes() * (4 + 3 * count) + count * 10);
      return footprint;
    }
    footprint.registers = 64;
    footprint.static_shared_bytes =
        facts.capacity() * (facts.key_bytes() + 4) + row_digit_values * 4 + row_vector_bytes;
    if (facts.kept != 0) {
      footprint.dynamic_shared_bytes = static_cast<std::uint32_t>(round_up(kept_bytes(problem), 16));
      footprint.max_dynamic_shared_bytes = max_kept_bytes;
    }
    const std::uint32_t load = facts.contiguous != 0 ? facts.vector_bytes : facts.element_bytes();
    footprint.bytes_in_flight = std::uint64_t{choice.threads} * facts.turns() * load;
    const std::uint64_t row_bytes = body.length * facts.element_bytes();
    footprint.rounds = sat_cast<std::uint32_t>(ceil_div(row_bytes, footprint.bytes_in_flight) + 1);
    const bool rereads = facts.kept == 0 && body.length > enough_elements(facts, problem);
    if (rereads) footprint.reread_bytes = static_cast<double>(problem.bytes_read());
    const auto log2_count = static_cast<double>(std::bit_width(body.count));
    const double stages = log2_count * (log2_count + 1) / 2;
    footprint.instructions = static_cast<double>(rows) *
                             (elements * 25 + stages * static_cast<double>(std::bit_ceil(body.count)) * 10);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    const TopKFacts& facts = data(candidate).facts;
    if (facts.vectors > 0) {
      return fmt::format(
          "A warp holds a row of {} elements in registers, and finds one result after another.",
          top_k_of(problem).length);
    }
    return facts.kept != 0 ? "A CTA loads a row once, and counts digits in shared memory."
                           : "A CTA counts the digits of a row, until few elements may be results.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    with_constant(data(candidate).facts.rank, [&](auto rank) {
      using Plan = params::TopKPlan<rank>;
      const std::uint32_t at = parameters.add({"params::TopKPlan", rank}, "plan",
                                              top_k_plan<rank>(data(candidate).facts, problem));
      const std::array offsets{offsetof(Plan, values), offsetof(Plan, x), offsetof(Plan, index)};
      for (std::uint32_t i = 0; i < problem.nest.operands; ++i)
        parameters.add_address(at + static_cast<std::uint32_t>(offsets[i]), i);
    });
    shape.grid = grid_of(footprint(candidate, problem).tiles);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const TopKFacts& facts = data(candidate).facts;
    SourceParts parts{.why =
                          "Elements become unsigned keys; key and place together have no equals, so that "
                          "results do not depend on the order in which threads find them.",
                      .element_bytes = facts.element_bytes(),
                      .max_threads = facts.vectors > 0 ? warp_threads : max_top_k_threads,
                      .call = "Team::select(plan)"};
    parts.facts = number_fact("rank", facts.rank, "dimensions that count rows") +
                  number_fact("element_bytes", facts.element_bytes()) +
                  number_fact("index_bytes", facts.index_bytes) + flag_fact("largest", facts.largest != 0) +
                  number_fact("vector_bytes", facts.vector_bytes) +
                  policy_fact("Order", order_of(facts.element_type()));
    if (order_of(facts.element_type()) == "FloatOrder") {
      parts.facts += fmt::format("constexpr u64 greatest_number = {:#x};  // the bits of that element\n",
                                 greatest_number(facts.element_type()));
    }
    if (facts.vectors > 0) {
      parts.facts +=
          policy_fact("Team", "WarpTeam") + number_fact("vectors", facts.vectors, "vectors of a lane");
      return parts;
    }
    parts.facts += policy_fact("Team", "CtaTeam") +
                   policy_fact("Access", facts.contiguous != 0 ? "Contiguous" : "Strided") +
                   policy_fact("Rereads", facts.kept != 0 ? "KeepRow" : "ReadAgain") +
                   number_fact("capacity", facts.capacity(), "elements that are sorted at most") +
                   number_fact("turns", facts.turns(), "vectors that a thread has in flight");
    return parts;
  }
};

}  // namespace

const Family& top_k_family() {
  static const TopKFamily family;
  return family;
}

TMAJIT_END
