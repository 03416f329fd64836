// The accumulators of reductions: their state, and how two states combine. The order of combinations affects only rounding.
//@ # Each reducer has a State and its identity(). of() makes the state of one value, given with its index among the reduced
//@ # elements; combine() joins two states; result() turns the state of n values into the result.
#pragma once
#include "tmajit/extreme.cuh"
#include "tmajit/scalars.cuh"

namespace tmajit {

template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<float> = true;
template <> constexpr bool is_real<double> = true;

template <bool condition, class A, class B> struct Choose { using type = A; };
template <class A, class B> struct Choose<false, A, B> { using type = B; };

// Integers accumulate in 64 bits.
template <class T>
struct SumOf {
  using type = typename Choose<(T(-1) < T(0)), i64, u64>::type;
};
template <> struct SumOf<float> { using type = float; };
template <> struct SumOf<double> { using type = double; };

template <class Value>
struct Sum {
  using State = typename SumOf<Value>::type;
  static __device__ __forceinline__ State identity() { return State(0); }
  static __device__ __forceinline__ State of(Value value, i64) { return static_cast<State>(value); }
  static __device__ __forceinline__ State combine(State a, State b) { return a + b; }
  static __device__ __forceinline__ State result(State sum, u64) { return sum; }
};

template <class Value>
struct Mean : Sum<Value> {
  using State = typename Sum<Value>::State;
  static __device__ __forceinline__ auto result(State sum, u64 n) {
    if constexpr (is_real<State>) {
      return sum / static_cast<State>(n);
    } else {
      return static_cast<double>(sum) / static_cast<double>(n);
    }
  }
};

// Integers shorter than 32 bits are extended to 32.
template <class T>
struct ExtremeOf {
  using Word = typename Choose<(T(-1) < T(0)), i32, u32>::type;
  using type = typename Choose<(sizeof(T) < 4), Word, T>::type;
};

// The identity of the minimum (`least`), the greatest value of a type, or of the maximum, the least value.
template <class T, bool least>
__device__ __forceinline__ T extreme_identity() {
  if constexpr (sizeof(T) == 4 && is_real<T>) {
    return __int_as_float(least ? 0x7f800000 : static_cast<i32>(0xff800000u));
  } else if constexpr (is_real<T>) {
    return __longlong_as_double(static_cast<i64>((least ? 0x7ff0ull : 0xfff0ull) << 48));
  } else {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr u64 all = ~u64{0} >> (64 - 8 * sizeof(T));
    constexpr u64 greatest = is_signed ? all >> 1 : all;
    return static_cast<T>(least ? greatest : all - greatest);
  }
}

template <class Value, bool least>
struct Extreme {
  using State = typename ExtremeOf<Value>::type;
  static __device__ __forceinline__ State identity() { return extreme_identity<State, least>(); }
  static __device__ __forceinline__ State of(Value value, i64) { return static_cast<State>(value); }
  static __device__ __forceinline__ State combine(State a, State b) {
    if constexpr (is_real<State> && sizeof(State) == 4) {
      return least ? ptx::min_NaN_f32(a, b) : ptx::max_NaN_f32(a, b);
    } else {
      return (least ? a < b : a > b) || a != a ? a : b;
    }
  }
  static __device__ __forceinline__ State result(State value, u64) { return value; }
};
template <class Value> struct Least : Extreme<Value, true> {};
template <class Value> struct Greatest : Extreme<Value, false> {};

// Whether all values differ from 0, or any of them.
template <class Value, bool all>
struct Truth {
  using State = u32;
  static __device__ __forceinline__ State identity() { return all ? 1 : 0; }
  static __device__ __forceinline__ State of(Value value, i64) { return value != Value(0) ? 1 : 0; }
  static __device__ __forceinline__ State combine(State a, State b) { return all ? a & b : a | b; }
  static __device__ __forceinline__ i32 result(State value, u64) { return static_cast<i32>(value); }
};
template <class Value> struct Any : Truth<Value, false> {};
template <class Value> struct All : Truth<Value, true> {};

template <class Word, u32 = sizeof(Word)>
struct Placed {
  Word value;
  i64 place;  // index of the element; -1: no element yet
  static __device__ __forceinline__ Placed of(Word value, i64 place) { return {value, place}; }
};
// Without padding: a state is sent as whole words.
template <class Word>
struct Placed<Word, 4> {
  Word value;
  u32 unused;
  i64 place;
  static __device__ __forceinline__ Placed of(Word value, i64 place) { return {value, 0, place}; }
};

// The index of the first least or greatest element; of the first NaN if there is one.
template <class Value, bool least>
struct First {
  using State = Placed<typename ExtremeOf<Value>::type>;
  static __device__ __forceinline__ State identity() { return State::of(0, -1); }
  static __device__ __forceinline__ State of(Value value, i64 place) { return State::of(value, place); }
  static __device__ __forceinline__ State combine(const State& a, const State& b) {
    const bool a_is_first = a.place < b.place;
    const bool nan_a = a.value != a.value;
    const bool nan_b = b.value != b.value;
    const bool better = least ? a.value < b.value : a.value > b.value;
    const bool takes_a = nan_a || nan_b ? nan_a && (!nan_b || a_is_first) : better || (a.value == b.value && a_is_first);
    return b.place < 0 || (a.place >= 0 && takes_a) ? a : b;
  }
  static __device__ __forceinline__ i64 result(const State& first, u64) { return first.place; }
};
template <class Value> struct FirstLeast : First<Value, true> {};
template <class Value> struct FirstGreatest : First<Value, false> {};

}  // namespace tmajit
