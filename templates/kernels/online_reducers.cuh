// Accumulators that compute two reductions in one pass over a row, although the second depends on the result of the first. They save
// a load of rows that are loaded again for each reduction.
//@ # The structs have the members of those in reducers.cuh; result() returns both results.
#pragma once
#include "tmajit/fast_exp.cuh"
#include "tmajit/reducers.cuh"

namespace tmajit {

template <class First, class Second>
struct Results {
  First first;
  Second second;
};

template <class Value> using RealOf = typename Choose<is_real<Value>, Value, double>::type;

// The maximum m, and the sum of exp(x - m). The sum refers to the maximum so far, and is scaled when that grows.
template <class Value, bool fast>
struct ExpSum {
  using Most = Extreme<Value, false>;
  using Real = RealOf<Value>;
  struct State {
    typename Most::State most;
    Real sum;
  };
  static __device__ __forceinline__ State identity() { return {Most::identity(), Real(0)}; }
  static __device__ __forceinline__ State of(Value value, i64 place) { return {Most::of(value, place), Real(1)}; }
  static __device__ __forceinline__ State combine(const State& a, const State& b) {
    const auto most = Most::combine(a.most, b.most);
    const bool grows = b.most > a.most;
    const State& low = grows ? a : b;
    const State& high = grows ? b : a;
    // Equal maxima need no factor, and the difference of equal infinities is NaN.
    return {most, high.sum + (low.most == most ? low.sum : low.sum * power(Real(low.most) - Real(most)))};
  }
  static __device__ __forceinline__ Results<typename Most::State, Real> result(const State& state, u64) {
    const Real most = Real(state.most);
    return {state.most, most - most == Real(0) ? state.sum : most - most};  // the sum is NaN if the maximum is infinite or NaN
  }

 private:
  static __device__ __forceinline__ Real power(Real x) {
    if constexpr (fast && sizeof(Real) == 4) {
      return fast_exp(x);
    } else {
      return exp(x);
    }
  }
};
template <class Value> struct MaxExpSum : ExpSum<Value, false> {};
template <class Value> struct FastMaxExpSum : ExpSum<Value, true> {};

// The mean, and the sum of the squares of the differences from it (Welford's form, by Chan et al.).
template <class Value>
struct MeanSquares {
  using Real = RealOf<Value>;
  struct State {
    Real count;
    Real mean;
    Real squares;
  };
  static __device__ __forceinline__ State identity() { return {Real(0), Real(0), Real(0)}; }
  static __device__ __forceinline__ State of(Value value, i64) { return {Real(1), static_cast<Real>(value), Real(0)}; }
  static __device__ __forceinline__ State combine(const State& a, const State& b) {
    const Real count = a.count + b.count;
    if (b.count == Real(0)) return a;
    const Real difference = b.mean - a.mean;
    const Real step = difference * quotient(b.count, count);
    return {count, a.mean + step, a.squares + b.squares + difference * a.count * step};
  }
  static __device__ __forceinline__ Results<Real, Real> result(const State& state, u64) { return {state.mean, state.squares}; }

 private:
  static __device__ __forceinline__ Real quotient(Real a, Real b) {
    if constexpr (sizeof(Real) == 4) {
      return __fdividef(a, b);
    } else {
      return a / b;
    }
  }
};

}  // namespace tmajit
