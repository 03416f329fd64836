/// How many kernels a program makes that meets many shapes: what changes from call to call makes none.
#include "reference/random_maps.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/plan.hpp>

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

/// The kernels of the operations that it is shown, and a source of each.
class Kernels {
 public:
  /// By the choices that are shipped, or by the cost model alone.
  explicit Kernels(bool tuned = true) : tuned_(tuned) {}
  void meet(const Operation& operation) {
    for (const KernelPlan& plan : plan_kernels(operation, {.tuning = tuned_ ? &tuning_ : nullptr})) {
      const auto [known, is_new] = first_.emplace(plan.key(), plan);
      // One key is one source, whatever the tile: else processes would compile for each other's caches in
      // vain.
      if (!is_new && ++met_again_ % 64 == 0) CHECK(source(known->second).text == source(plan).text);
    }
  }
  [[nodiscard]] std::size_t count() const { return first_.size(); }

 private:
  bool tuned_;
  TuningTable tuning_ = TuningTable::shipped();
  std::map<std::string, KernelPlan, std::less<>> first_;
  std::size_t met_again_ = 0;
};

Operation shared_permutation(ElementType type, const Dims& shape, const Dims& axes) {
  std::vector<std::int64_t> permuted;
  for (const std::int64_t axis : axes) permuted.push_back(shape[static_cast<std::size_t>(axis)]);
  return operation::permute(Tensor::contiguous(type, permuted, shared_to),
                            Tensor::contiguous(type, shape, shared_from), axes);
}

/// Up to 2^`most`, as many of each order of magnitude.
std::int64_t any_extent(reference::Random& random, std::uint64_t most) {
  return static_cast<std::int64_t>(1 + random() % (1ULL << random() % (most + 1)));
}

constexpr ElementType types[] = {ElementType::f32, ElementType::bf16, ElementType::u8};

}  // namespace

TEST_CASE("heads of any number of tokens are moved by four kernels") {
  for (const bool tuned : {true, false}) {
    Kernels kernels(tuned);
    for (std::int64_t tokens = 1; tokens <= 4096; ++tokens) {
      kernels.meet(shared_permutation(ElementType::bf16, {8, tokens, 16, 64}, {0, 2, 1, 3}));
    }
    CHECK(kernels.count() <= 4);
  }
}

TEST_CASE("matrices of any number of rows are transposed by six kernels of a type") {
  for (const ElementType type : types) {
    INFO(name(type));
    Kernels kernels;
    for (std::int64_t rows = 1; rows <= 4096; ++rows)
      kernels.meet(shared_permutation(type, {rows, 128}, {1, 0}));
    CHECK(kernels.count() <= 6);
  }
}

TEST_CASE("matrices of any extents are mapped by three kernels of a type") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (const ElementType type : types) {
    INFO(name(type) << ", TMAJIT_SEED=" << seed);
    reference::Random random(seed);
    Kernels kernels;
    for (int n = 0; n < 1000; ++n) {
      const auto extent = [&] { return any_extent(random, 14); };
      const Dims shape{extent(), extent()};
      kernels.meet(operation::map(Tensor::contiguous(type, shape, shared_to), "x + x",
                                  {Tensor::contiguous(type, shape, shared_from)}));
    }
    CHECK(kernels.count() <= 3);
  }
}

TEST_CASE("kernels of random matrices are few") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  reference::Random random(seed);
  const auto extent = [&] { return any_extent(random, 13); };
  Kernels padded;
  Kernels joined;
  Kernels transposed;
  for (int n = 0; n < 1000; ++n) {
    const std::int64_t rows = extent();
    const std::int64_t columns = extent();
    const std::int64_t more = extent();
    const auto tensor = [](const Dims& shape, DevicePtr address) {
      return Tensor::contiguous(ElementType::bf16, shape, address);
    };
    padded.meet(operation::pad(tensor({rows + 2, columns + 2}, shared_to),
                               tensor({rows, columns}, shared_from), {.before = {1, 1}}));
    joined.meet(
        operation::concat(tensor({rows, columns + more}, shared_to),
                          {tensor({rows, columns}, shared_from), tensor({rows, more}, 2 * shared_from)}, 1));
    transposed.meet(shared_permutation(ElementType::bf16, {rows, columns}, {1, 0}));
  }
  CHECK(padded.count() <= 8);
  CHECK(joined.count() <= 32);
  CHECK(transposed.count() <= 120);
}
