#pragma once

#include <tmajit/version.hpp>

TMAJIT_BEGIN

/// Memory traffic of a kernel that reads or writes a tensor.
struct PredictedTraffic {
  double bytes = 0;   ///< bytes of elements, each once
  double unused = 0;  ///< unused bytes of the 32-byte sectors in which contiguous runs begin or end
  double pieces = 0;  ///< contiguous runs of memory
};

/// The cost model's estimate for a kernel: the time of a launch, and its causes. All 0 for a kernel whose
/// tile the caller chose.
struct Prediction {
  double us = 0;            ///< microseconds of a launch
  double memory_us = 0;     ///< time if only memory traffic limited the kernel
  double issue_us = 0;      ///< time if only the threads' instructions limited it
  double sm_us = 0;         ///< time if only an SM's share of the bytes limited it
  double latency_us = 0;    ///< time if only waits for memory and for other threads limited it
  PredictedTraffic read{};  ///< traffic if each tile is read by itself
  PredictedTraffic written{};
  PredictedTraffic read_cached{};  ///< traffic if tiles that fit the L2 cache together count as one tile
  PredictedTraffic written_cached{};
  double instructions = 0;  ///< instructions of all threads together
  double lines = 0;         ///< lines of memory that the accesses of all warps touch
  double ctas = 0;
  double waves = 0;       ///< CTAs divided by the number that all SMs hold at once
  double uneven = 1;      ///< CTAs of the busiest SM, divided by the mean
  double warps = 0;       ///< warps that are resident on an SM
  double rounds = 0;      ///< times that a thread waits for loads
  double waits = 0;       ///< times that a thread waits for memory while no other work hides it
  double last_waits = 0;  ///< waits of the last CTA after all other CTAs have ended
  double passes = 0;      ///< vectors that a thread loads from shared memory, one after the other
  double in_flight = 0;   ///< bytes of loads that an SM waits for at once
};

TMAJIT_END
