#pragma once

#include <tmajit/prediction.hpp>

TMAJIT_BEGIN

// The numbers of the cost model, in the order of docs/model.md. tools/bench/movement/fit.py reads them from
// this file and writes those that fit measurements best.

struct CostConstants {
  double launch_us;        ///< of a kernel node in a graph: what no other launch hides
  double of_peak;          ///< the part of the driver's copy's speed that kernels reach at best
  double cached;           ///< how much faster it is where both sides fit the L2 cache, less 1
  double read_beside;      ///< what a byte of a sector costs that is read beside a piece, in bytes
  double written_beside;   ///< likewise of one that is written
  double read_run;         ///< what a piece costs that is read, in bytes
  double written_run;      ///< likewise of one that is written
  double crowding;         ///< what each doubling of the bytes in flight beyond 64 KiB an SM costs the memory
  double occupancy;        ///< warps of an SM that issue half as fast as all that fit
  double latency_us;       ///< of a CTA: from its start to its end, without ...
  double round_us;         ///< ... each wait of a thread for loads,
  double pass_us;          ///< ... each vector that it takes from shared memory,
  double engine_us;        ///< ... and what the copy engine adds
  double unloaded;         ///< the part of these that a CTA takes where nothing else loads the memory
  double sm_bytes_per_us;  ///< that an SM moves, reads and writes together
  double last_wave;        ///< the part of the last wave's empty places that costs time
};

constexpr CostConstants cost{
    .launch_us = 0.9,
    .of_peak = 0.9978,
    .cached = 1.515,
    .read_beside = 0.179,
    .written_beside = 2.607,
    .read_run = 4.958,
    .written_run = 3.623,
    .crowding = 0.07138,
    .occupancy = 1.852,
    .latency_us = 1.493,
    .round_us = 0.2052,
    .pass_us = 0.2287,
    .engine_us = 0.04623,
    .unloaded = 0.6,
    .sm_bytes_per_us = 7.24e+04,
    .last_wave = 0.1025,
};

/// Instructions of a thread.
constexpr Work work_cost{
    .load = 0.8616,
    .word = 6.651,
    .permute = 0.4091,
    .block = 9.298,
    .vector = 3.041,
    .shift = 23.67,
    .end = 16.34,
    .picked = 34.33,
    .pick = 9.374,
    .picked_word = 12,
    .wavefront = 3,
    .line_unit = 40,
    .entry = 40,
    .image_unit = 13.81,
    .chunk = 160.7,
    .element = 7.928,
    .image_chunk = 110,
    .thread = 10.36,
};

TMAJIT_END
