#pragma once

#include <tmajit/version.hpp>

TMAJIT_BEGIN

/// Bytes of memory that a move touches on one side.
struct PredictedTraffic {
  double bytes = 0;   ///< bytes of elements, each once
  double beside = 0;  ///< bytes of sectors of 32 bytes that pieces begin or end in, without their elements
  double runs = 0;    ///< pieces of memory
};

/// The cost model's estimate for a kernel: the time of a launch, and its causes. All 0 for a tile of the
/// caller's choice.
struct Prediction {
  double us = 0;            ///< microseconds of a launch
  double memory_us = 0;     ///< time of the memory traffic, as if it alone limited
  double issue_us = 0;      ///< time of the threads' instructions, as if they alone limited
  double sm_us = 0;         ///< time of an SM's share of the bytes, as if it alone limited
  double latency_us = 0;    ///< time of waits for memory and for other threads, as if they alone limited
  PredictedTraffic read{};  ///< traffic of tiles
  PredictedTraffic written{};
  PredictedTraffic read_kept{};  ///< traffic of as many tiles at a time as the L2 cache keeps the bytes of
  PredictedTraffic written_kept{};
  double instructions = 0;  ///< instructions of all threads together
  double lines = 0;         ///< lines of memory that the accesses of all warps touch
  double ctas = 0;
  double waves = 0;       ///< CTAs over those that all SMs hold at once
  double uneven = 1;      ///< CTAs of the SM that has most, over the mean
  double warps = 0;       ///< warps that an SM holds at once, at most as many as it has in all
  double rounds = 0;      ///< times that a thread waits for loads
  double waits = 0;       ///< times that a thread waits for memory while no other work hides it
  double last_waits = 0;  ///< waits of the last CTA when all others have ended
  double passes = 0;      ///< vectors that a thread takes from shared memory, one after the other
  double in_flight = 0;   ///< bytes of loads that an SM waits for at once
};

TMAJIT_END
