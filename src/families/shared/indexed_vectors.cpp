#include "families/shared/indexed_vectors.hpp"

#include <algorithm>
#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

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
    bits |=
        is_index ? static_cast<std::uint64_t>(body.axis[i - 2].stride) * size : problem.alignment(i, last);
  }
  return std::max((1U << std::countr_zero(bits)) / size, 1U);
}

std::string index_facts(std::uint32_t rank, std::uint32_t indices, ElementType index_type, bool clamps,
                        bool wide) {
  return number_fact("rank", rank) + number_fact("indices", indices, "index tensors") +
         fmt::format("using IndexElement = {};\n", device_type(index_type)) +
         fmt::format("using Number = {};  // number of a vector\n", wide ? "u64" : "u32") +
         policy_fact("Range", clamps ? "Clamped" : "Skipped", "indices out of range");
}

TMAJIT_END
