// The exponential function that expressions of users and recipes call by this name.
#pragma once
#include "tmajit/exponential.cuh"

namespace tmajit {

// Returns exp(x), with the error of __expf. Results below 2^-126 are 0.
__device__ __forceinline__ float fast_exp(float x) {
  return ptx::exp2(x * 1.4426950408889634f);
}

}  // namespace tmajit
