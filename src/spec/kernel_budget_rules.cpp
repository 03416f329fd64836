#include "spec/kernel_rules.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto capability_source =
    "CUDA C++ Programming Guide, Technical Specifications per Compute Capability";

bool fits_shared(const KernelSpec& spec) noexcept {
  return shared_layout(spec).bytes <= shared_bytes_for(spec.ctas_per_sm);
}

/// The nearest smaller spec whose shared memory fits, in words: fewer stages, else a smaller tile.
std::string smaller(KernelSpec spec) {
  for (auto fewer = spec; fewer.stages > 1;) {
    --fewer.stages;
    if (fits_shared(fewer)) return fmt::format("stages = {}", fewer.stages);
  }
  spec.stages = std::min<std::uint8_t>(spec.stages, 2);
  // The innermost dimension last: halving it breaks rows up. 16 elements are 16 bytes or more of any type.
  const auto rank = std::clamp<std::uint32_t>(spec.rank, 1, max_map_rank);
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t unit = d + 1 == rank ? bulk_bytes : 1;
    while (!fits_shared(spec) && spec.tile[d] >= 2 * unit) {
      spec.tile[d] = static_cast<std::uint32_t>(round_down(spec.tile[d] / 2, unit));
    }
  }
  if (!fits_shared(spec)) return "a smaller tile and fewer stages";
  std::string tile;
  for (std::uint32_t d = 0; d < rank; ++d) tile += fmt::format("{}{}", d == 0 ? "" : "x", spec.tile[d]);
  return fmt::format("a tile of {} with stages = {}", tile, spec.stages);
}

void check_cta(const KernelSpec& spec, std::uint64_t bytes, Violations& violations) {
  if (bytes <= max_shared_bytes_per_cta) return;
  auto alone = spec;
  alone.ctas_per_sm = 1;
  violations.add(
      {.rule = "shared.cta",
       .subject = "shared memory",
       .found = fmt::format("{} bytes a CTA, {} too many", bytes, bytes - max_shared_bytes_per_cta),
       .need = fmt::format("at most {} bytes (227 KiB)", max_shared_bytes_per_cta),
       .legal = smaller(alone),
       .source = capability_source});
}

void check_sm(const KernelSpec& spec, std::uint64_t bytes, Violations& violations) {
  const auto each = sat_add(bytes, cta_reserve_bytes);
  const auto all = sat_mul(each, spec.ctas_per_sm);
  if (spec.ctas_per_sm < 2 || all <= max_shared_bytes_per_sm) return;
  const auto ctas = std::max<std::uint64_t>(max_shared_bytes_per_sm / each, 1);
  violations.add({.rule = "shared.sm",
                  .subject = "ctas_per_sm",
                  .found = fmt::format("{} CTAs of {} bytes and {} reserved: {} too many", spec.ctas_per_sm,
                                       bytes, cta_reserve_bytes, all - max_shared_bytes_per_sm),
                  .need = fmt::format("at most {} bytes (228 KiB) an SM", max_shared_bytes_per_sm),
                  .legal = fmt::format("ctas_per_sm = {}, or {}", ctas, smaller(spec)),
                  .source = capability_source});
}

void check_threads(const KernelSpec& spec, Violations& violations) {
  const auto all = threads(spec) * spec.ctas_per_sm;
  if (spec.ctas_per_sm < 2 || all <= max_threads_per_sm) return;
  violations.add({.rule = "threads.sm",
                  .subject = "ctas_per_sm",
                  .found = fmt::format("{} CTAs of {} threads: {}", spec.ctas_per_sm, threads(spec), all),
                  .need = fmt::format("at most {} threads an SM", max_threads_per_sm),
                  .legal = fmt::format("ctas_per_sm = {}", std::max(max_threads_per_sm / threads(spec), 1U)),
                  .source = capability_source});
}

void check_transaction(const KernelSpec& spec, Violations& violations) {
  const auto bytes = stage_transaction_bytes(spec);
  if (bytes <= max_transaction_bytes) return;
  violations.add({.rule = "stage.transaction-bytes",
                  .subject = "tile",
                  .found = fmt::format("{} bytes loaded a stage", bytes),
                  .need = "less than 2^20 bytes on one mbarrier",
                  .legal = "a smaller tile",
                  .source = "PTX ISA, mbarrier, tx-count"});
}

}  // namespace

void check_budget(const KernelSpec& spec, Violations& violations) {
  if (!has_operands(spec)) return;
  const auto bytes = shared_layout(spec).bytes;
  check_cta(spec, bytes, violations);
  check_sm(spec, bytes, violations);
  check_threads(spec, violations);
  check_transaction(spec, violations);
}

TMAJIT_END
