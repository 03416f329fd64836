/// Structs with arbitrary members: a call gives a result or an error, and never crashes.
#include "c/members.hpp"
#include "c/tuning_gpu.hpp"
#include "operations/names.hpp"
#include "seed.hpp"

#include <tmajit/c.h>
#include <tmajit/operations.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace {

using Random = std::mt19937_64;

/// A number that is legal in most places, at a limit, or far beyond one.
std::int64_t number(Random& random) {
  constexpr std::array<std::int64_t, 16> numbers{0,
                                                 1,
                                                 2,
                                                 3,
                                                 4,
                                                 7,
                                                 8,
                                                 64,
                                                 1000,
                                                 -1,
                                                 -2,
                                                 9,
                                                 std::int64_t{1} << 32,
                                                 std::int64_t{1} << 62,
                                                 std::numeric_limits<std::int64_t>::max(),
                                                 std::numeric_limits<std::int64_t>::min()};
  // Mostly from the first half, so that many calls pass the checks of single numbers.
  return numbers[random() % (random() % 8 == 0 ? numbers.size() : numbers.size() / 2)];
}
std::uint32_t count(Random& random) {
  return static_cast<std::uint32_t>(random() % 8 == 0 ? number(random)
                                                      : static_cast<std::int64_t>(random() % 5));
}

void draw(tmajit_dims& dims, Random& random) {
  dims.count = count(random);
  for (std::int64_t& value : dims.values) value = number(random);
  for (std::uint32_t d = 0; d < dims.count && d < TMAJIT_MAX_RANK; ++d)
    if (random() % 2 == 0) dims.values[d] = static_cast<std::int64_t>(d + random() % 2);
}
void draw(tmajit_integer& integer, Random& random) {
  integer.value = number(random);
  integer.given = random() % 16 == 0 ? count(random) : random() % 2;
}
void draw(tmajit_number& value, Random& random) {
  value.value = static_cast<double>(number(random));
  value.given = random() % 2;
}
void draw(tmajit_ranges& ranges, Random& random) {
  ranges.count = count(random);
  for (tmajit_range& range : ranges.values)
    for (tmajit_integer* const integer : {&range.start, &range.stop, &range.step}) draw(*integer, random);
}
void draw(tmajit_widths& widths, Random& random) {
  widths.count = count(random);
  for (std::int64_t& value : widths.before) value = number(random);
  for (std::int64_t& value : widths.after) value = number(random);
}
void draw(tmajit_integers& integers, Random& random) {
  static constexpr std::array<std::int64_t, 4> values{1, 2, std::numeric_limits<std::int64_t>::max(), -1};
  integers.count = random() % (values.size() + 1);
  integers.values = random() % 8 == 0 ? nullptr : values.data();
}
void draw(const char*& text, Random& random) {
  constexpr std::array<const char*, 9> texts{"add", "",     "x",      "sum",     "x + x0",
                                             "no",  "128B", "y = x0", "\xff\"\n"};
  text = texts[random() % texts.size()];
}

tmajit_tensor tensor(Random& random) {
  tmajit_tensor made{};
  made.size = sizeof made;
  made.address = static_cast<std::uint64_t>(number(random));
  made.dtype = static_cast<tmajit_dtype>(random() % 8 == 0 ? number(random)
                                                           : static_cast<std::int64_t>(1 + random() % 17));
  made.rank = count(random);
  made.strided = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(1 + random() % 16 / 15);
  for (std::int64_t& extent : made.extents) extent = number(random);
  for (std::int64_t& stride : made.strides) stride = number(random);
  return made;
}

/// Sources that a recipe takes, which drawn tensors hardly ever are. Empty for other operations.
std::vector<tmajit_tensor> legal_sources(std::string_view operation) {
  std::vector<tmajit_tensor> made;
  const tmajit::OperationInfo& info = tmajit::find_operation(operation);
  if (info.sources.empty()) return made;
  const tmajit::Argument* const block = info.find_argument("block");
  const std::uint64_t scale = block != nullptr && block->fallback == "128" ? 128 : 1;
  const auto rows = tmajit::TensorView::contiguous(tmajit::ElementType::f32, {6 * scale, 4 * scale});
  for (const tmajit::TensorView& view : tmajit::sources_of(operation, rows, info.max_sources, {})) {
    tmajit_tensor& one = made.emplace_back();
    one.size = sizeof one;
    one.dtype = tmajit_dtype_of(std::string(name(view.type)).c_str());
    one.rank = view.rank;
    std::copy(view.shape.begin(), view.shape.end(), one.extents);
  }
  return made;
}

