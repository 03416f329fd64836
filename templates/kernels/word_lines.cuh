// Moves between a contiguous tensor and lines of another tensor, by words that have elements of several lines.
//
// The contiguous tensor's last dimension is short, and each of its elements is in another line of the other tensor.
//
//   lines --neighbours of each line--> a word of each thread --shared memory of a warp--> contiguous tensor, or the reverse
//
// A word has all elements of the last dimension for several columns, which are neighbours along the lines. The words of a warp are
// neighbours in the contiguous tensor: exchanged in shared memory, they are accessed by 16 bytes a lane.
//@ # Facts of the kernel: rank, threads, turns, Offset, Plan, Words, lines, columns, Lines, piece_bytes and those of loaded_word.cuh.
#pragma once
#include "tmajit/loaded_word.cuh"
#include "tmajit/word_places.cuh"

namespace tmajit {

using Element = Destination::Element;

constexpr u32 warp_words = 32;
constexpr u32 warp_bytes = warp_words * word_bytes;
constexpr u32 pieces = word_bytes / piece_bytes;  // of a word: what a thread accesses in shared memory at once
constexpr u32 pitch = pieces | 1;                 // of words in the image: if it is odd, the lanes of a warp access different banks

// ---- lines ----

// Accesses the elements of a word one by one. `at` has the offsets of its columns.
struct AnyLines {
  static __device__ __forceinline__ void load(Word& word, u32 line, const Element* from, const Offset (&at)[columns]) {
#pragma unroll
    for (u32 k = 0; k < columns; ++k) word.set(k * lines + line, from[at[k]]);
  }
  static __device__ __forceinline__ void store(const Word& word, u32 line, Element* to, const Offset (&at)[columns]) {
#pragma unroll
    for (u32 k = 0; k < columns; ++k) to[at[k]] = word.get(k * lines + line);
  }
};

// The elements of a line that a word has, as one vector.
using LineVector = Raw<element_bytes, columns>;

// Stores the elements of a line as one vector, to an address that is a multiple of its size.
__device__ __forceinline__ void store_vector(const Word& word, u32 line, Element* to) {
  LineVector stored = {};
#pragma unroll
  for (u32 k = 0; k < columns; ++k) stored.set(k, word.get(k * lines + line));
  store_raw<columns * element_bytes>(reinterpret_cast<u8*>(to), stored);
}

// The columns of a word are neighbours in memory, and aligned.
struct LinesOfVectors {
  static __device__ __forceinline__ void load(Word& word, u32 line, const Element* from, const Offset (&at)[columns]) {
    LineVector loaded;
    load_words<columns * element_bytes>(loaded.word, reinterpret_cast<const u8*>(from + at[0]));
#pragma unroll
    for (u32 k = 0; k < columns; ++k) word.set(k * lines + line, loaded.get(k));
  }
  static __device__ __forceinline__ void store(const Word& word, u32 line, Element* to, const Offset (&at)[columns]) {
    store_vector(word, line, to + at[0]);
  }
};

// ---- the contiguous tensor ----

// The words of a warp in shared memory.
struct alignas(16) WarpImage {
  u8 bytes[warp_words * pitch * piece_bytes];

  // The bytes of the lane's word.
  __device__ __forceinline__ u8* own() { return bytes + threadIdx.x % 32 * pitch * piece_bytes; }
  // The bytes that are `at` bytes after the first word's beginning.
  __device__ __forceinline__ u8* from(u32 at) { return bytes + at + at / word_bytes * (pitch - pieces) * piece_bytes; }
};

__device__ __forceinline__ void copy_piece(u8* to, const u8* from) {
  using Piece = typename Bits<piece_bytes>::Type;
  *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
}

// Stores the words of a warp, which fill `end` bytes.
__device__ __forceinline__ void store_together(WarpImage& image, u8* to, const Word& word, u32 end) {
  store_raw<piece_bytes>(image.own(), word);
  __syncwarp();
  if (end == warp_bytes) {
#pragma unroll
    for (u32 at = threadIdx.x % 32 * 16; at < warp_bytes; at += 32 * 16) store16(to + at, load16(image.from(at)));
  } else {
#pragma unroll 1
    for (u32 at = threadIdx.x % 32 * piece_bytes; at < end; at += 32 * piece_bytes) copy_piece(to + at, image.from(at));
  }
  __syncwarp();
}

// Loads the words of a warp, which fill `end` bytes, into its image.
__device__ __forceinline__ void load_together(WarpImage& image, const u8* from, u32 end) {
  if (end == warp_bytes) {
#pragma unroll
    for (u32 at = threadIdx.x % 32 * 16; at < warp_bytes; at += 32 * 16) store16(image.from(at), load16(from + at));
  } else {
#pragma unroll 1
    for (u32 at = threadIdx.x % 32 * piece_bytes; at < end; at += 32 * piece_bytes) copy_piece(image.from(at), from + at);
  }
}

// ---- moves ----

__device__ __forceinline__ Offset line_step(const Plan& plan) {
  return static_cast<Offset>(plan.digit[row + 1].stride[0]);
}

// The offset in the lines of an element of the contiguous tensor.
__device__ __forceinline__ Offset offset_in_lines(const Plan& plan, u32 n) {
  const Index index = index_of(plan, n / lines);
  Offset offset = static_cast<Offset>(n % lines) * line_step(plan);
#pragma unroll
  for (u32 d = 0; d <= row; ++d) offset += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].stride[0]);
  return offset;
}

