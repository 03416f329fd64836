/// Operations that copy many tensors in one launch: results, numbers of launches, and the memory of their
/// tables.
#include "lib/null_device.hpp"
#include "ops/own_memory.hpp"
#include "plan/candidates.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"
#include "spec/graph_memory.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/ragged.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::TestCase;

namespace {

Runtime simulated_batches(std::uint64_t n) {
  SimOptions options;
  options.mode = std::array{SimOptions::Mode::late, SimOptions::Mode::random, SimOptions::Mode::early}[n % 3];
  options.seed = n + 1;
  options.threads = 1;
  return Runtime({.device = make_sim_device(options),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_without_lines});
}

/// Extends a buffer by a gap of `gap` elements and the bytes of `view`. Returns the view at that position.
reference::BufferView append(TestCase& test_case, std::size_t buffer, const TensorView& view,
                             std::uint64_t gap) {
  const std::uint64_t size = size_of(view.type);
  std::uint64_t& end = test_case.buffers[buffer];
  const std::uint64_t at = (end + size - 1) / size * size + gap * size;
  end = at + view.elements() * size;
  return {view, buffer, at};
}

/// A concat or split of `count` parts along an axis. Each part has at most `max_part_extent` indices along
/// the axis, some have none. `test_case` is the same operation as a batch of copies, which has a reference.
struct Joined {
  TestCase test_case{.operation = "copy_ragged", .buffers = {0, 0}};
  TensorView whole;
  std::uint64_t whole_at = 0;
  bool is_split = false;
  std::int64_t axis = 0;

  Joined(std::uint64_t seed, std::uint64_t count, bool splits, std::uint64_t max_part_extent)
      : is_split(splits) {
    reference::Random random(seed);
    const auto type =
        std::array{ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64}[random() % 4];
    const std::size_t rank = 1 + random() % 3;
    const std::size_t along = random() % rank;
    axis = static_cast<std::int64_t>(along);
    const bool has_gaps = random() % 2 == 0;
    std::vector<std::uint64_t> shape(rank);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 9;
    std::vector<TensorView> parts;
    std::uint64_t extent_of_whole = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      shape[along] = random() % 10 == 0 ? 0 : 1 + random() % max_part_extent;
      extent_of_whole += shape[along];
      parts.push_back(TensorView::contiguous(type, shape));
    }
    shape[along] = extent_of_whole;
    whole = TensorView::contiguous(type, shape);
    const auto in_whole = append(test_case, is_split ? 1 : 0, whole, random() % 3);
    whole_at = in_whole.offset;
    std::uint64_t at = whole_at;
    for (const TensorView& part : parts) {
      const auto alone = append(test_case, is_split ? 0 : 1, part, has_gaps ? random() % 5 : 0);
      reference::BufferView slice{part, in_whole.buffer, at};
      slice.view.strides = whole.strides;
      at += part.shape[along] * static_cast<std::uint64_t>(whole.strides[along]) * size_of(type);
      test_case.destinations.push_back(is_split ? alone : slice);
      test_case.sources.push_back(is_split ? slice : alone);
    }
  }

  [[nodiscard]] Operation operation(std::span<const DevicePtr> buffers) const {
    const Operation batch = reference::operation_of(test_case, buffers);
    const Tensor at{whole, buffers[is_split ? 1 : 0] + whole_at};
    return is_split ? operation::split(batch.destinations, at, axis)
                    : operation::concat(at, batch.sources, axis);
  }
};

/// A null device that records copies and counts the calls for which the host waits.
class WaitingDevice : public tools::NullDevice {
 public:
  struct Copy {
    DevicePtr to;
    std::size_t bytes;
    Stream stream;
  };
  std::vector<Copy> copies;
  int waits = 0;

  void copy_in(DevicePtr to, std::span<const std::byte> from, Stream stream) override {
    copies.push_back({to, from.size(), stream});
  }
  void free(DevicePtr pointer) noexcept override {
    if (pointer != 0) ++waits;
    NullDevice::free(pointer);
  }
  void synchronize(Stream) override { ++waits; }
};

/// A device that allocates memory for captured launches, and counts the allocations.
class GraphDevice final : public WaitingDevice, public GraphMemory {
 public:
  int graph_allocations = 0;
  DevicePtr allocate_for_capture(Stream on, std::span<const std::byte>) override {
    return is_captured(on) ? allocate(static_cast<std::uint64_t>(++graph_allocations)) : 0;
  }
};

Runtime runtime_on(const std::shared_ptr<Device>& device) {
  return Runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
}

Stream stream(std::uintptr_t number) {
  return reinterpret_cast<Stream>(number * 0x1000);
}

/// `count` tensors of bf16 at `address`, with 32, 33 … 95, 32 … rows.
std::vector<Tensor> sequences(std::size_t count, DevicePtr address) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    tensors.push_back(
        Tensor::contiguous(ElementType::bf16, {32 + static_cast<std::int64_t>(i % 64), 64}, address));
    address += 1 << 14;
  }
  return tensors;
}

}  // namespace