struct Outcomes {
  std::uint64_t good = 0;
  std::uint64_t refused = 0;
  /// `error` is a reference, because the compiler may evaluate this argument before the call that stores it.
  void add(tmajit_status status, tmajit_error*& error) {
    CHECK(tmajit_error_status(error) == status);
    const std::string message = tmajit_error_message(error);
    CHECK((status == TMAJIT_OK) == message.empty());
    INFO(message);
    CHECK(status != TMAJIT_INTERNAL);
    ++(status == TMAJIT_OK ? good : refused);
    tmajit_error_destroy(error);
  }
};

constexpr int rounds = 4000;

/// A visitor that draws up to three quarters of the members, and omits the rest.
struct Drawer {
  Random& random;
  std::uint64_t quarters = random() % 4;
  template <class Member>
  Drawer& member(Member& drawn, std::string_view) {
    if (random() % 4 < quarters) draw(drawn, random);
    return *this;
  }
};

/// Calls tmajit_<operation>_results() and tmajit_<operation>_operation() with drawn tensors and arguments.
template <class Arguments, auto results_function, auto operation_function>
void run(const char* operation) {
  const std::uint64_t seed = tests::seed(20261126);
  INFO(operation << ", TMAJIT_SEED=" << seed);
  Random random(seed);
  Outcomes outcomes;
  const std::vector<tmajit_tensor> legal = legal_sources(operation);
  for (int n = 0; n < rounds; ++n) {
    Arguments arguments{};
    arguments.size = sizeof arguments;
    Drawer drawer{random};
    tests::visit_members(arguments, drawer);
    std::array sources{tensor(random), tensor(random)};
    if (random() % 2 == 0) sources[1] = sources[0];
    std::array results{sources[0], sources[0], sources[0], sources[0]};
    tmajit_error* error = nullptr;
    std::span<const tmajit_tensor> given = std::span(sources).first(1 + random() % sources.size());
    if (!legal.empty() && random() % 8 == 0) given = legal;
    const tmajit_status status = tests::call_results<results_function>(given, arguments, results, &error);
    outcomes.add(status, error);
    tmajit_operation* made = nullptr;
    const tmajit_status made_status =
        tests::call_with_tensors(operation_function, std::tuple(), std::span<const tmajit_tensor>(results),
                                 given, &std::as_const(arguments), &made, &error);
    CHECK((made != nullptr) == (made_status == TMAJIT_OK));
    tmajit_operation_destroy(made);
    outcomes.add(made_status, error);
  }
  std::cout << "  " << operation << ": " << outcomes.good << " results, " << outcomes.refused << " errors\n";
  CHECK(outcomes.good > 0);
  CHECK(outcomes.refused > 0);
}

}  // namespace

TEST_CASE("arbitrary tensors and arguments give results or errors") {
#define TMAJIT_RUN(name) \
  run<tmajit_##name##_arguments, tmajit_##name##_results, tmajit_##name##_operation>(#name);
  TMAJIT_FOR_EACH_OPERATION(TMAJIT_RUN)
#undef TMAJIT_RUN
}

TEST_CASE("functions that make views of arbitrary tensors give views or errors") {
  Random random(tests::seed(20261126));
  Outcomes outcomes;
  for (int n = 0; n < rounds; ++n) {
    const tmajit_tensor from = tensor(random);
    tmajit_tensor view = from;
    tmajit_dims dims{};
    draw(dims, random);
    tmajit_ranges ranges{};
    draw(ranges, random);
    tmajit_error* error = nullptr;
    outcomes.add(tmajit_tensor_permuted(&from, &dims, &view, &error), error);
    outcomes.add(tmajit_tensor_sliced(&from, &ranges, &view, &error), error);
    outcomes.add(tmajit_tensor_flipped(&from, number(random), &view, &error), error);
    outcomes.add(tmajit_tensor_broadcast(&from, &dims, &view, &error), error);
    outcomes.add(tmajit_tensor_reshaped(&from, &dims, &view, &error), error);
    std::uint64_t before = 0;
    std::uint64_t bytes = 0;
    outcomes.add(tmajit_tensor_memory(&from, &before, &bytes, &error), error);
  }
  CHECK(outcomes.good > 0);
  CHECK(outcomes.refused > 0);
}

