/// Reductions of the copy engine through tensor maps.
#include "conformance/groups.hpp"
#include "conformance/random_tile.hpp"
#include "conformance/values.hpp"

#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::EngineReduction;
using reference::Random;

namespace {

constexpr std::array reduced_types{ElementType::u32, ElementType::i32,  ElementType::u64, ElementType::i64,
                                   ElementType::f16, ElementType::bf16, ElementType::f32};

Trial reduction(Random& random, EngineReduction operation, Values values, TileFeatures features,
                ElementType type) {
  features.type = type;
  TileCopy copy = random_tile(random, TileCopy::Kind::reduce, features);
  copy.operation = operation;
  const std::size_t size = size_of(type);
  copy.elements = random_values(random, type, values, tensor_bytes(copy.map) / size);
  copy.operands = random_values(random, type, values, window_bytes(copy) / size);
  return trial_of(copy, random);
}

/// Makes `count` trials for every type of the operation.
std::vector<Trial> reductions(Random& random, EngineReduction operation, Values values,
                              const TileFeatures& features, std::size_t count, bool floats_only) {
  std::vector<Trial> trials;
  for (const ElementType type : reduced_types) {
    if (!reference::engine_reduces(operation, type, reference::ReductionTarget::tensor)) continue;
    if (floats_only && !is_float(type)) continue;
    for (std::size_t i = 0; i < count; ++i)
      trials.push_back(reduction(random, operation, values, features, type));
  }
  return trials;
}

Case case_of_operations(std::string name, std::string what, const std::vector<EngineReduction>& operations,
                        Values values, const TileFeatures& features) {
  const bool floats_only = values != Values::numbers;
  return {.name = std::move(name),
          .instructions = {"cp.reduce.async.bulk.tensor"},
          .what = std::move(what),
          .trials = [=](Random& random) {
            std::vector<Trial> all;
            for (const EngineReduction operation : operations) {
              for (auto& trial : reductions(random, operation, values, features, 4, floats_only))
                all.push_back(std::move(trial));
            }
            return all;
          }};
}

}  // namespace

void add_reductions(std::vector<Case>& cases) {
  using enum EngineReduction;
  for (const EngineReduction operation : reference::all_engine_reductions) {
    cases.push_back(case_of_operations(fmt::format("tensor.reduce.{}", reference::name(operation)),
                                       "every type of the operation, with swizzles and hints", {operation},
                                       Values::numbers,
                                       {.swizzles = true, .padded = true, .hints = true, .moved = true}));
  }
  const std::vector<EngineReduction> all(reference::all_engine_reductions.begin(),
                                         reference::all_engine_reductions.end());
  cases.push_back(case_of_operations(
      "tensor.reduce.bounds", "chunks of 16 bytes that are out of bounds are not written", all,
      Values::numbers, {.swizzles = true, .outside = true, .larger = true, .padded = true}));
  cases.push_back(case_of_operations("tensor.reduce.interleave", "into slices of 16 and of 32 bytes",
                                     {add, max, bit_xor}, Values::numbers,
                                     {.swizzles = true, .interleaved = true, .outside = true}));

  cases.push_back(case_of_operations("settle: reductions that end within 16 bytes",
                                     "as stores, they write every chunk of 16 bytes that begins in bounds",
                                     {add, min, inc, bit_or}, Values::numbers,
                                     {.outside = true, .chunks = true, .padded = true}));
  cases.push_back(case_of_operations("settle: reductions into overlapping rows",
                                     "every element of the tile is accumulated", {add, max, bit_xor},
                                     Values::numbers, {.overlapping = true}));
  cases.push_back(case_of_operations("settle: reductions with element strides",
                                     "the tile's rows go to every n-th row of the tensor", {add, bit_and},
                                     Values::numbers, {.swizzles = true, .strides = true, .outside = true}));
  cases.push_back(case_of_operations("settle: sums through maps are rounded", "to nearest, ties to even",
                                     {add}, Values::rounded, {}));
  cases.push_back(case_of_operations("settle: sums through maps of subnormals", "they are not flushed", {add},
                                     Values::subnormals, {}));
  cases.push_back(
      case_of_operations("settle: sums through maps of zeros", "-0 + -0 is -0", {add}, Values::zeros, {}));
  cases.push_back(case_of_operations("settle: sums through maps of infinities", "and sums that overflow",
                                     {add}, Values::infinities, {}));
  cases.push_back(case_of_operations("settle: sums through maps of NaNs", "the NaN is 0x7fff, or 0x7fffffff",
                                     {add}, Values::nans, {}));
  for (const auto& [name, what, values] :
       {std::tuple{"subnormals", "they are not flushed", Values::subnormals},
        std::tuple{"zeros", "-0 is below +0", Values::zeros},
        std::tuple{"NaNs", "of a number and a NaN, the result is the number; of two NaNs, 0x7fff",
                   Values::nans}}) {
    cases.push_back(case_of_operations(fmt::format("settle: min and max through maps of {}", name), what,
                                       {min, max}, values, {}));
  }
}

}  // namespace conformance
