#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// The constants of the cost model for one chip (docs/model.md). tools/bench/movement/fit.py fits them to
/// measurements. "Both sides" means the sources and the destination together. A tile's pieces are its
/// contiguous runs of memory; bytes beside them are the unused bytes of the 32-byte sectors in which pieces
/// begin or end.
struct Costs {
  double launch_us = 0.9;           ///< microseconds that a kernel node of a graph takes beyond its work
  double peak_fraction = 1.006;     ///< best speed of kernels, as a fraction of the driver's copy's speed
  double cached = 0.09744;          ///< memory speed gained where both sides fit the L2 cache, as a fraction
  double cached_bytes = 33.5e6;     ///< bytes of both sides up to which the L2 cache keeps all
  double uncached_bytes = 49e6;     ///< bytes of both sides from which the L2 cache keeps nothing
  double cached_tile_bytes = 26e6;  ///< bytes of both sides that the L2 cache keeps of earlier tiles
  double read_unused = 0.1166;      ///< cost in bytes of each byte that a tile reads beside its pieces
  double read_piece = 16.85;        ///< cost in bytes of each piece that a tile reads
  double written_unused = 2.074;    ///< cost in bytes of each byte beside the pieces that a tile writes
  double read_unused_cached = 0.4129;     ///< read_unused, for a group of tiles that the L2 cache holds
  double read_piece_cached = 15.87;       ///< read_piece, for such a group
  double written_unused_cached = 0.8699;  ///< written_unused, for such a group
  double written_piece_cached = 32;       ///< cost in bytes of each piece that such a group writes
  double crowding = 0.02322;     ///< fraction of memory time added by each doubling beyond crowded_bytes
  double crowded_bytes = 65536;  ///< bytes in flight on an SM beyond which DRAM switches pages too often
  double instructions_per_us = 220e3;  ///< instructions of threads that an SM issues in a microsecond
  double occupancy = 3.381;            ///< warps on an SM at which it issues at half its full rate
  double line = 1.028;         ///< cost in instructions of each line of memory that a warp's access touches
  double latency_us = 0.3239;  ///< microseconds from a CTA's start to its end, without the next three costs
  double round_us = 0.8077;    ///< microseconds of each wait of a thread for loads
  double pass_us = 0.1461;     ///< microseconds of each vector that a thread takes from shared memory
  double engine_us = 0.04623;  ///< microseconds that loads by the copy engine add
  double unloaded = 0.4331;    ///< fraction of the last four costs that remains on idle memory
  double wait_us = 0.46;       ///< microseconds of a wait for DRAM that no other work hides; half for L2
  double sm_bytes_per_us = 60870;  ///< bytes that an SM reads and writes in a microsecond
  friend bool operator==(const Costs&, const Costs&) = default;
};

/// The properties of a GPU that planning needs. Plain data: plans can be made for a chip that is absent.
struct Chip {
  std::string name = "NVIDIA H200";  ///< as the driver spells it; tuned choices are stored by it
  double gbps = 4260;  ///< 10⁹ bytes a second that the driver's copy of 1 GiB reads and writes
  std::uint32_t sm_count = 132;
  Costs costs = {};
  friend bool operator==(const Chip&, const Chip&) = default;
};

struct DeviceInfo;
/// The chip of a device. The simulated device counts as an H200.
[[nodiscard]] TMAJIT_API Chip chip_of(const DeviceInfo& info);

TMAJIT_END
