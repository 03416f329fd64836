// The plans of a fused chain run on other memory than they were made for.
#include "ops/random_chains.hpp"
#include "ptx_alone.hpp"
#include "reference/random.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using reference::between, reference::one_in, reference::Random;
using tests::RandomChain;

namespace moved_chain_test {

using Bytes = std::vector<std::byte>;

/// Buffers on a device for the tensors of a chain, each at an offset of up to 31 elements.
class ChainMemory {
 public:
  ChainMemory(std::shared_ptr<Device> device, const RandomChain& chain, Random& random)
      : device_(std::move(device)) {
    for (const Tensor& tensor : chain.tensors) {
      const std::uint64_t offset = between(random, 0, 31) * size_of(tensor.view.type);
      sizes_.push_back(tensor.view.elements() * size_of(tensor.view.type));
      buffers_.emplace_back(device_, sizes_.back() + offset);
      addresses.push_back(buffers_.back().address() + offset);
    }
  }
  void fill(const std::vector<Bytes>& contents) {
    for (std::size_t b = 0; b < contents.size(); ++b)
      device_->memory().copy_in(addresses[b], contents[b], nullptr);
  }
  [[nodiscard]] std::vector<Bytes> contents() const {
    device_->streams().synchronize(nullptr);
    std::vector<Bytes> all;
    for (std::size_t b = 0; b < sizes_.size(); ++b)
      device_->memory().copy_out(all.emplace_back(sizes_[b]), addresses[b], nullptr);
    return all;
  }

  std::vector<DevicePtr> addresses;

 private:
  std::shared_ptr<Device> device_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint64_t> sizes_;
};

/// A chain, the operations that are fused from it, and the contents of its tensors.
struct RandomFusion {
  RandomChain chain;
  Fusion fusion;
  std::vector<Bytes> before;
};
RandomFusion random_fusion(Random& random) {
  RandomChain chain = tests::random_chain(random, true);
  std::vector<Tensor> unused;
  for (const std::size_t buffer : chain.unused) unused.push_back(chain.tensors[buffer]);
  Fusion fusion = fuse(chain.operations, unused);
  std::vector<Bytes> before = tests::random_contents(chain, random);
  return {std::move(chain), std::move(fusion), std::move(before)};
}

}  // namespace moved_chain_test

using namespace moved_chain_test;

TEST_CASE("random chains on other memory give the bits of chains that were planned for it") {
  const std::uint64_t seed = tests::seed(20261201);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 25);
  const std::shared_ptr<Device> device = make_sim_device({.seed = seed});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  for (std::uint64_t n = 0; n < cases; ++n) {
    INFO("TMAJIT_SEED=" << seed + n);
    Random random(seed + n);
    const auto& [chain, fusion, before] = random_fusion(random);

    ChainMemory planned(device, chain, random);
    planned.fill(before);
    plan(runtime,
         Fusion{.operations = tests::placed(fusion.operations, planned.addresses), .sentences = {}})();

    // The addresses for which this plan is made hold no memory.
    const ChainPlan elsewhere = plan(runtime, fusion);
    ChainMemory given(device, chain, random);
    given.fill(before);
    std::vector<MovedTensor> moved;
    for (std::size_t b = 0; b < chain.tensors.size(); ++b)
      moved.push_back({chain.tensors[b], given.addresses[b]});
    elsewhere(moved);
    REQUIRE(given.contents() == planned.contents());
  }
}

TEST_CASE("random chains whose tensors are partly elsewhere write those, and leave the planned ones alone") {
  const std::uint64_t seed = tests::seed(20261204);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 25);
  const std::shared_ptr<Device> device = make_sim_device({.seed = seed});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  std::uint64_t parts = 0;  // cases that move some tensors, but not all
  for (std::uint64_t n = 0; n < cases; ++n) {
    INFO("TMAJIT_SEED=" << seed + n);
    Random random(seed + n);
    const auto& [chain, fusion, before] = random_fusion(random);

    ChainMemory planned(device, chain, random);
    planned.fill(before);
    const ChainPlan here = plan(
        runtime, Fusion{.operations = tests::placed(fusion.operations, planned.addresses), .sentences = {}});
    here();
    const std::vector<Bytes> right = planned.contents();

    planned.fill(before);
    ChainMemory given(device, chain, random);
    given.fill(before);
    std::vector<MovedTensor> moved;
    std::vector<bool> is_moved;
    for (std::size_t b = 0; b < chain.tensors.size(); ++b) {
      is_moved.push_back(one_in(random, 2));
      if (is_moved[b])
        moved.push_back({tests::placed(chain.tensors[b], planned.addresses), given.addresses[b]});
    }
    parts += !moved.empty() && moved.size() < chain.tensors.size() ? 1 : 0;
    here(moved);
    const std::vector<Bytes> elsewhere = given.contents();
    const std::vector<Bytes> kept = planned.contents();
    for (std::size_t b = 0; b < chain.tensors.size(); ++b) {
      INFO("buffer " << b << (is_moved[b] ? ", moved" : ""));
      REQUIRE((is_moved[b] ? elsewhere : kept)[b] == right[b]);
      REQUIRE((is_moved[b] ? kept : elsewhere)[b] == before[b]);
    }
  }
  CHECK(parts > cases / 2);
}

TEST_CASE("a chain on other memory: tensors move as a whole, and share no other bytes than planned") {
  const Tensor x = Tensor::contiguous(ElementType::f32, {8, 6}, 1 << 20);
  const Tensor half = sliced(x, {{.start = 0, .stop = 4}});
  const Tensor y = Tensor::contiguous(ElementType::f32, {8, 6}, 2 << 20);
  const Tensor z = Tensor::contiguous(ElementType::f32, {6, 8}, 3 << 20);
  const Runtime runtime({.cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  const ChainPlan chain =
      plan(runtime, fuse({operation::softmax({y}, {x}), operation::permute(z, y, {1, 0})}, {}));
  REQUIRE(chain.plans().size() == 2);
  const auto error = [&](const std::string& text) { return MessageMatches(ContainsSubstring(text)); };
  CHECK_THROWS_MATCHES(chain({{half, 4 << 20}}), Error, error("only partly within a moved tensor"));
  CHECK_THROWS_MATCHES(chain({{x, z.address}}), Error, error("as was not planned"));
  CHECK_THROWS_MATCHES(chain({{z, x.address + 64}}), Error, error("as was not planned"));
  // Legal addresses fail only because there is no device.
  const auto without_device = [](const Error& thrown) { return thrown.code() == ErrorCode::unavailable; };
  CHECK_THROWS_MATCHES(chain({{x, 4 << 20}, {z, 5 << 20}}), Error,
                       Catch::Matchers::Predicate<Error>(without_device));
  CHECK_THROWS_MATCHES(chain({{x, 4 << 20}, {half, 6 << 20}}), Error,
                       Catch::Matchers::Predicate<Error>(without_device));
}
