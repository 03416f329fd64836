#include "families/shared/indexed_vectors.hpp"

#include <algorithm>
#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Whether the rows of both tensors consist of whole vectors of `vector` elements. Vectors must be aligned to
/// their size, or to 16 bytes if they are larger.
bool fits_vectors(const Problem& problem, std::uint32_t vector) {
  const auto& body = problem.as<IndexedProblem>();
  const std::uint32_t last = problem.nest.rank - 1;
  if (problem.nest.shape[last] % vector != 0) return false;
  for (const std::uint32_t i : {0U, 1U}) {
    const std::uint32_t bytes = std::min(vector * problem.element_bytes(i), max_piece_bytes);
    if (problem.alignment(i, last) % bytes != 0) return false;
  }
  for (std::uint32_t k = 0; k < body.axes(); ++k) {
    if (body.axis[k].stride % vector != 0) return false;
  }
  return true;
}

}  // namespace

std::uint32_t indexed_vector_elements(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank == 0) return 1;
  const auto& body = problem.as<IndexedProblem>();
  const std::uint32_t last = nest.rank - 1;
  const std::uint32_t size = problem.element_bytes(0);
  std::uint64_t bits = max_piece_bytes | nest.shape[last] * size;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    const bool is_index = i >= 2;
    if (nest.operand[i].strides[last] != (is_index ? 0 : 1)) return 1;
    if (!is_index) bits |= problem.alignment(i, last);
  }
  for (std::uint32_t k = 0; k < body.axes(); ++k)
    bits |= static_cast<std::uint64_t>(body.axis[k].stride) * size;
  return std::max((1U << std::countr_zero(bits)) / size, 1U);
}

std::uint32_t computed_vector_elements(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank == 0) return 1;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    if (nest.operand[i].strides[nest.rank - 1] != (i < 2 ? 1 : 0)) return 1;
  }
  const std::uint32_t stored = problem.element_bytes(0);
  std::uint32_t vector =
      std::min(max_piece_bytes / problem.element_bytes(1), (stored < 4 ? 16U : 32U) / stored);
  while (vector > 1 && !fits_vectors(problem, vector)) vector /= 2;
  return vector;
}

IndexFacts index_facts_of(const Problem& problem, std::uint64_t vectors) {
  const auto& body = problem.as<IndexedProblem>();
  const std::uint32_t rank = std::max(problem.nest.rank, min_indexed_rank);
  return {.rank = rank,
          .digits = rank + body.flat,
          .indices = problem.sources() - 1 - problem.numbers,
          .index_type = static_cast<std::uint32_t>(problem.type[2]),
          .range = static_cast<std::uint32_t>(body.out_of_range),
          .wide = vectors < max_narrow_vectors ? 0U : 1U,
          .wide_slots = body.flat == 0 || body.first_extent() < max_narrow_vectors ? 0U : 1U};
}

std::string text_of(const IndexFacts& facts, std::string_view operation) {
  const auto range = static_cast<OutOfRange>(facts.range);
  const bool is_flat = facts.digits > facts.rank;
  std::string text =
      number_fact("rank", facts.rank) +
      number_fact("digits", facts.digits, is_flat ? "the flat axes' included" : "") +
      number_fact("indices", facts.indices, "index tensors") +
      fmt::format("using IndexElement = {};\n", device_type(static_cast<ElementType>(facts.index_type))) +
      fmt::format("using Number = {};  // number of a vector\n", facts.wide != 0 ? "u64" : "u32") +
      policy_fact("Axes", is_flat ? "FlatAxes" : "OwnAxes");
  if (is_flat) text += fmt::format("using Slot = {};\n", facts.wide_slots != 0 ? "u64" : "u32");
  switch (range) {
    case OutOfRange::skip: return text + policy_fact("Range", "Skipped", "indices out of range");
    case OutOfRange::clamp: return text + policy_fact("Range", "Clamped", "indices out of range");
    case OutOfRange::error: break;
  }
  return text + policy_fact("Range", "Asserted", "indices out of range") +
         fmt::format(
             "struct Checked {{\n  static __device__ const char* operation() {{ return \"{}\"; }}\n}};\n",
             operation);
}

TMAJIT_END
