// Plans that are used again at other addresses, and that outlive their runtime.
#include "lib/allocations.hpp"
#include "operations/list.hpp"
#include "ops/move_plan.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"
#include "runtime/fake_device.hpp"
#include "spec/inside.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr DevicePtr at = 0x7f00'0000'0000;     // an address aligned for all kernels
constexpr DevicePtr far = DevicePtr{1} << 32;  // a distance at which the tensors of these tests are disjoint
constexpr std::array<std::uint32_t, 2> turned{1, 0};

Tensor matrix(std::uint64_t rows, std::uint64_t columns, DevicePtr address) {
  return {TensorView::contiguous(ElementType::f32, std::vector{rows, columns}), address};
}
Operation transposition() {
  return operation::permute(matrix(64, 96, at), matrix(96, 64, at + far), turned);
}

/// A recorded launch: its shape, parameters, and the addresses of its tensor maps.
struct Launched {
  LaunchShape shape;
  std::vector<std::vector<std::byte>> parameters;
  std::vector<DevicePtr> maps;
  bool operator==(const Launched& other) const {
    return shape.grid == other.shape.grid && shape.block == other.shape.block &&
           shape.shared_bytes == other.shape.shared_bytes && parameters == other.parameters &&
           maps == other.maps;
  }
};

/// Records the launches that a function makes, of kernels with known plans.
class LaunchRecorder {
 public:
  explicit LaunchRecorder(const std::shared_ptr<FakeDevice>& device) : device_(device) {}

  template <class Run>
  std::vector<Launched> operator()(const std::vector<KernelPlan>& plans, Run&& run) {
    std::vector<Launched> all;
    device_->on_launch = [&](const FakeDevice::Launch& launch) {
      Launched& one = all.emplace_back(Launched{launch.shape, {}, {}});
      const std::vector<Parameter> parameters = plans.at(all.size() - 1).parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto* const bytes = static_cast<const std::byte*>(launch.parameters[i]);
        if (parameters[i].map) {
          std::size_t number = 0;
          std::memcpy(&number, bytes, sizeof number);
          one.maps.push_back(device_->encoded.at(number).address);
        } else {
          one.parameters.emplace_back(bytes, bytes + parameters[i].bytes);
        }
      }
    };
    run();
    device_->on_launch = nullptr;
    return all;
  }

 private:
  std::shared_ptr<FakeDevice> device_;
};

/// Kernels of plans on a fake device, which needs no compiler.
std::vector<Kernel> kernels_of(const std::vector<KernelPlan>& plans,
                               const std::shared_ptr<FakeDevice>& device) {
  std::vector<Kernel> kernels;
  for (const KernelPlan& plan : plans) {
    BuiltKernel built;
    built.device = device;
    built.loaded = device->kernels().load({});
    kernels.push_back(
        Inside::make<Kernel>(make_kernel_state(KernelOrigin({.plan = &plan}), nullptr, std::move(built))));
  }
  return kernels;
}

/// For each plan, which of its operands interleave with its destination.
std::vector<std::array<bool, max_operands>> interleaves_in(const std::vector<KernelPlan>& plans) {
  std::vector<std::array<bool, max_operands>> all;
  all.reserve(plans.size());
  for (const KernelPlan& plan : plans) all.push_back(Inside::state(plan)->problem.interleaved);
  return all;
}

std::vector<DevicePtr> addresses_of(std::span<const Tensor> tensors) {
  std::vector<DevicePtr> addresses;
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.address);
  return addresses;
}

std::optional<std::string> why_refused(const Operation& operation) {
  try {
    check_operation(operation.moves);
    return std::nullopt;
  } catch (const SpecError& error) {
    return error.what();
  }
}

