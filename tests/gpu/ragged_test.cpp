/// Random batches of copies on the GPU, against the reference; thousands of tensors, one huge among small
/// ones, on several streams at once.
#include "gpu/support.hpp"
#include "ops/batches.hpp"

#include <tmajit/error.hpp>
#include <tmajit/ragged.hpp>

#include <vector>

using namespace tmajit;
using tests::BatchKind;

TEST_CASE("random batches of copies on a GPU equal the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 100);
  const std::uint64_t seed = gpu::seed();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  constexpr BatchKind kinds[] = {BatchKind::mixed, BatchKind::aligned, BatchKind::tiny, BatchKind::skewed};
  for (std::uint64_t n = 0; n < cases; ++n) {
    const tests::RandomBatch batch =
        tests::random_batch(kinds[n % 4], seed + n, n % 4 == 2 ? 20'000 : 600'000);
    INFO("case " << n << ": " << batch.text());
    try {
      CHECK(tests::run_batch(runtime, batch, seed + n) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("one batch is launched on several streams at once", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const tests::RandomBatch batch = tests::random_batch(BatchKind::aligned, 7, 2'000'000);
  std::vector<std::unique_ptr<tests::PlacedBatch>> placed;
  std::vector<RaggedCopy> copies;
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 4; ++i) {
    placed.push_back(std::make_unique<tests::PlacedBatch>(device, batch, i));
    copies.emplace_back(runtime, placed.back()->destinations(), placed.back()->sources());
    streams.push_back(device->streams().create());
  }
  for (int round = 0; round < 10; ++round) {
    for (auto& one : placed) one->clear();
    for (int again = 0; again < 5; ++again) {
      for (std::size_t i = 0; i < copies.size(); ++i) copies[i](streams[i]);
    }
    for (const Stream stream : streams) device->streams().synchronize(stream);
    for (const auto& one : placed) CHECK(one->difference() == "");
  }
  for (const Stream stream : streams) device->streams().destroy(stream);
}
