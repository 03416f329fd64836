/// The family `moe_permute` on the simulated device: its limits, hot experts, absent ids, many lengths by one
/// kernel, and the meaning of the sort: it is stable, and positions are its inverse.
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::TestCase;

namespace moe_permute_sim_test {
namespace {

struct Sizes {
  std::uint64_t tokens = 0;
  std::uint64_t slots = 1;
  std::uint64_t experts = 1;
  std::uint64_t length = 8;
  std::int64_t alignment = 1;
};

/// A case of dense tensors whose ids select the first `used` experts.
TestCase dense_case(ElementType type, const Sizes& sizes, std::uint64_t used, std::uint64_t shift = 0) {
  TestCase made = reference::dense_case(
      "moe_permute", {{"count", static_cast<std::int64_t>(sizes.experts)}, {"alignment", sizes.alignment}},
      {},
      {TensorView::contiguous(type, {sizes.tokens, sizes.length}),
       TensorView::contiguous(ElementType::u32, {sizes.tokens, sizes.slots})},
      shift);
  made.indices = {{.source = 1, .extent = used, .outside = used < sizes.experts}};
  return made;
}

class Fixture {
 public:
  [[nodiscard]] std::string run(const TestCase& made) {
    UNSCOPED_INFO(made.text());
    return tests::run_candidates(runtime_, made, 1);
  }

 private:
  Runtime runtime_{{.device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 2}),
                    .cache_directory = tests::shared_kernels(),
                    .compile = tests::ptx_without_lines}};
};

/// A tensor on a device, with its elements.
template <class T>
class OnDevice {
 public:
  OnDevice(const std::shared_ptr<Device>& device, ElementType type, const Dims& shape,
           std::vector<T> elements)
      : device_(device),
        elements_(std::move(elements)),
        buffer_(device, elements_.size() * sizeof(T)),
        tensor_(Tensor::contiguous(type, shape, buffer_.address())) {
    device_->memory().copy_in(buffer_.address(), std::as_bytes(std::span(elements_)), nullptr);
  }
  [[nodiscard]] const Tensor& tensor() const { return tensor_; }
  [[nodiscard]] const std::vector<T>& read() {
    device_->streams().synchronize(nullptr);
    device_->memory().copy_out(std::as_writable_bytes(std::span(elements_)), buffer_.address(), nullptr);
    device_->streams().synchronize(nullptr);
    return elements_;
  }

 private:
  std::shared_ptr<Device> device_;
  std::vector<T> elements_;
  Buffer buffer_;
  Tensor tensor_;
};

}  // namespace

TEST_CASE("tokens are sorted at the limits of the kernel") {
  Fixture fixture;
  using enum ElementType;
  // One expert for all; as many experts as fit; more slots than a round has tokens; tokens without slots.
  CHECK(fixture.run(dense_case(bf16, {.tokens = 700, .slots = 3, .experts = 4}, 1)) == "");
  CHECK(fixture.run(dense_case(u8, {.tokens = 900, .slots = 2, .experts = 4096, .length = 3}, 4096, 1)) ==
        "");
  CHECK(fixture.run(dense_case(u16, {.tokens = 3, .slots = 1024, .experts = 513}, 513)) == "");
  CHECK(fixture.run(dense_case(f64, {.tokens = 5, .slots = 1000, .experts = 70, .alignment = 7}, 70)) == "");
  CHECK(fixture.run(dense_case(f32, {.tokens = 9, .slots = 0, .experts = 3}, 3)) == "");
  CHECK(fixture.run(dense_case(f32, {.tokens = 0, .slots = 8, .experts = 1000}, 9)) == "");
  CHECK(fixture.run(dense_case(f32, {.tokens = 9, .slots = 2, .experts = 3, .length = 0}, 3)) == "");
  // More rounds than one, for a group of tokens; and few tokens of long rows.
  CHECK(fixture.run(dense_case(u8, {.tokens = 3000, .slots = 64, .experts = 300, .length = 1}, 300)) == "");
  CHECK(fixture.run(dense_case(bf16, {.tokens = 3, .slots = 4, .experts = 9, .length = 9000}, 8)) == "");
}