TEST_CASE("batches: concats and splits of 1 to 400 tensors equal the reference") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 24);
  const std::uint64_t seed = tests::seed(20261126);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::uint64_t batches = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Runtime runtime = simulated_batches(n);
    reference::Random random(seed + n);
    const std::uint64_t count = n % 3 == 0 ? 1 + random() % 12 : 13 + random() % 388;
    const Joined joined(seed + n, count, n % 2 == 0, count > 100 ? 8 : 40);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << joined.test_case.text());
    const reference::Buffers before = random_buffers(joined.test_case, seed + n);
    const reference::Expected right = expected(joined.test_case, before);
    try {
      const auto memory = tests::own_allocations(runtime.device())(joined.test_case, 0);
      const Plan planned = plan(runtime, joined.operation(memory->addresses()));
      if (!planned.plans().empty() && planned.plans()[0].family().name == "ragged") ++batches;
      const std::vector<KernelPlan> shown = plan_kernels(
          joined.operation(memory->addresses()), {.chip = runtime.chip(), .tuning = &tuning(runtime)});
      REQUIRE(shown.size() == planned.plans().size());
      for (std::size_t i = 0; i < shown.size(); ++i) CHECK(shown[i].key() == planned.plans()[i].key());
      for (int again = 0; again < 2; ++again) {
        memory->write(before);
        planned();
        CHECK(difference(joined.test_case, right, memory->read(before)) == "");
      }
      const auto other = tests::own_allocations(runtime.device())(joined.test_case, 8 * (n % 4));
      const Operation there = joined.operation(other->addresses());
      other->write(before);
      planned(tests::addresses_of(there.destinations), tests::addresses_of(there.sources));
      CHECK(difference(joined.test_case, right, other->read(before)) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  CHECK(batches >= cases / 2);
}

TEST_CASE("batches: concat and split of 300 tensors take one launch, of a few tensors one launch each") {
  const Runtime runtime({.cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  const auto launches = [&](std::size_t count, std::uint64_t columns) {
    const std::vector<Tensor> parts(
        count, Tensor::contiguous(ElementType::bf16, {7, static_cast<std::int64_t>(columns)}, 1 << 20));
    std::vector<Tensor> spaced = parts;
    for (std::size_t i = 0; i < count; ++i) spaced[i].address += i * 14 * columns;
    const auto rows = static_cast<std::int64_t>(7 * count);
    const auto whole =
        Tensor::contiguous(ElementType::bf16, {rows, static_cast<std::int64_t>(columns)}, DevicePtr{1} << 40);
    const Plan joins = plan(runtime, operation::concat(whole, spaced, 0));
    CHECK(joins.bytes_moved() == 2ULL * 14 * columns * count);
    CHECK(plan(runtime, operation::split(spaced, whole, 0)).plans().size() == joins.plans().size());
    return joins.plans().size();
  };
  CHECK(launches(300, 64) == 1);
  CHECK(launches(300, 33) == 1);
  CHECK(launches(3, 64) == 3);
}

TEST_CASE("batches: explain() shows a batch of many tensors as one launch, with its kernels") {
  const Runtime runtime({.cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  const std::vector<Tensor> parts = sequences(40, 1 << 20);
  std::int64_t rows = 0;
  for (const Tensor& part : parts) rows += static_cast<std::int64_t>(part.view.shape[0]);
  const auto whole = Tensor::contiguous(ElementType::bf16, {rows, 64}, DevicePtr{1} << 40);
  const MoveExplanation explained = plan(runtime, operation::concat(whole, parts, 0)).explain();
  REQUIRE(explained.steps.size() == 1);
  const MoveStep& step = explained.steps.front();
  CHECK(step.kernel == "ragged");
  CHECK(step.predicted_us > 0);
  CHECK(step.alternatives.size() >= 3);
  CHECK(std::ranges::is_sorted(step.alternatives, {}, &MoveStep::Alternative::predicted_us));
  CHECK(explained.text().find("40 tensors as one batch") != std::string::npos);
  CHECK(explained.shape_class.starts_with("ragged 8B"));
}

TEST_CASE("batches: every candidate gives the reference's results for random batches") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 8);
  const std::uint64_t seed = tests::seed(20261127);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  std::size_t most_candidates = 0;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Runtime runtime = simulated_batches(n);
    const auto test_case = reference::random_test_case(
        "copy_ragged", seed + n, 0, {.elements = 10'000, .max_elements = 20'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << test_case.text());
    const reference::Buffers before = random_buffers(test_case, seed + n);
    const auto memory = tests::own_allocations(runtime.device())(test_case, 0);
    const Operation batch = reference::operation_of(test_case, memory->addresses());
    Chip chip;
    chip.sm_count = n % 2 == 0 ? 1 : 3;  // so that each CTA has several tiles
    const std::size_t count =
        batch_candidates(batch.destinations, batch.sources, 0, {.chip = chip}).plans.size();
    most_candidates = std::max(most_candidates, count);
    for (std::size_t i = 0; i < count; ++i) {
      // The plan of candidate i, whose table will be at `table`.
      const auto candidate_plan = [&](DevicePtr table) {
        return batch_candidates(batch.destinations, batch.sources, table, {.chip = chip}).plans[i];
      };
      const Buffer table(runtime.device(), candidate_plan(0).table.size());
      const RaggedPlan planned = candidate_plan(table.address());
      INFO(planned.kernel.choice().text());
      memory->write(before);
      runtime.device()->memory().copy_in(table.address(), planned.table, nullptr);
      try {
        runtime.kernel(planned.kernel).launch(planned.kernel);
        CHECK(difference(test_case, expected(test_case, before), memory->read(before)) == "");
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
  CHECK(most_candidates >= 4);
}

TEST_CASE("batches: launches with new addresses on many streams do not make the host wait") {
  const auto device = std::make_shared<WaitingDevice>();
  const Runtime runtime = runtime_on(device);
  const std::vector<Tensor> to = sequences(300, DevicePtr{1} << 42);
  const std::vector<Tensor> from = sequences(300, DevicePtr{1} << 43);
  const Plan copies = plan(runtime, operation::copy_ragged(to, from));
  device->waits = 0;
  const auto launch = [&](DevicePtr shift, Stream on) {
    std::vector<DevicePtr> destinations = tests::addresses_of(to);
    for (DevicePtr& address : destinations) address += shift << 24;
    copies(destinations, tests::addresses_of(from), on);
  };
  for (DevicePtr n = 0; n < 40; ++n) launch(n, stream(1 + n % 4));
  CHECK(device->waits == 0);
  REQUIRE(device->copies.size() == 40);
  for (std::size_t n = 0; n < 40; ++n) CHECK(device->copies[n].stream == stream(1 + n % 4));
  // A stream keeps the tables of its last launches.
  launch(36, stream(1));
  CHECK(device->copies.size() == 40);
  launch(36, stream(2));
  CHECK(device->copies.size() == 41);
  // Each table belongs to one stream, which reuses its oldest table.
  for (const auto& one : device->copies) {
    for (const auto& other : device->copies) CHECK((one.to != other.to || one.stream == other.stream));
  }
  launch(0, stream(1));
  CHECK(device->waits == 0);
}

TEST_CASE("batches: a captured launch has a table of its own, which lives as long as the graph") {
  const auto device = std::make_shared<GraphDevice>();
  const Runtime runtime = runtime_on(device);
  const Plan copies = plan(
      runtime, operation::copy_ragged(sequences(20, DevicePtr{1} << 42), sequences(20, DevicePtr{1} << 43)));
  copies(stream(1));
  CHECK(device->copies.size() == 1);
  device->captured = stream(1);
  for (int again = 0; again < 2; ++again)
    copies(stream(1));  // later launches may not overwrite the graph's table
  copies(stream(2));
  CHECK(device->graph_allocations == 2);
  CHECK(device->copies.size() == 2);
  device->captured = nullptr;
  copies(stream(1));
  CHECK(device->graph_allocations == 2);
  CHECK(device->copies.size() == 2);
  CHECK(device->waits == 0);

  const auto plain = std::make_shared<WaitingDevice>();
  plain->captured = stream(1);
  CHECK_THROWS_AS(copy_ragged(runtime_on(plain), sequences(20, DevicePtr{1} << 42),
                              sequences(20, DevicePtr{1} << 43), stream(1)),
                  Error);
}

TEST_CASE("batches: large tables are copied in blocks of at most 64 KiB, without waiting") {
  const auto device = std::make_shared<WaitingDevice>();
  const Runtime runtime = runtime_on(device);
  copy_ragged(runtime, sequences(3000, DevicePtr{1} << 42), sequences(3000, DevicePtr{1} << 43));
  REQUIRE(device->copies.size() > 1);
  for (const auto& copy : device->copies) CHECK(copy.bytes <= 1 << 16);
  CHECK(device->waits == 0);
}

TEST_CASE("batches: threads can launch one plan concurrently on different addresses") {
  const Runtime runtime = simulated_batches(0);
  const TestCase test_case =
      reference::random_test_case("copy_ragged", 5, 0, {.elements = 2000, .max_elements = 4000, .guard = 0});
  const reference::Buffers before = random_buffers(test_case, 1);
  const reference::Expected right = expected(test_case, before);
  std::vector<std::unique_ptr<tests::CaseMemory>> placed(12);
  for (auto& one : placed) one = tests::own_allocations(runtime.device())(test_case, 0);
  const Plan copies = plan(runtime, reference::operation_of(test_case, placed[0]->addresses()));
  for (auto& one : placed) one->write(before);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const Stream own = runtime.device()->streams().create();
      for (std::size_t i = t; i < 2 * placed.size(); i += 3) {
        const Operation there = reference::operation_of(test_case, placed[i % placed.size()]->addresses());
        copies(tests::addresses_of(there.destinations), tests::addresses_of(there.sources), own);
      }
      runtime.device()->streams().synchronize(own);
      runtime.device()->streams().destroy(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& one : placed) CHECK(difference(test_case, right, one->read(before)) == "");
}
