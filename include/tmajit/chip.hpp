#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// The constants of the cost model for one chip (docs/model.md). tools/bench/movement/fit.py fits them to
/// measurements.
struct Costs {
  double launch_us = 0.9;         ///< microseconds that a kernel node of a graph takes beyond its work
  double of_peak = 0.9285;        ///< fraction of the driver's copy's speed that kernels reach at best
  double cached = 1.515;          ///< memory speed gained where both sides fit the L2 cache, as a fraction
  double read_beside = 0.1319;    ///< bytes that each byte counts which is read in a sector beside a piece
  double written_beside = 2.621;  ///< bytes that each byte counts which is written beside a piece
  double read_run = 16.41;        ///< bytes that each piece counts which is read
  double written_run = 5.806;     ///< bytes that each piece counts which is written
  double cached_bytes = 24e6;     ///< bytes of both sides up to which the L2 cache keeps all
  double uncached_bytes = 64e6;   ///< bytes of both sides from which on it keeps nothing
  double crowding = 0.05121;      ///< memory time added by each doubling beyond crowded_bytes, as a fraction
  double crowded_bytes = 65536;   ///< bytes in flight of an SM beyond which DRAM turns pages too often
  double starving = 0.2;          ///< memory time added by each halving below starved_bytes, as a fraction
  double starved_bytes = 32768;   ///< bytes in flight of an SM below which the memory waits
  double instructions_per_us = 220e3;  ///< instructions of threads that an SM issues in a microsecond
  double occupancy = 6.048;            ///< warps of an SM that issue half as fast as all that fit
  double line = 2;             ///< instructions that each line of memory counts which a warp's access meets
  double thread = 10.36;       ///< instructions that each thread counts for its start and end
  double latency_us = 1.493;   ///< microseconds of a CTA from its start to its end, without the next three
  double round_us = 0.2052;    ///< microseconds of each wait of a thread for loads
  double pass_us = 0.2287;     ///< microseconds of each vector that a thread takes from shared memory
  double engine_us = 0.04623;  ///< microseconds that loads by the copy engine add
  double unloaded = 0.6;       ///< fraction of these four that stays where nothing else loads the memory
  double wait_us = 0.46;       ///< microseconds of a wait for DRAM that nothing hides; half for the L2 cache
  double sm_bytes_per_us = 72400;  ///< bytes that an SM reads and writes in a microsecond
  double last_wave = 0.08;         ///< fraction of the last wave's empty places that costs time
  friend bool operator==(const Costs&, const Costs&) = default;
};

/// What planning must know of a GPU. Plain data: plans can be made for a chip that is not there.
struct Chip {
  std::string name = "NVIDIA H200";  ///< as the driver spells it; tuned choices are kept by it
  double gbps = 4260;  ///< 10⁹ bytes a second, read and written, of the driver's copy of 1 GiB
  std::uint32_t sm_count = 132;
  Costs costs = {};
  friend bool operator==(const Chip&, const Chip&) = default;
};

struct DeviceInfo;
/// The chip of a device. The simulated device counts as an H200.
[[nodiscard]] TMAJIT_API Chip chip_of(const DeviceInfo& info);

TMAJIT_END
