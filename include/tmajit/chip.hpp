#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// What the parts of a kernel cost on a chip: the constants of the cost model (docs/model.md), which
/// tools/bench/movement/fit.py fits to measurements.
struct Costs {
  double launch_us = 0.9;         ///< of a kernel node in a graph: what no other launch hides
  double of_peak = 0.9285;        ///< the part of the driver's copy's speed that kernels reach at best
  double cached = 1.515;          ///< how much faster it is where both sides fit the L2 cache, less 1
  double read_beside = 0.1319;    ///< of a byte of a sector that is read beside a piece, in bytes
  double written_beside = 2.621;  ///< of one that is written, likewise
  double read_run = 16.41;        ///< of a piece that is read, in bytes
  double written_run = 5.806;     ///< of one that is written, likewise
  double cached_bytes = 24e6;     ///< of both sides, up to which the L2 cache keeps them all ...
  double uncached_bytes = 64e6;   ///< ... and from which on it keeps nothing
  double crowding = 0.05121;      ///< of each doubling of the bytes in flight beyond ..., a part of the time
  double crowded_bytes = 65536;   ///< ... so many an SM: DRAM turns pages too often
  double starving = 0.2;          ///< of each halving of the bytes in flight below ..., likewise
  double starved_bytes = 32768;   ///< ... so many an SM: the memory waits
  double instructions_per_us = 220e3;  ///< of threads, that an SM issues
  double occupancy = 6.048;            ///< warps of an SM that issue half as fast as all that fit
  double line = 2;            ///< of a line of memory that a warp's access meets, in instructions of a thread
  double thread = 10.36;      ///< of a thread's start and end, likewise
  double latency_us = 1.493;  ///< of a CTA: from its start to its end, without ...
  double round_us = 0.2052;   ///< ... each wait of a thread for loads,
  double pass_us = 0.2287;    ///< ... each vector that it takes from shared memory,
  double engine_us = 0.04623;      ///< ... and what the copy engine adds
  double unloaded = 0.6;           ///< the part of these that a CTA takes where nothing else loads the memory
  double sm_bytes_per_us = 72400;  ///< that an SM moves, reads and writes together
  double last_wave = 0.08;         ///< the part of the last wave's empty places that costs time
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