// The words of a thread and of its warp in one turn.
struct Turn {
  u32 own;       // the thread's word, or the last of all
  bool exists;   // whether the thread has a word
  u32 first;     // word of the warp
  u32 bytes;     // of the warp's words

  __device__ __forceinline__ Turn(u32 turn, u32 words) {
    const u32 word = (blockIdx.x * turns + turn) * threads + threadIdx.x;
    own = least(word, words - 1);
    exists = word < words;
    first = word - threadIdx.x % 32;
    bytes = first < words ? least(words - first, warp_words) * word_bytes : 0;
  }
};

// From lines to a contiguous destination.
__device__ __forceinline__ void gather_lines(const Plan& plan) {
  __shared__ WarpImage images[threads / 32];
  const auto* source = reinterpret_cast<const Element*>(static_cast<const u8*>(plan.source[0]));
  auto* const destination = reinterpret_cast<Element*>(static_cast<u8*>(plan.destination));
  const u32 words = plan.elements / word_elements;
  Word word[turns] = {};
#pragma unroll
  for (u32 n = 0; n < turns; ++n) {
    const Places places = Words::places(plan, Turn(n, words).own * columns);
#pragma unroll
    for (u32 line = 0; line < lines; ++line) Lines::load(word[n], line, source + static_cast<Offset>(line) * line_step(plan), places.at[0]);
  }
#pragma unroll
  for (u32 n = 0; n < turns; ++n) {
    const Turn turn(n, words);
    store_together(images[threadIdx.x / 32], static_cast<u8*>(plan.destination) + static_cast<u64>(turn.first) * word_bytes, word[n], turn.bytes);
  }
  // The elements after the last word.
  if (blockIdx.x > 0) return;
#pragma unroll 1
  for (u32 n = words * word_elements + threadIdx.x; n < plan.elements; n += threads) destination[n] = source[offset_in_lines(plan, n)];
}

// From a contiguous source to lines.
__device__ __forceinline__ void scatter_lines(const Plan& plan) {
  __shared__ WarpImage images[turns][threads / 32];
  const auto* source = reinterpret_cast<const Element*>(static_cast<const u8*>(plan.source[0]));
  auto* const destination = reinterpret_cast<Element*>(static_cast<u8*>(plan.destination));
  const u32 words = plan.elements / word_elements;
#pragma unroll
  for (u32 n = 0; n < turns; ++n) {
    const Turn turn(n, words);
    load_together(images[n][threadIdx.x / 32], static_cast<const u8*>(plan.source[0]) + static_cast<u64>(turn.first) * word_bytes, turn.bytes);
  }
  __syncwarp();
#pragma unroll
  for (u32 n = 0; n < turns; ++n) {
    const Turn turn(n, words);
    if (!turn.exists) continue;
    Word word;
    load_words<piece_bytes>(word.word, images[n][threadIdx.x / 32].own());
    const Places places = Words::places(plan, turn.own * columns);
#pragma unroll
    for (u32 line = 0; line < lines; ++line) Lines::store(word, line, destination + static_cast<Offset>(line) * line_step(plan), places.at[0]);
  }
  if (blockIdx.x > 0) return;
#pragma unroll 1
  for (u32 n = words * word_elements + threadIdx.x; n < plan.elements; n += threads) destination[offset_in_lines(plan, n)] = source[n];
}

}  // namespace tmajit
