/// Instructions on addresses (PTX ISA 9.7.9): conversion between state spaces and between the CTAs of a
/// cluster (cvta, mapa), queries (isspacep, getctarank), cache policies (createpolicy).
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <functional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// isspacep. aux: the space; c: 1 if only the shared memory of the thread's own CTA counts (.shared::cta).
void is_space(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto address = get<std::uint64_t>(warp.registers + op.a, lane);
    std::uint64_t offset = address;
    const bool is = take_space(offset) == static_cast<Space>(op.aux) &&
                    !(op.c != 0 && warp.cta->is_peer_address(address, Space::generic));
    write_lane(warp, op.d, lane, is);
  });
}

/// mapa. d: the address of the CTA with rank b that corresponds to address a; T is their type.
template <typename T>
void map_address(Warp& warp, const MicroOp& op, Mask mask) {
  const std::uint32_t size = warp.cta->cluster.size();
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto rank = get<std::uint32_t>(warp.registers + op.b, lane);
    if (rank >= size) {
      warp.fail(lane, "shared.cluster-rank", fmt::format("mapa to the CTA with rank {}", rank),
                fmt::format("a rank below %cluster_nctarank, which is {}", size));
    }
    put(warp.registers + op.d, lane, static_cast<T>(map_to_rank(get<T>(warp.registers + op.a, lane), rank)));
  });
}

/// getctarank. d: the rank of the CTA that address a names; T is the type of a.
template <typename T>
void rank_of(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto rank_plus_1 =
        static_cast<std::uint32_t>(get<T>(warp.registers + op.a, lane) >> rank_shift & 0xff);
    put(warp.registers + op.d, lane, rank_plus_1 == 0 ? warp.cta->rank : rank_plus_1 - 1);
  });
}

/// cvta adds the begin of the space's window to an address, cvta.to subtracts it.
void select_cvta(Decoder& d) {
  const std::uint64_t window = window_of(d.space());
  const Slot a = d.read(1, ScalarType::u64);
  d.emit(uniform<std::plus<>{}, std::uint64_t, 2>, d.write(0, ScalarType::u64), a,
         d.constant(d.instruction().opcode == Opcode::cvta_to ? 0 - window : window, true));
}

void select_isspacep(Decoder& d) {
  const Space space = d.space();
  if (space == Space::generic) d.unsupported();
  const Slot address = d.read(1, ScalarType::u64);
  d.emit(&is_space, d.write(0, ScalarType::pred), address, 0,
         space == Space::shared && !d.has("shared::cluster") ? 1 : 0, static_cast<std::uint32_t>(space));
}

void select_mapa(Decoder& d) {
  const ScalarType t = d.type();
  d.emit_as(is_wide(t) ? &map_address<std::uint64_t> : &map_address<std::uint32_t>, {t, t, ScalarType::u32});
}

void select_getctarank(Decoder& d) {
  const ScalarType t = d.type();
  d.emit_as(is_wide(t) ? &rank_of<std::uint64_t> : &rank_of<std::uint32_t>, {ScalarType::u32, t});
}

/// The simulator has no caches, so a cache policy has no effect: every policy is 0.
void select_createpolicy(Decoder& d) {
  d.emit(uniform<identity, std::uint64_t, 1>, d.write(0, ScalarType::b64), d.constant(0, true));
}

constexpr Selector address_table[] = {
    {Opcode::createpolicy_range, &select_createpolicy},
    {Opcode::createpolicy_fractional, &select_createpolicy},
    {Opcode::createpolicy_cvt, &select_createpolicy},
    {Opcode::isspacep, &select_isspacep},
    {Opcode::cvta, &select_cvta},
    {Opcode::cvta_to, &select_cvta},
    {Opcode::mapa, &select_mapa},
    {Opcode::getctarank, &select_getctarank},
};

}  // namespace

constinit const Selectors address_selectors = address_table;

}  // namespace sim
TMAJIT_END
