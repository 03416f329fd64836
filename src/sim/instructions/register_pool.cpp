/// setmaxnreg: a warp gives registers to the CTA's pool or takes them from it (PTX ISA 9.7.19.5).
#include "sim/cta/warpgroup.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

// The number of registers must be in this range.
constexpr std::uint32_t min_setting = 24;
constexpr std::uint32_t max_setting = 256;

/// setmaxnreg. a: 1 for .inc, 0 for .dec; aux: the new number of registers of a thread.
void set_registers(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  Cta& cta = *warp.cta;
  const std::uint32_t lane = first_lane(mask);
  const bool increases = op.a == 1;
  const std::uint32_t count = op.aux;
  if (count < min_setting || count > max_setting || count % 8 != 0) {
    warp.fail(lane, "setmaxnreg.value", fmt::format("setmaxnreg to {} registers", count));
  }
  if (warp.registers_each == 0) return;
  if (increases ? count < warp.registers_each : count > warp.registers_each) {
    warp.fail(lane, "setmaxnreg.value",
              fmt::format("setmaxnreg.{} to {} registers by a warp whose threads have {}",
                          increases ? "inc" : "dec", count, warp.registers_each),
              increases ? "at least as many as the threads have" : "at most as many as the threads have");
  }
  if (increases && count - warp.registers_each > cta.free_registers) {
    warp.park(mask, warp.here(), {Wait::Kind::registers, count, 0});
    return;
  }
  WarpgroupState& state = warpgroup_of(warp);
  state.last_setting = warp.location();
  const std::uint32_t setting = count << 1 | op.a;
  const std::uint32_t first = warp.index / warps_of_group * warps_of_group;
  for (std::uint32_t i = first; i < std::min<std::size_t>(first + warps_of_group, cta.warps.size()); ++i) {
    const auto& others = cta.warps[i]->warpgroup;
    const std::size_t number = state.settings.size();
    if (!others || others->settings.size() <= number || others->settings[number] == setting) continue;
    warp.report(lane, "setmaxnreg.warpgroup",
                fmt::format("warp {} sets {} registers, warp {} of its warpgroup {}", warp.index, count, i,
                            others->settings[number] >> 1));
  }
  state.settings.push_back(setting);
  cta.free_registers += warp.registers_each;
  cta.free_registers -= count;
  warp.registers_each = count;
  ++cta.changes;
  if (increases) return;
  for (auto& each : cta.warps)
    each->wake([](const Wait& wait) { return wait.kind == Wait::Kind::registers; });
}

void select_setmaxnreg(Decoder& d) {
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(d.literal(d.arg(0)), ~0U));
  std::uint32_t& max_increase = d.program().max_increase;
  if (d.has("inc")) max_increase = std::max(max_increase, count);
  d.emit(&set_registers, 0, d.has("inc") ? 1 : 0, 0, 0, count);
}

constexpr Selector register_pool_table[] = {{Opcode::setmaxnreg, &select_setmaxnreg}};

}  // namespace

constinit const Selectors register_pool_selectors = register_pool_table;

}  // namespace sim
TMAJIT_END
