/// Special registers that change while a kernel runs (PTX ISA 10, "%clock" …). Time is the number of
/// instructions that the CTA has executed, so that runs repeat: one a cycle, one a nanosecond.
#include "sim/cta.hpp"
#include "sim/decode.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

template <std::uint32_t shift>
void read_clock(Warp& warp, const MicroOp& op, Mask mask) {
  const std::uint64_t now = warp.cta->tick();
  for_lanes(mask, [&](std::uint32_t lane) {
    if constexpr (shift == 64) {
      put(warp.registers + op.d, lane, now);
    } else {
      put(warp.registers + op.d, lane, static_cast<std::uint32_t>(now >> shift));
    }
  });
}

}  // namespace

std::optional<Arg> Decoder::convert_clock(const std::string& name) {
  const bool wide = name == "%clock64" || name == "%globaltimer";
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  if (!wide && !high && name != "%clock" && name != "%globaltimer_lo") return std::nullopt;
  Arg arg;
  arg.kind = Arg::Kind::reg;
  arg.wide = wide;
  arg.slot = temporary(wide);
  emit(wide ? &read_clock<64> : high ? &read_clock<32> : &read_clock<0>, arg.slot);
  return arg;
}

}  // namespace sim
TMAJIT_END
