/// Concurrent reduce_into calls on one destination, none of whose contributions may be lost.
#include "gpu/support.hpp"

#include <tmajit/move.hpp>

#include <span>
#include <string>
#include <vector>

using namespace tmajit;

TEST_CASE("concurrent reduce_into calls on several streams lose no contribution", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  // Threads combine the ends of rows, the copy engine combines the rest.
  constexpr std::uint64_t count = 1'000'003;
  constexpr std::uint32_t streams = 4;
  constexpr std::uint32_t rounds = 25;
  const auto view = TensorView::contiguous(ElementType::u32, {count});
  const Buffer to(device, view.span_bytes());
  const Buffer from(device, view.span_bytes());
  const std::vector<std::uint32_t> ones(count, 1);
  device->memory().copy_in(from.address(), std::as_bytes(std::span(ones)), nullptr);
  device->memory().fill(to.address(), std::byte{0}, view.span_bytes(), nullptr);
  device->streams().synchronize(nullptr);
  std::vector<Stream> all;
  for (std::uint32_t i = 0; i < streams; ++i) all.push_back(device->streams().create());
  for (std::uint32_t i = 0; i < streams * rounds; ++i) {
    reduce_into(runtime, {view, to.address()}, CombineOp::add, {view, from.address()}, all[i % streams]);
  }
  for (const Stream stream : all) device->streams().synchronize(stream);
  std::vector<std::uint32_t> sums(count);
  device->memory().copy_out(std::as_writable_bytes(std::span(sums)), to.address(), nullptr);
  device->streams().synchronize(nullptr);
  CHECK(sums == std::vector<std::uint32_t>(count, streams * rounds));
  for (const Stream stream : all) device->streams().destroy(stream);
}
