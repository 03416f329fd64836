// Moves a contiguous destination from short runs of a source: each element of a run goes to another line of the destination.
//
//   a run for each of several columns --vectors--> a word of a thread --neighbouring columns side by side--> lines of the destination
//
// Threads take columns in the destination's order, so that a warp stores neighbours in each line. Runs that share a sector with others
// find it in the L1 cache.
//@ # Facts of the kernel: those of word_lines.cuh except Lines and piece_bytes, with one turn; Runs and run_bytes.
#pragma once
#include "tmajit/word_lines.cuh"

namespace tmajit {

// Loads the run of column k of a word by vectors of `run_bytes`.
struct RunsOfVectors {
  static __device__ __forceinline__ void load(Word& word, u32 k, const Element* from) {
    Raw<element_bytes, lines> run;
    load_words<run_bytes>(run.word, reinterpret_cast<const u8*>(from));
#pragma unroll
    for (u32 line = 0; line < lines; ++line) word.set(k * lines + line, run.get(line));
  }
};
// Loads it element by element.
struct AnyRuns {
  static __device__ __forceinline__ void load(Word& word, u32 k, const Element* from) {
#pragma unroll
    for (u32 line = 0; line < lines; ++line) word.set(k * lines + line, from[line]);
  }
};

// Each thread moves one word.
__device__ __forceinline__ void spread_runs(const Plan& plan) {
  const auto* source = reinterpret_cast<const Element*>(static_cast<const u8*>(plan.source[0]));
  auto* const destination = reinterpret_cast<Element*>(static_cast<u8*>(plan.destination));
  const u32 words = plan.elements / word_elements;
  const Turn turn(0, words);
  const Places places = Words::places(plan, turn.own * columns);
  Word word = {};
#pragma unroll
  for (u32 k = 0; k < columns; ++k) Runs::load(word, k, source + places.at[0][k]);
  if (!turn.exists) return;
  // The lines that follow each other in the destination are a block; a column is in one block.
  u32 block = turn.own * columns;
  const Offset in_line = static_cast<Offset>(take(plan.digit[row + 1].count, block));
  Element* to = destination + static_cast<Offset>(block) * static_cast<Offset>(lines) * line_step(plan) + in_line;
#pragma unroll
  for (u32 line = 0; line < lines; ++line) store_vector(word, line, to + static_cast<Offset>(line) * line_step(plan));
}

}  // namespace tmajit
