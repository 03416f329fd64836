#include "sim/cta/warpgroup.hpp"

#include "sim/undefined/undefined.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Limits of an SM of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
constexpr std::uint32_t sm_registers = 64 * 1024;
constexpr std::uint32_t warps_of_sm = 64;
/// An SM has four partitions. Each has a quarter of the registers and of the warps.
constexpr std::uint32_t partitions_of_sm = 4;
constexpr std::uint32_t min_thread_registers = 24;
constexpr std::uint32_t max_thread_registers = 255;

/// Reports the warpgroup whose first warp is `first` if one of its warps has executed an instruction less
/// often than another warp and satisfies `may_lag`. Returns false if there is no such warp. `log` is the list
/// of executions (products or settings), `instruction` the instruction's name.
template <typename MayLag>
bool report_lag(Cta& cta, std::size_t first, std::vector<std::uint32_t> WarpgroupState::*log,
                check::RuleId rule, const char* instruction, const MayLag& may_lag) {
  const std::size_t end = std::min(first + warps_of_group, cta.warps.size());
  const Warp* longest = nullptr;
  const Warp* shortest = nullptr;
  const auto length = [&](const Warp& warp) {
    return warp.warpgroup ? ((*warp.warpgroup).*log).size() : std::size_t{0};
  };
  for (std::size_t i = first; i < end; ++i) {
    const Warp& warp = *cta.warps[i];
    if (longest == nullptr || length(warp) > length(*longest)) longest = &warp;
    if ((shortest == nullptr || length(warp) < length(*shortest)) && may_lag(warp)) shortest = &warp;
  }
  if (shortest == nullptr || length(*longest) == length(*shortest)) return false;
  const WarpgroupState& state = *longest->warpgroup;
  const std::uint32_t location =
      log == &WarpgroupState::products ? state.products[length(*shortest)] : state.last_setting;
  cta.report(longest->thread(0), location, rule,
             fmt::format("warp {} executes {} {}, warp {} of its warpgroup {}", longest->index,
                         length(*longest), instruction, shortest->index, length(*shortest)));
  return true;
}

template <typename MayLag>
bool report_lags(Cta& cta, const MayLag& may_lag) {
  bool found = false;
  for (std::size_t first = 0; first < cta.warps.size(); first += warps_of_group) {
    found |= report_lag(cta, first, &WarpgroupState::products, "wgmma.warpgroup", "wgmma.mma_async", may_lag);
    found |= report_lag(cta, first, &WarpgroupState::settings, "setmaxnreg.warpgroup", "setmaxnreg", may_lag);
  }
  return found;
}

/// The location of the first wgmma.wait_group after `location`; nothing if a product comes before it.
std::optional<std::uint32_t> next_wait_group(const Program& program, std::uint32_t location) {
  for (std::uint32_t at = location + 1; at < program.locations.size(); ++at) {
    const std::string& shown = program.locations[at].text;
    if (shown.find("wgmma.wait_group") != std::string::npos) return at;
    if (shown.find("wgmma.mma_async") != std::string::npos) return std::nullopt;
  }
  return std::nullopt;
}

/// Reports an access at `location` to a register that products in flight use.
void report_in_flight(Warp& warp, std::uint32_t lane, std::uint32_t location, std::uint32_t watched) {
  const Program& program = *warp.program;
  const check::RuleId rule("wgmma.register-in-flight");
  if (warp.cta->launch.reports.count_repeat(rule->id, program.locations[location].line)) return;
  const auto& pending = warp.warpgroup->pending;
  const auto uses = [&](const PendingProduct& each) {
    return std::ranges::find(each.product->registers, watched) != each.product->registers.end();
  };
  const auto product = std::ranges::find_if(pending, uses);
  if (product == pending.end()) {
    warp.cta->report(warp.thread(lane), location, rule,
                     "an access to a register that a wgmma.mma_async in flight uses");
    return;
  }
  const std::uint32_t line = program.locations[product->location].line;
  const bool committed = product->group < warp.warpgroup->group;
  std::string found = fmt::format(
      "no wgmma.wait_group covers the product at PTX line {} before this access to a register of it{}", line,
      committed ? "" : "; no wgmma.commit_group has closed its group");
  std::string remedy;
  if (const auto wait = committed ? next_wait_group(program, location) : std::nullopt) {
    found += fmt::format("; the next wait comes after it, at PTX line {}", program.locations[*wait].line);
    remedy = check::moved_before_wait;
  }
  warp.cta->report(warp.thread(lane), location, rule, std::move(found), {}, remedy,
                   About(product->location, product_cause(program, product->location)));
}

}  // namespace

std::string product_cause(const Program& program, std::uint32_t location) {
  return fmt::format("*products in segment {}", program.locations[location].segment);
}

Warp::Warp() = default;
Warp::~Warp() = default;

