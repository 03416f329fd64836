#pragma once

#include "operations/drawing/benchmark_case.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Random numbers that are the same with every standard library. They are remainders, because the libraries'
/// distributions differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// A shape of `min_elements` to `max_elements` elements whose extents differ by much: powers of two, small
/// multiples of them, hundreds, odd numbers and primes.
Shape random_shape(Random& random, std::size_t rank, std::uint64_t min_elements, std::uint64_t max_elements);

/// A random order of `rank` axes, 2 or more, but never the identity.
std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank);

/// Cases with different labels.
class UniqueCases {
 public:
  /// Adds the case that `draw()` returns, and draws again while the list has its label.
  template <class Draw>
  void add(const Draw& draw) {
    Case c = draw();
    while (!labels_.insert(c.label()).second) c = draw();
    cases_.push_back(std::move(c));
  }
  [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

 private:
  std::set<std::string> labels_;
  std::vector<Case> cases_;
};

/// Draws random cases of the benchmark. A case writes up to 256 Mi elements, unless it draws its shape with
/// other limits, and reads at most twice as many.
class BenchmarkCaseDraw {
 public:
  BenchmarkCaseDraw(std::uint64_t seed, bool is_tiny) : random(seed), tiny(is_tiny) {}

  Random random;
  bool tiny;               ///< up to 4096 elements, to test the benchmark itself
  std::size_t number = 0;  ///< index of the case among the random cases of its operation and type
  tmajit::ElementType type = tmajit::ElementType::f32;  ///< ignored by operations that draw their types

  [[nodiscard]] std::uint64_t element_limit() const { return tiny ? 4096 : 256 * Mi; }
  /// A shape of `min_elements` to `max_elements` elements or, if tiny, of 64 to 4096.
  [[nodiscard]] Shape shape(std::size_t rank, std::uint64_t min_elements, std::uint64_t max_elements) {
    return tiny ? random_shape(random, rank, 64, 4096)
                : random_shape(random, rank, min_elements, max_elements);
  }
  /// A shape of rank 1 to 5 with 8 to 256 Mi elements.
  [[nodiscard]] Shape shape() { return shape(random.between(1, 5), 8 * Mi, 256 * Mi); }
  /// A random selection of one or more of `rank` axes, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> some_axes(std::size_t rank);
  /// An odd number of elements for a pad to add, or a slice to skip, on one side of a dimension: at most 129,
  /// and at most a third of `extent`; 1 for the smallest extents.
  [[nodiscard]] std::uint64_t odd_margin(std::uint64_t extent);
  /// `shape` with some extents of 1, so that it can be broadcast to `shape`.
  [[nodiscard]] Shape broadcastable(Shape shape);
  /// Adds a source that the operation sees with the shape `seen`; its array may have the axes in another
  /// order. Returns its description: "(3,5)->(1,0)".
  std::string add_source(Case& c, tmajit::ElementType of, const Shape& seen);
};

}  // namespace bench
