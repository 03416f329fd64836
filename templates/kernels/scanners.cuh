// How a scan combines two states: as the reducers do, or by a product.
#pragma once
#include "tmajit/reducers.cuh"

namespace tmajit {

// The type in which an expression's result is combined: i32 for bool, the type itself for all others.
template <class T> struct ArithmeticType { using type = T; };
template <> struct ArithmeticType<bool> { using type = i32; };

template <class Value>
struct ScanSum : Sum<Value> {};
template <class Value>
struct ScanProduct : Sum<Value> {
  using State = typename Sum<Value>::State;
  static __device__ __forceinline__ State identity() { return State(1); }
  static __device__ __forceinline__ State combine(State a, State b) { return a * b; }
};
// The identity is the extreme of the expression's type, even if the state's type is wider.
template <class Value, bool least>
struct ScanExtreme : Extreme<Value, least> {
  using State = typename Extreme<Value, least>::State;
  static __device__ __forceinline__ State identity() { return static_cast<State>(extreme_identity<Value, least>()); }
};
template <class Value> struct ScanLeast : ScanExtreme<Value, true> {};
template <class Value> struct ScanGreatest : ScanExtreme<Value, false> {};

}  // namespace tmajit
