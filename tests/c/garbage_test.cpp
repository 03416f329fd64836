/// Structs with arbitrary members: a call gives a result or an error, and never crashes.
#include "seed.hpp"

#include <tmajit/c.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <string>

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
    if (random() % 2 == 0) dims.values[d] = d;
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
  constexpr std::array<const char*, 8> texts{nullptr, "", "x", "sum", "x + x0", "no", "128B", "\xff\"\n"};
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

/// Calls a function with drawn tensors and arguments.
template <class Arguments, class Draw, class Call>
void run(const char* name, Draw&& draw_members, Call&& call) {
  const std::uint64_t seed = tests::seed(20261126);
  INFO(name << ", TMAJIT_SEED=" << seed);
  Random random(seed);
  Outcomes outcomes;
  for (int n = 0; n < rounds; ++n) {
    Arguments arguments{};
    arguments.size = sizeof arguments;
    draw_members(arguments, random);
    std::array sources{tensor(random), tensor(random)};
    if (random() % 2 == 0) sources[1] = sources[0];
    std::array results{sources[0], sources[0], sources[0], sources[0]};
    tmajit_error* error = nullptr;
    const tmajit_status status = call(sources, arguments, results, &error);
    outcomes.add(status, error);
  }
  std::cout << "  " << name << ": " << outcomes.good << " results, " << outcomes.refused << " errors\n";
  CHECK(outcomes.good > 0);
  CHECK(outcomes.refused > 0);
}

#define ONE(name, ...)                                                                   \
  run<tmajit_##name##_arguments>(                                                        \
      #name,                                                                             \
      [](auto& to, Random& random) {                                                     \
        (void)to, (void)random;                                                          \
        __VA_ARGS__;                                                                     \
      },                                                                                 \
      [](const auto& from, const auto& arguments, auto& results, tmajit_error** error) { \
        return tmajit_##name##_results(from.data(), &arguments, results.data(), error);  \
      })
#define MANY(name, ...)                                                                              \
  run<tmajit_##name##_arguments>(                                                                    \
      #name,                                                                                         \
      [](auto& to, Random& random) {                                                                 \
        (void)to, (void)random;                                                                      \
        __VA_ARGS__;                                                                                 \
      },                                                                                             \
      [](const auto& from, const auto& arguments, auto& results, tmajit_error** error) {             \
        return tmajit_##name##_results(from.data(), from.size(), &arguments, results.data(), error); \
      })

}  // namespace

TEST_CASE("arbitrary tensors and arguments give results or errors") {
  ONE(copy);
  ONE(permute, draw(to.axes, random));
  ONE(slice, draw(to.slices, random));
  ONE(flip, draw(to.axes, random));
  ONE(broadcast, draw(to.shape, random));
  ONE(pad, draw(to.widths, random), draw(to.value, random));
  ONE(cast);
  MANY(concat, draw(to.axis, random));
  MANY(map, draw(to.expression, random));
  MANY(stencil, draw(to.expression, random), draw(to.boundary, random), draw(to.dims, random));
  MANY(reduce, draw(to.op, random), draw(to.axes, random), draw(to.keep_dims, random));
  MANY(scan, draw(to.op, random), draw(to.axis, random));
  ONE(im2col, draw(to.filter, random), draw(to.strides, random), draw(to.padding, random));
  run<tmajit_split_arguments>(
      "split",
      [](auto& to, Random& random) {
        draw(to.axis, random);
        draw(to.parts, random);
      },
      [](const auto& from, const auto& arguments, auto& results, tmajit_error** error) {
        std::size_t room = results.size();
        return tmajit_split_results(from.data(), &arguments, results.data(), &room, error);
      });
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
