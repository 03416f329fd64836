/// Moves between parts of one buffer, whose addresses interleave: columns, rows, elements and blocks of a
/// matrix, and maps in place. The simulated device reports data races, such as a load of a byte that another
/// thread may write.
#include "ops/every_candidate.hpp"
#include "ops/own_memory.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"
#include "spec/inside.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::Buffers, reference::BufferView, reference::one_in, reference::one_of,
    reference::Random, reference::TestCase;

namespace {

enum class Parts : std::uint8_t { columns, rows, elements, squares, reversed, same };
constexpr std::array all_parts{Parts::columns, Parts::rows,     Parts::elements,
                               Parts::squares, Parts::reversed, Parts::same};
const char* name(Parts parts) {
  constexpr std::array names{
      "columns",          "even and odd rows", "even and odd elements", "transposed squares",
      "reversed columns", "in place"};
  return names[static_cast<std::size_t>(parts)];
}

/// Draws moves from one part of a matrix, or of a batch of matrices, to another part.
class Draw {
 public:
  Draw(std::uint64_t seed, Parts parts) : random_(seed), parts_(parts) {}

  TestCase move() {
    type_ = one_of(random_, all_element_types);
    // In half of the cases all extents and offsets are multiples of 16 bytes.
    const std::uint64_t unit = one_in(random_, 2) ? 16 / size_of(type_) : 1;
    const auto extent = [&](std::uint64_t most) { return unit * between(random_, 1, most / unit + 1); };
    const std::uint64_t rows = between(random_, 1, 30);
    // Some moves in place are dense and larger, so that kernels with the copy engine are candidates.
    const bool dense = parts_ == Parts::same && one_in(random_, 3);
    const std::uint64_t columns = extent(dense ? 900 : 70);
    const std::uint64_t gap = one_in(random_, 2) ? 0 : unit * between(random_, 0, 5);
    const std::uint64_t offset = unit * between(random_, 0, 5);
    std::uint64_t pitch = 2 * columns + gap + unit * between(random_, 0, 3);
    shape_ = {between(random_, 1, 3), rows, columns};
    strides_ = {0, 0, 1};
    std::uint64_t to = 0;
    std::uint64_t from = columns + gap;
    std::vector<std::int64_t> from_strides;
    if (dense) pitch = columns;
    switch (parts_) {
      case Parts::rows:
        from = pitch;
        pitch *= 2;
        break;
      case Parts::elements:
        strides_[2] = 2;
        from = 1;
        break;
      case Parts::squares: shape_[1] = columns; break;
      case Parts::same: from = 0; break;
      default: break;
    }
    if (parts_ != Parts::elements && parts_ != Parts::same && one_in(random_, 2)) std::swap(to, from);
    strides_[1] = static_cast<std::int64_t>(pitch);
    strides_[0] = static_cast<std::int64_t>(pitch * (shape_[1] + between(random_, 0, 1)));
    from_strides = strides_;
    if (parts_ == Parts::squares) std::swap(from_strides[1], from_strides[2]);
    if (parts_ == Parts::reversed) {
      from_strides[2] = -1;
      from += columns - 1;
    }
    const std::uint64_t all = offset + pitch * (shape_[1] + 2) * shape_[0] + 4 * columns;
    move_.buffers = {all * size_of(type_)};
    move_.destinations = {part(type_, strides_, offset + to)};
    move_.sources = {part(same_size_type(), from_strides, offset + from)};
    choose_operation(all);
    return move_;
  }

 private:
  [[nodiscard]] BufferView part(ElementType type, const std::vector<std::int64_t>& strides,
                                std::uint64_t first) const {
    return {TensorView::strided(type, shape_, strides), 0, first * size_of(type)};
  }

  ElementType same_size_type() {
    std::vector<ElementType> types;
    for (const ElementType type : all_element_types) {
      if (size_of(type) == size_of(type_)) types.push_back(type);
    }
    return one_of(random_, types);
  }

  void choose_operation(std::uint64_t all) {
    move_.operation = "copy";
    if (parts_ != Parts::same && !one_in(random_, 4)) return;
    move_.operation = "map";
    if (one_in(random_, 3)) {
      // A second source, in a buffer of its own or in the same buffer as the first.
      BufferView other = move_.sources[0];
      if (one_in(random_, 2)) {
        other.buffer = 1;
        move_.buffers.push_back(all * size_of(type_));
      }
      move_.sources.push_back(other);
    }
    constexpr std::array of_one{"x", "x0 + 1", "(float)x * 0.5f", "x > 7 ? 1.5f : -2.0f",
                                "x + (unsigned)g[1]"};
    constexpr std::array of_two{"x0 + x1", "x0 > x1 ? x0 : x1"};
    move_.arguments.set("expression", std::string(move_.sources.size() == 1 ? one_of(random_, of_one)
                                                                            : one_of(random_, of_two)));
  }

