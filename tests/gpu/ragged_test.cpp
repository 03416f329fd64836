/// A batch of copies on the GPU, on several streams at once.
#include "gpu/support.hpp"
#include "ops/run_case.hpp"

#include <tmajit/ragged.hpp>

#include <vector>

using namespace tmajit;

TEST_CASE("one plan of a batch can run on several streams at once", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const auto test_case =
      reference::random_test_case("copy_ragged", 7, 0, {.elements = 2'000'000, .max_elements = 2'000'000});
  const reference::Buffers before = random_buffers(test_case, 1);
  const reference::Expected right = expected(test_case, before);
  std::vector<std::unique_ptr<tests::CaseMemory>> placed;
  std::vector<RaggedCopy> copies;
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 4; ++i) {
    placed.push_back(tests::own_allocations(device)(test_case, 0));
    const Operation batch = reference::operation_of(test_case, placed.back()->addresses());
    copies.emplace_back(runtime, batch.destinations, batch.sources);
    streams.push_back(device->streams().create());
  }
  for (int round = 0; round < 10; ++round) {
    for (auto& one : placed) one->write(before);
    device->streams().synchronize(nullptr);
    for (int again = 0; again < 5; ++again) {
      for (std::size_t i = 0; i < copies.size(); ++i) copies[i](streams[i]);
    }
    for (const Stream stream : streams) device->streams().synchronize(stream);
    for (auto& one : placed) CHECK(difference(test_case, right, one->read(before)) == "");
  }
  for (const Stream stream : streams) device->streams().destroy(stream);
}