namespace {

/// The callback's context: where it draws launches.
struct DrawnLaunches {
  Random& random;
  Outcomes outcomes{};
};

void describe_drawn(void* context, const tmajit_named_text*, std::size_t, tmajit_variant* variant) {
  auto& [random, outcomes] = *static_cast<DrawnLaunches*>(context);
  for (std::uint64_t calls = random() % 4; calls > 0; --calls) {
    tmajit_error* error = nullptr;
    if (random() % 4 == 0) {
      const char* why = nullptr;
      if (random() % 2 == 0) draw(why, random);
      outcomes.add(tmajit_variant_leave_out(variant, why, &error), error);
      continue;
    }
    const std::array tensors{tensor(random), tensor(random)};
    tmajit_tensor_map map{};
    map.size = sizeof map;
    for (std::uint32_t& extent : map.box) extent = count(random);
    draw(map.swizzle, random);
    const std::int64_t value = number(random);
    std::array<tmajit_argument, 2> arguments{};
    for (tmajit_argument& argument : arguments) {
      argument.size = sizeof argument;
      argument.kind = static_cast<std::int32_t>(
          random() % 8 == 0 ? number(random) : static_cast<std::int64_t>(1 + random() % 3));
      argument.tensor = count(random);
      argument.offset = number(random);
      argument.map = random() % 8 == 0 ? nullptr : &map;
      argument.value = random() % 8 == 0 ? nullptr : &value;
      argument.value_bytes = random() % 9;
      argument.alignment = count(random);
    }
    tmajit_launch launch{};
    launch.size = sizeof launch;
    for (std::uint32_t* const extents : {launch.grid, launch.block, launch.cluster})
      for (int d = 0; d < 3; ++d) extents[d] = random() % 4 == 0 ? count(random) : 1;
    launch.shared_bytes = random() % 4 == 0 ? static_cast<std::uint32_t>(number(random)) : 0;
    launch.cooperative = static_cast<std::uint32_t>(random() % 16 / 14);
    launch.tensors = random() % 8 == 0 ? nullptr : tensors.data();
    launch.tensor_count = random() % 3;
    launch.arguments = random() % 8 == 0 ? nullptr : arguments.data();
    launch.argument_count = random() % 3;
    outcomes.add(tmajit_variant_launch(variant, &launch, &error), error);
  }
}

}  // namespace

TEST_CASE("arbitrary choices and launches of a kernel that is tuned give reports or errors") {
  const std::uint64_t seed = tests::seed(20261126);
  INFO("TMAJIT_SEED=" << seed);
  Random random(seed);
  tests::TuningGpu gpu(tests::times({10, 20, 15}));
  tmajit_kernel_source source{};
  source.size = sizeof source;
  source.text = "__global__ void k(int*) {}";
  Outcomes outcomes;
  DrawnLaunches launches{random};
  for (int n = 0; n < rounds / 10; ++n) {
    constexpr std::array<const char*, 8> literals{"1", "2", "4u", "true", "0.5f", "1", "", "x"};
    constexpr std::array<const char*, 4> names{"a", "b", "int", ""};
    std::array<tmajit_constant_choices, 2> choices{};
    for (tmajit_constant_choices& one : choices) {
      one.name = names[random() % (random() % 4 == 0 ? 4 : 2)];
      const std::uint64_t first = random() % (random() % 4 == 0 ? 6 : 3);
      one.values = random() % 16 == 0 ? nullptr : &literals[first];
      one.value_count = random() % 8 == 0 ? 0 : 1 + random() % 2;
    }
    tmajit_kernel_tune_options options{};
    options.size = random() % 16 == 0 ? static_cast<std::size_t>(number(random)) : sizeof options;
    options.repeats = 1;
    tmajit_kernel_tune_report* report = nullptr;
    tmajit_error* error = nullptr;
    const tmajit_status status =
        tmajit_kernel_tune(gpu.runtime(), &source, choices.data(), random() % 3, describe_drawn, &launches,
                           random() % 2 == 0 ? nullptr : &options, &report, &error);
    CHECK((report != nullptr) == (status == TMAJIT_OK));
    CHECK((tmajit_kernel_tune_report_count(report) > 0) == (status == TMAJIT_OK));
    tmajit_kernel_tune_report_destroy(report);
    outcomes.add(status, error);
  }
  std::cout << "  tuning: " << outcomes.good << " reports, " << outcomes.refused << " errors\n";
  CHECK(outcomes.good > 0);
  CHECK(outcomes.refused > 0);
  CHECK(launches.outcomes.good > 0);
  CHECK(launches.outcomes.refused > 0);
}
