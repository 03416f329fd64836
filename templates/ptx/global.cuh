// Loads and stores of vectors in global memory, each one asm statement.  PTX ISA, "ld" and "st".  PTX 2.0, sm_20.
//@ # In C++ the words of a vector are separate loads until the optimiser joins them; these functions compile faster. The loads
//@ # are not ordered with other accesses: the memory must not change while the kernel runs.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each hint from 0 to cache_hints
// 16 bytes at a multiple of 16.
__device__ __forceinline__ void load_vector16(u32 (&word)[4], const void* from$[x < hint: , CachePolicy policy]) {
  asm("ld.global$[x < hint: .L2::cache_hint].v4.b32 {%0, %1, %2, %3}, [%4]$[x < hint: , %5];"
      : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(from)$[x < hint: , "l"(policy.bits)]);
}

// 16 bytes at a multiple of 16 if `wanted`; otherwise it reads nothing, and the words are undefined.
__device__ __forceinline__ void load_vector16_if(bool wanted, u32 (&word)[4], const void* from) {
  asm("{\n\t.reg .pred wanted;\n\tsetp.ne.b32 wanted, %5, 0;\n\t"
      "@wanted ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n\t}"
      : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(from), "r"(static_cast<u32>(wanted)));
}

// 16 bytes at a multiple of 8.
__device__ __forceinline__ void load_vector16_by_8(u32 (&word)[4], const void* from) {
  asm("ld.global.v2.b32 {%0, %1}, [%4];\n\tld.global.v2.b32 {%2, %3}, [%4+8];"
      : "=&r"(word[0]), "=&r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(from));
}

// 16 bytes at a multiple of 4.
__device__ __forceinline__ void load_vector16_by_4(u32 (&word)[4], const void* from) {
  asm("ld.global.b32 %0, [%4];\n\tld.global.b32 %1, [%4+4];\n\tld.global.b32 %2, [%4+8];\n\t"
      "ld.global.b32 %3, [%4+12];"
      : "=&r"(word[0]), "=&r"(word[1]), "=&r"(word[2]), "=r"(word[3]) : "l"(from));
}

// 16 bytes anywhere: the five words that hold them, shifted into place.
__device__ __forceinline__ void load_vector16_anywhere(u32 (&word)[4], const void* from) {
  asm("{\n\t.reg .b64 at;\n\t.reg .b32 shift, a, b, c, d, e;\n\t"
      "and.b64 at, %4, -4;\n\tcvt.u32.u64 shift, %4;\n\tshl.b32 shift, shift, 3;\n\t"
      "ld.global.b32 a, [at];\n\tld.global.b32 b, [at+4];\n\tld.global.b32 c, [at+8];\n\t"
      "ld.global.b32 d, [at+12];\n\tld.global.b32 e, [at+16];\n\t"
      "shf.r.wrap.b32 %0, a, b, shift;\n\tshf.r.wrap.b32 %1, b, c, shift;\n\t"
      "shf.r.wrap.b32 %2, c, d, shift;\n\tshf.r.wrap.b32 %3, d, e, shift;\n\t}"
      : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(from));
}

// 8 bytes at a multiple of 8.
__device__ __forceinline__ void load_vector8(u32 (&word)[2], const void* from$[x < hint: , CachePolicy policy]) {
  asm("ld.global$[x < hint: .L2::cache_hint].v2.b32 {%0, %1}, [%2]$[x < hint: , %3];" : "=r"(word[0]), "=r"(word[1]) : "l"(from)$[x < hint: , "l"(policy.bits)]);
}

// 8 bytes at a multiple of 4.
__device__ __forceinline__ void load_vector8_by_4(u32 (&word)[2], const void* from) {
  asm("ld.global.b32 %0, [%2];\n\tld.global.b32 %1, [%2+4];" : "=&r"(word[0]), "=r"(word[1]) : "l"(from));
}

// 8 bytes anywhere: the three words that hold them, shifted into place.
__device__ __forceinline__ void load_vector8_anywhere(u32 (&word)[2], const void* from) {
  asm("{\n\t.reg .b64 at;\n\t.reg .b32 shift, a, b, c;\n\t"
      "and.b64 at, %2, -4;\n\tcvt.u32.u64 shift, %2;\n\tshl.b32 shift, shift, 3;\n\t"
      "ld.global.b32 a, [at];\n\tld.global.b32 b, [at+4];\n\tld.global.b32 c, [at+8];\n\t"
      "shf.r.wrap.b32 %0, a, b, shift;\n\tshf.r.wrap.b32 %1, b, c, shift;\n\t}"
      : "=r"(word[0]), "=r"(word[1]) : "l"(from));
}

// ld.relaxed.gpu: 8 bytes that other threads of the GPU may be storing, at a multiple of 8.  PTX 6.0, sm_70.
__device__ __forceinline__ u64 load_relaxed(const void* from) {
  u64 value;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// st.relaxed.gpu: 8 bytes that other threads of the GPU may be loading, to a multiple of 8.  PTX 6.0, sm_70.
__device__ __forceinline__ void store_relaxed(void* to, u64 value) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// st.relaxed.gpu: 1, 2, 4, 8 or 16 bytes, to a multiple of their number. Other threads may be storing there: up to 8 bytes
// are those of one store.  PTX 6.0, sm_70.
template <class Piece>
__device__ __forceinline__ void store_piece_relaxed(void* to, const Piece& piece) {
  if constexpr (sizeof(Piece) == 1) {
    asm volatile("st.relaxed.gpu.global.u8 [%0], %1;" ::"l"(to), "r"(static_cast<u32>(piece)) : "memory");
  } else if constexpr (sizeof(Piece) == 2) {
    asm volatile("st.relaxed.gpu.global.u16 [%0], %1;" ::"l"(to), "h"(piece) : "memory");
  } else if constexpr (sizeof(Piece) == 4) {
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(to), "r"(piece) : "memory");
  } else if constexpr (sizeof(Piece) == 8) {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(piece) : "memory");
  } else {
    const u64 low = static_cast<u64>(piece.word[1]) << 32 | piece.word[0];
    const u64 high = static_cast<u64>(piece.word[3]) << 32 | piece.word[2];
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
  }
}

