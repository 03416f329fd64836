// Support for the programs of this folder: arrays on the device, and a comparison with the host's results.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <cuda_fp16.h>

inline void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("failed: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// An array with a copy on the host and one on the device.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> values) : host(std::move(values)) {
    must(cudaMalloc(&device_, host.size() * sizeof(T)));
    must(cudaMemcpy(device_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  explicit Array(std::size_t size) : Array(std::vector<T>(size)) {}
  /// An array of random numbers between -1 and 1.
  static Array random(std::size_t size) {
    static std::mt19937 engine(1);
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<T> values(size);
    for (T& value : values) value = T(number(engine));
    return Array(std::move(values));
  }

  [[nodiscard]] T* device() const { return device_; }
  [[nodiscard]] double operator[](std::size_t i) const { return double(float(host[i])); }
  void download() { must(cudaMemcpy(host.data(), device_, host.size() * sizeof(T), cudaMemcpyDeviceToHost)); }

  std::vector<T> host;

 private:
  T* device_ = nullptr;
};

/// Prints "right" if every element differs from `wanted` by at most `limit`, or else the first wrong element.
template <class T>
void compare(const char* what, Array<T>& got, double limit, const std::function<double(std::size_t)>& wanted) {
  must(cudaDeviceSynchronize());
  got.download();
  for (std::size_t i = 0; i < got.host.size(); ++i) {
    const double should = wanted(i);
    if (std::abs(got[i] - should) <= limit) continue;
    std::printf("%s: wrong, element %zu is %g, not %g\n", what, i, got[i], should);
    return;
  }
  std::printf("%s: right\n", what);
}

/// Element `d` of the attention of one query over `count` keys and values. Query, keys and values have `size`
/// numbers. The query begins at index `query`; key and value `n` begin at index place(n).
template <class T, class Place>
double attention(const Array<T>& q, std::size_t query, const Array<T>& k, const Array<T>& v, std::size_t count, std::size_t size,
                 std::size_t d, const Place& place) {
  double sum = 0;
  double result = 0;
  for (std::size_t n = 0; n < count; ++n) {
    double score = 0;
    for (std::size_t e = 0; e < size; ++e) score += q[query + e] * k[place(n) + e];
    const double weight = std::exp(score / std::sqrt(double(size)));
    sum += weight;
    result += weight * v[place(n) + d];
  }
  return result / sum;
}