template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a random plan used at other addresses makes the launches of a plan made for these addresses") {
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  const auto device = std::make_shared<FakeDevice>();
  LaunchRecorder recorder(device);
  int same_kernels = 0;
  int other_kernels = 0;
  for (std::uint64_t n = 0; n < 400; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    reference::Random random(seed + n);
    std::vector<Move> moves;
    for (std::uint64_t i = 0; i <= n % 3; ++i) {
      Move& move = moves.emplace_back(tests::random_move(seed + 1000 * n + i, 40));
      move.destination.address += i * far * 8;  // moves of one operation may not overlap
    }
    const Operation operation = Operation::of(moves);
    if (why_refused(operation)) continue;
    const std::vector<KernelPlan> plans = plan_kernels(operation);
    const auto reaches = reaches_of(operation);
    const auto launches = PlacedLaunches::make(operation, reaches, plans, kernels_of(plans, device));

    std::vector<DevicePtr> destinations = addresses_of(operation.destinations);
    std::vector<DevicePtr> sources = addresses_of(operation.sources);
    for (auto* const list : {&destinations, &sources}) {
      for (DevicePtr& address : *list)
        address += 16 * reference::between(random, 0, 1 << 24) - (DevicePtr{1} << 27);
    }
    // Try to place source 0 near destination 0, where some tensors interleave.
    const DevicePtr elsewhere = sources.empty() ? 0 : sources[0];
    for (int tries = 0; tries < 40 && !sources.empty(); ++tries) {
      sources[0] = destinations[0] / 16 * 16 + elsewhere % 16 + 16 * reference::between(random, 0, 60);
      if (!why_refused(moved_to({destinations, sources}, operation))) break;
      sources[0] = elsewhere;
    }
    const TensorAddresses addresses{destinations, sources};
    const Operation moved = moved_to(addresses, operation);
    if (why_refused(moved)) continue;
    const std::vector<KernelPlan> there = plan_kernels(moved);
    // Another kernel is needed only if a source interleaves with the destination now but did not in the plan.
    bool interleaves = false;
    for (std::size_t i = 0; i < there.size(); ++i) {
      const Problem& now = Inside::state(there[i])->problem;
      for (std::uint32_t k = 1; k < now.nest.operands; ++k) {
        interleaves = interleaves || (now.interleaved[k] && !Inside::state(plans[i])->problem.interleaved[k]);
      }
    }
    CHECK(launches->suits(addresses, Placement::unsure) == !interleaves);
    if (interleaves_in(there) != interleaves_in(plans)) {
      ++other_kernels;
      continue;
    }
    ++same_kernels;
    REQUIRE(there.size() == plans.size());
    for (std::size_t i = 0; i < there.size(); ++i) CHECK(there[i].key() == plans[i].key());
    const auto expected = PlacedLaunches::make(moved, reaches, there, kernels_of(there, device));
    const auto found = recorder(plans, [&] { (*launches)(addresses, nullptr); });
    CHECK(found == recorder(there, [&] { (*expected)(addresses, nullptr); }));
    CHECK(found.size() == plans.size());

    destinations[0] += 8;
    CHECK_FALSE(launches->suits(addresses, Placement::disjoint));
  }
  CHECK(same_kernels > 100);
  CHECK(other_kernels > 10);
}

TEST_CASE("tensors that the quick check finds disjoint are disjoint, for random addresses") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  int sure = 0;
  int legal = 0;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    reference::Random random(seed + n);
    const Operation operation = Operation::of({tests::random_move(seed + n % 300, 40)});
    if (why_refused(operation)) continue;
    const auto launches = PlacedLaunches::make(operation, reaches_of(operation), {}, {});
    std::vector<DevicePtr> destinations = addresses_of(operation.destinations);
    std::vector<DevicePtr> sources = addresses_of(operation.sources);
    // Addresses near each other, so that many tensors overlap. Some are null or at the end of the address
    // space.
    for (auto* const list : {&destinations, &sources}) {
      for (DevicePtr& address : *list) {
        address = at + address % 16 + 16 * reference::between(random, 0, 4096);
        if (reference::one_in(random, 50)) address = address % 16;
        if (reference::one_in(random, 50))
          address = 0 - 16 * reference::between(random, 1, 1024) + address % 16;
      }
    }
    if (reference::one_in(random, 3) && !sources.empty()) sources[0] = destinations[0];
    const TensorAddresses addresses{destinations, sources};
    const auto why = why_refused(moved_to(addresses, operation));
    legal += why ? 0 : 1;
    const Placement placement = launches->placement(addresses);
    if (placement == Placement::unsure) continue;
    ++sure;
    INFO(why.value_or(""));
    CHECK_FALSE(why.has_value());
    if (placement == Placement::as_planned) continue;
    for (const auto& of_move : interleaves_in(plan_kernels(moved_to(addresses, operation)))) {
      CHECK(std::ranges::count(of_move, true) == 0);
    }
  }
  std::cout << "  " << legal << " legal, " << sure << " of them found so without a search\n";
  CHECK(sure > legal / 2);
}

