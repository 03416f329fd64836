/// The number of kernels that a program with many shapes needs.
#include "reference/random_maps.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

constexpr DevicePtr shared_to = 1ULL << 40;
constexpr DevicePtr shared_from = 1ULL << 41;

/// Collects the different kernels of operations.
class Kernels {
 public:
  /// Plans use the shipped choices or, without `tuned`, only the cost model.
  explicit Kernels(bool tuned = true) : tuned_(tuned) {}
  void add(const Operation& operation) {
    for (const KernelPlan& plan : plan_kernels(operation, {.tuning = tuned_ ? &tuning_ : nullptr})) {
      const auto [known, is_new] = plan_of_key_.emplace(plan.key(), plan);
      // Equal keys must have equal sources, or the disk cache would not be shared.
      if (!is_new && ++repeated_ % 64 == 0) CHECK(source(known->second).text == source(plan).text);
    }
  }
  [[nodiscard]] std::size_t count() const { return plan_of_key_.size(); }

 private:
  bool tuned_;
  TuningTable tuning_ = TuningTable::shipped();
  std::map<std::string, KernelPlan, std::less<>> plan_of_key_;
  std::size_t repeated_ = 0;
};

Operation shared_permutation(ElementType type, const Dims& shape, const Dims& axes) {
  std::vector<std::int64_t> permuted;
  for (const std::int64_t axis : axes) permuted.push_back(shape[static_cast<std::size_t>(axis)]);
  return operation::permute(Tensor::contiguous(type, permuted, shared_to),
                            Tensor::contiguous(type, shape, shared_from), axes);
}

/// A random extent up to 2^`most`, with an even distribution of its logarithm.
std::int64_t any_extent(reference::Random& random, std::uint64_t most) {
  return static_cast<std::int64_t>(1 + random() % (1ULL << random() % (most + 1)));
}

/// All extents up to 4096, or about TMAJIT_CASES of them.
std::vector<std::int64_t> extents_to_4096() {
  const auto cases = static_cast<std::int64_t>(reference::from_environment("TMAJIT_CASES", 4096));
  const std::int64_t step = std::max<std::int64_t>(4096 / std::max<std::int64_t>(cases, 1), 1);
  std::vector<std::int64_t> extents;
  for (std::int64_t extent = 1; extent <= 4096; extent += step) extents.push_back(extent);
  return extents;
}

const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 1000);

constexpr ElementType types[] = {ElementType::f32, ElementType::bf16, ElementType::u8};

}  // namespace

TEST_CASE("permutations of attention heads of any number of tokens need at most four kernels") {
  for (const bool tuned : {true, false}) {
    Kernels kernels(tuned);
    for (const std::int64_t tokens : extents_to_4096()) {
      kernels.add(shared_permutation(ElementType::bf16, {8, tokens, 16, 64}, {0, 2, 1, 3}));
    }
    CHECK(kernels.count() <= 4);
  }
}

TEST_CASE("transposes of matrices of any number of rows need at most six kernels for each type") {
  for (const ElementType type : types) {
    INFO(name(type));
    Kernels kernels;
    for (const std::int64_t rows : extents_to_4096())
      kernels.add(shared_permutation(type, {rows, 128}, {1, 0}));
    CHECK(kernels.count() <= 6);
  }
}

TEST_CASE("maps of matrices of any extents need at most three kernels for each type") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (const ElementType type : types) {
    INFO(name(type) << ", TMAJIT_SEED=" << seed);
    reference::Random random(seed);
    Kernels kernels;
    for (std::uint64_t n = 0; n < cases; ++n) {
      const auto extent = [&] { return any_extent(random, 14); };
      const Dims shape{extent(), extent()};
      kernels.add(operation::map(Tensor::contiguous(type, shape, shared_to), "x + x",
                                 {Tensor::contiguous(type, shape, shared_from)}));
    }
    CHECK(kernels.count() <= 3);
  }
}

TEST_CASE("pads, concats and transposes of random matrices need few kernels") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  reference::Random random(seed);
  const auto extent = [&] { return any_extent(random, 13); };
  Kernels padded;
  Kernels joined;
  Kernels transposed;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const std::int64_t rows = extent();
    const std::int64_t columns = extent();
    const std::int64_t more = extent();
    const auto tensor = [](const Dims& shape, DevicePtr address) {
      return Tensor::contiguous(ElementType::bf16, shape, address);
    };
    padded.add(operation::pad(tensor({rows + 2, columns + 2}, shared_to),
                              tensor({rows, columns}, shared_from), {.before = {1, 1}}));
    joined.add(
        operation::concat(tensor({rows, columns + more}, shared_to),
                          {tensor({rows, columns}, shared_from), tensor({rows, more}, 2 * shared_from)}, 1));
    transposed.add(shared_permutation(ElementType::bf16, {rows, columns}, {1, 0}));
  }
  CHECK(padded.count() <= 8);
  CHECK(joined.count() <= 32);
  CHECK(transposed.count() <= 120);
}