MatrixDescriptor::MatrixDescriptor(std::uint64_t bits) noexcept {
  const auto field = [&](std::uint32_t at) { return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4; };
  constexpr std::uint32_t widths[] = {16, 128, 64, 32};
  start = field(0);
  leading = field(16);
  stride = field(32);
  base = static_cast<std::uint32_t>(bits >> 49 & 7);
  row_bytes = widths[bits >> 62];
}

std::uint32_t MatrixDescriptor::swizzled(std::uint32_t address) const noexcept {
  // The base offset moves the start of the pattern, as measured on an H200 (docs/tma.md).
  return address ^ (((address >> 7) - base) & (row_bytes / 16 - 1)) << 4;
}

std::uint32_t MatrixDescriptor::by_rows(std::uint32_t row, std::uint32_t chunk) const noexcept {
  const std::uint32_t step = row_bytes == 16 ? leading : 16;
  return swizzled(start + row / 8 * stride + row % 8 * row_bytes + chunk * step);
}

std::uint32_t MatrixDescriptor::by_columns(std::uint32_t chunk, std::uint32_t k) const noexcept {
  const std::uint32_t column = k % 8 * row_bytes;
  if (row_bytes == 16) return start + chunk * stride + column + k / 8 * leading;
  const std::uint32_t chunks = row_bytes / 16;
  return swizzled(start + chunk / chunks * leading + chunk % chunks * 16 + column + k / 8 * stride);
}

Swizzle MatrixDescriptor::swizzle() const noexcept {
  return static_cast<Swizzle>(std::countr_zero(row_bytes / 16));
}

bool MatrixDescriptor::agrees(std::uint32_t address, Swizzle loaded) const noexcept {
  // Both swizzles permute 16-byte chunks depending on the address alone. They agree at addresses where the
  // permutations are equal, as in the first row of a pattern.
  const std::uint32_t row = address >> 7;
  return ((row & (row_bytes / 16 - 1)) == (row & ((1U << static_cast<std::uint32_t>(loaded)) - 1)));
}

WarpgroupState& warpgroup_of(Warp& warp) {
  if (!warp.warpgroup) warp.warpgroup = std::make_unique<WarpgroupState>(warp.program->watched);
  return *warp.warpgroup;
}

void watch_registers(Warp& warp, Mask mask) {
  WarpgroupState& state = warpgroup_of(warp);
  const Program& program = *warp.program;
  for (std::uint32_t i = program.watch_begin[warp.pc]; i < program.watch_begin[warp.pc + 1]; ++i) {
    const std::uint32_t reg = program.watches[i] / 2;
    // An odd entry is a mov or setp, which compilers move freely, even across a fence in the source.
    if (program.watches[i] % 2 == 0) state.touched[reg] = true;
    if (state.in_flight[reg] == 0) continue;
    report_in_flight(warp, first_lane(mask), program.location_of[warp.pc], reg);
  }
}

void finish_warpgroups(Cta& cta) {
  for (const auto& warp : cta.warps) {
    if (!warp->warpgroup || warp->warpgroup->pending.empty()) continue;
    const PendingProduct& first = warp->warpgroup->pending.front();
    cta.report(warp->thread(0), first.location, "exit.wgmma-in-flight",
               "the CTA ends while a wgmma.mma_async may still read its shared memory");
  }
  (void)report_lags(cta, [](const Warp&) { return true; });
}

bool report_lagging_warps(Cta& cta) {
  // A warp that waits for an mbarrier or for registers may catch up later.
  const auto may_lag = [](const Warp& warp) {
    return std::ranges::none_of(warp.groups, [](const Group& group) {
      return group.wait.kind == Wait::Kind::mbarrier || group.wait.kind == Wait::Kind::registers;
    });
  };
  return report_lags(cta, may_lag);
}

// Measured with ptxas 13.0 (sm_90a) for all .maxntid and .minnctapersm, and for .maxnreg. A kernel needs
// .maxnreg, or both .maxntid and .minnctapersm. A thread gets the largest value of a setmaxnreg.inc, but at
// most .maxnreg and its share of the SM's registers.
std::uint32_t registers_at_launch(const Program& program) {
  std::uint32_t registers = program.max_registers;
  const std::uint64_t warps = std::uint64_t{(program.max_threads + lanes - 1) / lanes} * program.min_ctas;
  if (program.bounds_threads && warps != 0 && warps <= warps_of_sm) {
    const auto warps_of_partition =
        static_cast<std::uint32_t>(warps + partitions_of_sm - 1) / partitions_of_sm;
    const std::uint32_t share = sm_registers / partitions_of_sm / lanes / warps_of_partition / 8 * 8;
    if (share > min_thread_registers) registers = registers == 0 ? share : std::min(registers, share);
  }
  if (registers == 0) return 0;
  registers = std::clamp(registers, min_thread_registers, max_thread_registers);
  if (program.max_increase != 0) registers = std::min(registers, program.max_increase);
  // Registers are allocated in multiples of 8.
  return (registers + 7) / 8 * 8;
}

}  // namespace sim
TMAJIT_END