TEST_CASE("a plan used at other addresses neither plans, compiles nor allocates") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Plan plan = tmajit::plan(runtime, transposition());
  CHECK(device->loads == 1);
  device->on_launch = nullptr;
  const DevicePtr to = at + 4096;
  const DevicePtr from = at + 3 * far;
  const std::size_t before = allocations();
  for (int i = 0; i < 100; ++i) plan({&to, 1}, {&from, 1});
  CHECK(allocations() == before);
  CHECK(device->launches == 100);
  CHECK(device->loads == 1);
}

TEST_CASE("the kernel for addresses of another alignment is loaded only once") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Plan plan = tmajit::plan(runtime, transposition());
  device->on_launch = nullptr;
  const DevicePtr to = at + 4;
  const DevicePtr from = at + far;
  plan({&to, 1}, {&from, 1});
  const int loads = device->loads;
  CHECK(loads == 2);
  std::vector<std::jthread> threads(4);
  for (std::jthread& thread : threads) {
    thread = std::jthread([&] {
      for (int i = 0; i < 100; ++i) plan({&to, 1}, {&from, 1});
    });
  }
  threads.clear();
  CHECK(device->loads == loads);
  CHECK(device->launches == 401);
}

TEST_CASE("a plan keeps launches for a limited number of alignment classes") {
  const Operation operation = transposition();
  LaunchesByAlignment launches;
  for (std::uint32_t i = 0; i < LaunchesByAlignment::max_classes; ++i) {
    CHECK_FALSE(launches.full());
    launches.add(PlacedLaunches::make(operation, reaches_of(operation), {}, {}));
  }
  CHECK(launches.full());
}

TEST_CASE("the launches of a class of alignment take less than 600 bytes") {
  const auto device = std::make_shared<FakeDevice>();
  const Operation operation = transposition();
  const std::vector<KernelPlan> plans = plan_kernels(operation);
  const std::vector<Kernel> kernels = kernels_of(plans, device);
  const auto reaches = reaches_of(operation);
  const std::size_t before = heap_bytes();
  const auto launches = PlacedLaunches::make(operation, reaches, plans, kernels);
  const std::size_t bytes = heap_bytes() - before;
  std::cout << "  bytes of a class of alignment: " << bytes << '\n';
  CHECK(bytes < 600);
}

TEST_CASE("illegal addresses are refused, and nothing is launched") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Plan plan = tmajit::plan(runtime, transposition());
  const auto refuse = [&](DevicePtr to, DevicePtr from, const std::string& because) {
    CHECK_THAT(error_of([&] { plan({&to, 1}, {&from, 1}); }), ContainsSubstring(because));
  };
  refuse(at, at, "the destination");
  refuse(at + 64, at, "share");
  refuse(0, at, "address");
  refuse(at, 0, "address");
  refuse(at + 2, at + far, "address");
  refuse(0 - DevicePtr{64}, at, "address");
  const DevicePtr one = at;
  CHECK_THAT(error_of([&] { plan({&one, 1}, {}); }), ContainsSubstring(", but 0 addresses are given"));
  CHECK_THAT(error_of([&] { plan({}, {&one, 1}); }), ContainsSubstring(", but 0 addresses are given"));
  CHECK(device->launches == 0);
}

TEST_CASE("a map can be used in place at new addresses, whether or not it was planned in place") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const std::array sources{matrix(64, 64, at + far)};
  const Plan separate = tmajit::plan(runtime, operation::map(matrix(64, 64, at), "x + 1", sources));
  const std::array same{matrix(64, 64, at)};
  const Plan in_place = tmajit::plan(runtime, operation::map(matrix(64, 64, at), "x + 1", same));
  device->on_launch = nullptr;
  const DevicePtr other = at + 2 * far;
  CHECK_NOTHROW(separate({&other, 1}, {&other, 1}));
  CHECK_NOTHROW(in_place({&other, 1}, {&other, 1}));
  const std::size_t before = allocations();
  in_place({&other, 1}, {&other, 1});
  CHECK(allocations() == before);
  const DevicePtr shifted = other + 16;
  CHECK_THROWS_AS(in_place({&other, 1}, {&shifted, 1}), SpecError);
}