  Random random_;
  Parts parts_;
  ElementType type_{};
  std::vector<std::uint64_t> shape_;
  std::vector<std::int64_t> strides_;
  TestCase move_;
};

std::vector<std::unique_ptr<Runtime>> runtime_of_each_mode() {
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    SimOptions options{.mode = mode, .threads = 1};
    runtimes.push_back(std::make_unique<Runtime>(RuntimeOptions{.device = make_sim_device(options),
                                                                .cache_directory = tests::shared_kernels(),
                                                                .compile = tests::ptx_without_lines}));
  }
  return runtimes;
}

}  // namespace

TEST_CASE("random moves within one buffer equal the reference, by any candidate, and nothing is reported") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 72);
  const std::uint64_t seed = tests::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  const auto runtimes = runtime_of_each_mode();
  Random random(seed);
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Parts parts = all_parts[n % all_parts.size()];
    const TestCase test_case = Draw(seed + n, parts).move();
    Runtime& runtime = *runtimes[n / all_parts.size() % runtimes.size()];
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ", " << name(parts) << ": " << test_case.text());
    const Buffers before = random_buffers(test_case, seed + n);
    const reference::Expected right = expected(test_case, before);
    tests::OwnMemory memory(runtime.device(), test_case);
    const Operation operation = reference::operation_of(test_case, memory.addresses());
    const Problem problem = make_problem(operation.moves[0]);
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    // The planner's choice, and a random candidate.
    const Candidate& other = candidates[between(random, 0, candidates.size() - 1)];
    const KernelPlan chosen = plan_kernels(operation).front();
    for (const Candidate* const candidate : {&Inside::state(chosen)->candidate, &other}) {
      INFO(tests::choice_text(*candidate));
      ++counts[std::string(name(parts)) + ": " + std::string(candidate->family->name())];
      try {
        memory.write(before);
        tests::launch(runtime, problem, *candidate);
        CHECK(difference(test_case, right, memory.read(before)) == "");
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
  for (const auto& [kind, times] : counts) std::cout << "  " << kind << ": " << times << '\n';
}

TEST_CASE("a plan made for separate buffers is right and race-free for interleaved tensors") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 30);
  const std::uint64_t seed = tests::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  const auto runtimes = runtime_of_each_mode();
  for (std::uint64_t n = 0; n < cases; ++n) {
    const TestCase test_case = Draw(seed + n, all_parts[n % all_parts.size()]).move();
    Runtime& runtime = *runtimes[n / all_parts.size() % runtimes.size()];
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << test_case.text());
    const Buffers before = random_buffers(test_case, seed + n);
    const reference::Expected right = expected(test_case, before);
    // The same tensors, each in a buffer of its own.
    TestCase separate = test_case;
    separate.buffers.assign(1 + test_case.sources.size(), test_case.buffers[0]);
    for (std::size_t i = 0; i < test_case.sources.size(); ++i) separate.sources[i].buffer = i + 1;
    const tests::OwnMemory elsewhere(runtime.device(), separate);
    tests::OwnMemory memory(runtime.device(), test_case);
    memory.write(before);
    try {
      const Plan plan = tmajit::plan(runtime, reference::operation_of(separate, elsewhere.addresses()));
      const Operation here = reference::operation_of(test_case, memory.addresses());
      plan(tests::addresses_of(here.destinations), tests::addresses_of(here.sources));
      CHECK(difference(test_case, right, memory.read(before)) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("a kernel that loads bytes between a source's elements races if other threads write them") {
  const std::shared_ptr<SimDevice> device = make_sim_device({.threads = 1});
  Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines});
  // Columns of a matrix of 32 by 150 bytes: the rows' chunks do not end at word boundaries.
  const auto columns = [](DevicePtr address) {
    return Tensor{TensorView::strided(ElementType::u8, std::vector<std::uint64_t>{32, 75},
                                      std::vector<std::int64_t>{150, 1}),
                  address};
  };
  const Buffer matrix(device, 32ULL * 150);
  const Buffer other(device, 32ULL * 150);
  device->memory().fill(matrix.address(), std::byte{1}, matrix.bytes(), nullptr);
  device->memory().fill(other.address(), std::byte{1}, other.bytes(), nullptr);
  const auto plan_from = [&](DevicePtr address) {
    return plan_kernels(operation::copy(columns(matrix.address()), columns(address))).front();
  };
  const auto reports_of = [&](const KernelPlan& plan) {
    device->clear_reports();
    PreparedLaunch launch = runtime.kernel(plan).prepare(plan);
    launch.rebind(std::array{matrix.address(), matrix.address() + 75});
    launch();
    std::set<std::string> rules;
    for (const Report& report : device->reports()) rules.insert(report.rule);
    return rules;
  };
  // The schedule determines which of the two accesses comes first.
  const std::set<std::string> races = reports_of(plan_from(other.address() + 75));
  CHECK((races.contains("race.global-read-write") || races.contains("race.global-write-read")));
  CHECK(reports_of(plan_from(matrix.address() + 75)).empty());
}