TEST_CASE("64 numbers of tokens, slots and experts share one kernel") {
  std::set<std::string> keys;
  for (std::uint64_t n = 1; n <= 64; ++n) {
    const TestCase made = dense_case(
        ElementType::bf16,
        {.tokens = n * 37 % 1000 + 1, .slots = n % 9 + 1, .experts = 4 * n, .length = 512 * (n % 5 + 1)}, 4);
    std::vector<DevicePtr> addresses;
    for (std::uint64_t i = 0; i < made.buffers.size(); ++i) addresses.push_back((i + 1) << 36);
    for (const KernelPlan& plan : plan_kernels(reference::operation_of(made, addresses)))
      keys.emplace(plan.key());
  }
  CHECK(keys.size() == 1);
}

TEST_CASE("a sort by expert is stable, positions are its inverse, and padding is not written") {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 4});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  constexpr std::int32_t absent = std::numeric_limits<std::int32_t>::min();
  constexpr std::uint64_t tokens = 300;
  constexpr std::uint64_t slots = 4;
  constexpr std::uint64_t experts = 20;
  constexpr std::uint32_t alignment = 16;
  constexpr std::uint64_t capacity = tokens * slots + experts * (alignment - 1);
  reference::Random random(11);
  std::vector<std::uint32_t> rows(tokens);
  for (std::uint32_t i = 0; i < tokens; ++i) rows[i] = i;
  std::vector<std::int32_t> ids(tokens * slots);
  // Some ids are of other GPUs, below 0 and from the number of experts on.
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(reference::between(random, 0, experts + 4)) - 2;
  using enum ElementType;
  const OnDevice x(device, u32, {tokens, 1}, rows);
  const OnDevice given(device, i32, {tokens, slots}, ids);
  OnDevice sorted(device, u32, {capacity, 1}, std::vector<std::uint32_t>(capacity, 0xabababab));
  OnDevice positions(device, i32, {tokens, slots}, std::vector<std::int32_t>(tokens * slots, 7));
  OnDevice counts(device, i32, {experts}, std::vector<std::int32_t>(experts, 7));
  OnDevice offsets(device, i32, {experts + 1}, std::vector<std::int32_t>(experts + 1, 7));
  moe_permute(runtime, {sorted.tensor(), positions.tensor(), counts.tensor(), offsets.tensor()}, x.tensor(),
              given.tensor(), {.alignment = alignment});
  const std::vector<std::uint32_t>& found = sorted.read();
  const std::vector<std::int32_t>& places = positions.read();
  std::vector<std::int32_t> next = offsets.read();
  std::set<std::int32_t> used;
  for (std::size_t pair = 0; pair < ids.size(); ++pair) {
    const bool exists = ids[pair] >= 0 && ids[pair] < static_cast<std::int32_t>(experts);
    // In the order of tokens and slots, each expert's rows follow each other.
    CHECK(places[pair] == (exists ? next[static_cast<std::size_t>(ids[pair])]++ : absent));
    if (!exists) continue;
    CHECK(used.insert(places[pair]).second);
    CHECK(found[static_cast<std::size_t>(places[pair])] == pair / slots);
  }
  for (std::size_t expert = 0; expert < experts; ++expert) {
    const std::int32_t first = offsets.read()[expert];
    CHECK(first % static_cast<std::int32_t>(alignment) == 0);
    CHECK(counts.read()[expert] == next[expert] - first);
    CHECK(offsets.read()[expert + 1] - next[expert] < static_cast<std::int32_t>(alignment));
  }
  for (std::size_t row = 0; row < capacity; ++row) {
    if (!used.contains(static_cast<std::int32_t>(row))) CHECK(found[row] == 0xabababab);
  }
}

TEST_CASE("rows beyond the destination are not stored") {
  Fixture fixture;
  for (const std::uint64_t capacity : {0, 1, 100, 599}) {
    TestCase made =
        dense_case(ElementType::bf16, {.tokens = 300, .slots = 2, .experts = 7, .alignment = 4}, 7);
    const TensorView whole = made.destinations[0].view;
    // The buffer keeps its size: its last rows must not change.
    made.destinations[0].view = TensorView::contiguous(whole.type, {capacity, whole.shape[1]});
    CHECK(fixture.run(made) == "");
  }
}

}  // namespace moe_permute_sim_test