TEST_CASE("a plan uses another kernel while its tensors interleave, and loads it only once") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  // The first 64 columns of a matrix of 65 by 201 bytes: the 64 bytes of a row begin at any alignment.
  const auto columns = [](DevicePtr address) {
    return Tensor{TensorView::strided(ElementType::u8, std::vector<std::uint64_t>{65, 64},
                                      std::vector<std::int64_t>{201, 1}),
                  address};
  };
  const Plan separate = tmajit::plan(runtime, operation::copy(columns(at), columns(at + far)));
  const Plan interleaved = tmajit::plan(runtime, operation::copy(columns(at), columns(at + 64)));
  CHECK(separate.plans()[0].key() != interleaved.plans()[0].key());
  device->on_launch = nullptr;
  const int loads = device->loads;
  const DevicePtr to = at + 2 * far;
  const DevicePtr near = to + 128;
  const DevicePtr other = to + far;
  for (int i = 0; i < 3; ++i) {
    separate({&to, 1}, {&near, 1});      // needs another kernel, which reads no bytes between elements
    separate({&to, 1}, {&other, 1});     // the first kernel is right again
    interleaved({&to, 1}, {&near, 1});   // interleaved as planned
    interleaved({&to, 1}, {&other, 1});  // a kernel that reads no bytes between elements is always right
  }
  CHECK(device->loads == loads);  // both kernels were loaded before
  CHECK(device->launches == 12);
}

TEST_CASE("a plan outlives its runtime, and a moved-from runtime can still be used") {
  const auto device = std::make_shared<FakeDevice>();
  std::optional<Runtime> runtime(std::in_place,
                                 RuntimeOptions{.device = device, .cache_directory = std::nullopt});
  const Plan plan = tmajit::plan(*runtime, transposition());
  const Runtime moved = std::move(*runtime);  // NOLINT(performance-move-const-arg): copies a handle
  CHECK_NOTHROW(tmajit::plan(*runtime, transposition()));  // NOLINT(bugprone-use-after-move): a handle
  runtime.reset();
  device->on_launch = nullptr;
  CHECK_NOTHROW(plan());
  const DevicePtr to = at + 4;
  const DevicePtr from = at + far;
  CHECK_NOTHROW(plan({&to, 1}, {&from, 1}));
  CHECK(plan.explain().steps.size() == 1);
}

TEST_CASE("an operation given only by moves has the tensors of these moves") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  Operation operation = transposition();
  operation.moves.push_back({matrix(8, 8, at + 4 * far), {matrix(8, 8, at + 5 * far)}});
  operation.destinations.clear();
  operation.sources.clear();
  const Plan plan = tmajit::plan(runtime, operation);
  device->on_launch = nullptr;
  CHECK_NOTHROW(plan());
  const std::array to{at + 6 * far, at + 7 * far};
  const std::array from{at + 8 * far, at + 9 * far};
  CHECK_NOTHROW(plan(to, from));
  CHECK(device->launches == 4);
}

TEST_CASE("an operation without moves has no tensors and can be called") {
  const Runtime runtime({.device = std::make_shared<FakeDevice>(), .cache_directory = std::nullopt});
  CHECK_NOTHROW(tmajit::plan(runtime, Operation{})());
  CHECK_NOTHROW(tmajit::plan(runtime, Operation::of({}))());
}

TEST_CASE("a plan without elements does nothing at any addresses") {
  const auto device = std::make_shared<FakeDevice>();
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const Plan plan = tmajit::plan(runtime, operation::copy(matrix(0, 4, 0), matrix(0, 4, 0)));
  const DevicePtr somewhere = at;
  CHECK_NOTHROW(plan());
  CHECK_NOTHROW(plan({&somewhere, 1}, {&somewhere, 1}));
  CHECK(device->launches == 0);
}