// 1, 2, 4 or 8 bytes at a multiple of their number; the L1 cache evicts their line last.  PTX 7.4, sm_70.
//@ # Volatile, so that loads written together are in flight together.
template <u32 bytes, class Word>
__device__ __forceinline__ void load_evict_last(Word& word, const void* from) {
  static_assert(sizeof(Word) == (bytes < 4 ? 4 : bytes));
  if constexpr (bytes == 1) {
    asm volatile("ld.global.L1::evict_last.u8 %0, [%1];" : "=r"(word) : "l"(from));
  } else if constexpr (bytes == 2) {
    asm volatile("ld.global.L1::evict_last.u16 %0, [%1];" : "=r"(word) : "l"(from));
  } else if constexpr (bytes == 4) {
    asm volatile("ld.global.L1::evict_last.b32 %0, [%1];" : "=r"(word) : "l"(from));
  } else {
    asm volatile("ld.global.L1::evict_last.b64 %0, [%1];" : "=l"(word) : "l"(from));
  }
}

// As load_evict_last(), if `wanted`; otherwise it reads nothing and leaves the word unchanged.
template <u32 bytes, class Word>
__device__ __forceinline__ void load_evict_last_if(bool wanted, Word& word, const void* from) {
  static_assert(sizeof(Word) == (bytes < 4 ? 4 : bytes));
  const u32 on = static_cast<u32>(wanted);
  if constexpr (bytes == 1) {
    asm volatile("{\n\t.reg .pred on;\n\tsetp.ne.b32 on, %2, 0;\n\t@on ld.global.L1::evict_last.u8 %0, [%1];\n\t}" : "+r"(word) : "l"(from), "r"(on));
  } else if constexpr (bytes == 2) {
    asm volatile("{\n\t.reg .pred on;\n\tsetp.ne.b32 on, %2, 0;\n\t@on ld.global.L1::evict_last.u16 %0, [%1];\n\t}" : "+r"(word) : "l"(from), "r"(on));
  } else if constexpr (bytes == 4) {
    asm volatile("{\n\t.reg .pred on;\n\tsetp.ne.b32 on, %2, 0;\n\t@on ld.global.L1::evict_last.b32 %0, [%1];\n\t}" : "+r"(word) : "l"(from), "r"(on));
  } else {
    asm volatile("{\n\t.reg .pred on;\n\tsetp.ne.b32 on, %2, 0;\n\t@on ld.global.L1::evict_last.b64 %0, [%1];\n\t}" : "+l"(word) : "l"(from), "r"(on));
  }
}

// 16 bytes at a multiple of 16.
__device__ __forceinline__ void store_vector16(void* to, const u32 (&word)[4]$[x < hint: , CachePolicy policy]) {
  asm volatile("st.global$[x < hint: .L2::cache_hint].v4.b32 [%0], {%1, %2, %3, %4}$[x < hint: , %5];"
               ::"l"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])$[x < hint: , "l"(policy.bits)] : "memory");
}

// 16 bytes at a multiple of 16 if `wanted`.
__device__ __forceinline__ void store_vector16_if(bool wanted, void* to, const u32 (&word)[4]) {
  asm volatile("{\n\t.reg .pred wanted;\n\tsetp.ne.b32 wanted, %5, 0;\n\t"
               "@wanted st.global.v4.b32 [%0], {%1, %2, %3, %4};\n\t}"
               ::"l"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(static_cast<u32>(wanted))
               : "memory");
}

// 8 bytes at a multiple of 8.
__device__ __forceinline__ void store_vector8(void* to, const u32 (&word)[2]$[x < hint: , CachePolicy policy]) {
  asm volatile("st.global$[x < hint: .L2::cache_hint].v2.b32 [%0], {%1, %2}$[x < hint: , %3];" ::"l"(to), "r"(word[0]), "r"(word[1])$[x < hint: , "l"(policy.bits)] : "memory");
}
//@ end

}  // namespace tmajit::ptx
