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
  double starving;         ///< what each halving below 32 KiB costs it
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
    .of_peak = 0.9285,
    .cached = 1.515,
    .read_beside = 0.1319,
    .written_beside = 2.621,
    .read_run = 16.41,
    .written_run = 5.806,
    .crowding = 0.05121,
    .starving = 0.2,
    .occupancy = 6.048,
    .latency_us = 1.493,
    .round_us = 0.2052,
    .pass_us = 0.2287,
    .engine_us = 0.04623,
    .unloaded = 0.6,
    .sm_bytes_per_us = 7.24e+04,
    .last_wave = 0.08,
};

/// Instructions of a thread.
constexpr Work work_cost{
    .load = 1.707,
    .word = 10.35,
    .permute = 0.5561,
    .block = 14.14,
    .vector = 3.286,
    .shift = 20.48,
    .end = 16.64,
    .flat_load = 2.861,
    .flat_word = 42.51,
    .flat_line = 2.939,
    .flat_entry = 40.83,
    .linear_word = 25.08,
    .linear_digit = 2.666,
    .linear_element = 5.293,
    .linear_line = 1.097,
    .image_unit = 51.91,
    .chunk = 134.2,
    .element = 1.332,
    .image_chunk = 103,
    .thread = 10.36,
};

TMAJIT_END
