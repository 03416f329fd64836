#pragma once

#include <tmajit/version.hpp>

TMAJIT_BEGIN

/// What the threads of a kernel do, counted over all of them; or what one of each costs, in instructions of a
/// thread. docs/model.md says how families count.
struct Work {
  double load = 0;          ///< of a line of a block
  double word = 0;          ///< 4 bytes of such a line that are shifted into place
  double permute = 0;       ///< 4 bytes whose elements change places in registers
  double block = 0;         ///< a block, whose place is computed
  double vector = 0;        ///< that is stored as it is
  double shift = 0;         ///< 4 bytes of a vector that are shifted into place before they are stored
  double end = 0;           ///< an element at a row's end, which is stored by itself while its warp waits
  double flat_load = 0;     ///< an element or short word that a thread loads into a flat tile ...
  double flat_word = 0;     ///< ... each word of the destination that is stored from it ...
  double flat_line = 0;     ///< ... each line of memory that such a load of a warp meets ...
  double flat_entry = 0;    ///< ... and each division that an entry of its tables of offsets takes
  double linear_word = 0;   ///< a word of a destination that threads go along ...
  double linear_digit = 0;  ///< ... each time that its number, or that of one of its elements, is divided ...
  double linear_element = 0;  ///< ... and each element that a thread loads into it by itself
  double linear_line = 0;     ///< ... and each line of memory that such a load of a warp meets
  double image_unit = 0;      ///< 16 bytes that threads copy to shared memory
  double chunk = 0;           ///< some elements of a row that a thread does at a time ...
  double element = 0;         ///< ... and each that is loaded or stored by itself
  double image_chunk = 0;     ///< likewise, with a source in shared memory
  double thread = 0;          ///< that is started
};

/// Bytes of one side's memory that a move meets.
struct PredictedTraffic {
  double bytes = 0;   ///< of elements, each once
  double beside = 0;  ///< of sectors of 32 bytes that a tile's pieces begin or end in, without their elements
  double runs = 0;    ///< pieces of memory that tiles consist of
};

/// What the cost model makes of a kernel: how long a launch takes, and what that comes from. All 0 for a tile
/// of the caller's choice.
struct Prediction {
  double us = 0;          ///< microseconds of a launch
  double memory_us = 0;   ///< of them the memory's, were it all that counts
  double issue_us = 0;    ///< the threads' instructions, likewise
  double sm_us = 0;       ///< moving an SM's share of the bytes, likewise
  double latency_us = 0;  ///< waiting for memory and each other, likewise
  PredictedTraffic read{};
  PredictedTraffic written{};
  Work work{};
  double ctas = 0;
  double waves = 0;        ///< CTAs over those that all SMs hold at once
  double uneven = 1;       ///< CTAs of the SM that has most, over those that each has in the mean
  double warps = 0;        ///< that an SM holds at once
  double rounds = 0;       ///< times that a thread waits for loads
  double passes = 0;       ///< vectors that a thread takes from shared memory, one after the other
  double in_flight = 0;    ///< bytes of loads that an SM waits for at once
  bool by_engine = false;  ///< the copy engine loads
};

TMAJIT_END
