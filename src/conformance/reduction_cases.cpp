/// Cases of reductions through tensor maps: the copy engine combines the elements of a tile in shared memory
/// with those of a tensor. A case whose name begins with "settle" observes what the PTX ISA leaves open
/// (case.hpp). In a name such as "sums through maps of zeros" the zeros are the elements. Names also seed the
/// random data: renaming a case changes its trials.
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

constexpr std::size_t trials_per_type = 4;

/// The types that some reduction through a tensor map supports.
constexpr std::array reduced_types{ElementType::u32, ElementType::i32,  ElementType::u64, ElementType::i64,
                                   ElementType::f16, ElementType::bf16, ElementType::f32};

/// Makes a trial of one reduction, with a random tile that has the features, and random values of both the
/// tensor and the tile.
Trial reduction_trial(Random& random, EngineReduction operation, ElementType type, Values values,
                      TileFeatures features) {
  features.type = type;
  TileCopy copy = random_tile(random, TileCopy::Kind::reduce, features);
  copy.operation = operation;
  const std::size_t size = size_of(type);
  copy.elements = random_values(random, type, values, tensor_bytes(copy.map) / size);
  copy.operands = random_values(random, type, values, window_bytes(copy) / size);
  return trial_of(copy, random);
}

/// Makes the trials of every operation with every type that it supports. If `values` are not Values::numbers,
/// they are special values of floats, and only float types are tried.
std::vector<Trial> reduction_trials(Random& random, const std::vector<EngineReduction>& operations,
                                    Values values, const TileFeatures& features) {
  std::vector<Trial> trials;
  for (const EngineReduction operation : operations) {
    for (const ElementType type : reduced_types) {
      if (!reference::engine_reduces(operation, type, reference::ReductionTarget::tensor)) continue;
      if (values != Values::numbers && !is_float(type)) continue;
      for (std::size_t i = 0; i < trials_per_type; ++i)
        trials.push_back(reduction_trial(random, operation, type, values, features));
    }
  }
  return trials;
}

Case reduction_case(std::string name, std::string what, const std::vector<EngineReduction>& operations,
                    Values values, const TileFeatures& features) {
  return {.name = std::move(name),
          .instructions = {"cp.reduce.async.bulk.tensor"},
          .what = std::move(what),
          .trials = [=](Random& random) { return reduction_trials(random, operations, values, features); }};
}

}  // namespace

void add_reductions(std::vector<Case>& cases) {
  using enum EngineReduction;
  for (const EngineReduction operation : reference::all_engine_reductions) {
    cases.push_back(reduction_case(
        fmt::format("tensor.reduce.{}", reference::name(operation)),
        "every type that the operation supports, with swizzles, cache hints and moved maps", {operation},
        Values::numbers, {.swizzles = true, .padded = true, .hints = true, .moved = true}));
  }
  const std::vector<EngineReduction> all(reference::all_engine_reductions.begin(),
                                         reference::all_engine_reductions.end());
  cases.push_back(
      reduction_case("tensor.reduce.bounds", "chunks of 16 bytes that are out of bounds are not written", all,
                     Values::numbers, {.swizzles = true, .outside = true, .larger = true, .padded = true}));
  cases.push_back(reduction_case(
      "tensor.reduce.interleave", "into interleaved tensors, whose slices have 16 or 32 bytes",
      {add, max, bit_xor}, Values::numbers, {.swizzles = true, .interleaved = true, .outside = true}));

  cases.push_back(reduction_case("settle: reductions that end within 16 bytes",
                                 "like stores, they write every chunk of 16 bytes that begins in bounds",
                                 {add, min, inc, bit_or}, Values::numbers,
                                 {.outside = true, .chunks = true, .padded = true}));
  cases.push_back(reduction_case("settle: reductions into overlapping rows",
                                 "where rows overlap, every element of the tile is combined",
                                 {add, max, bit_xor}, Values::numbers, {.overlapping = true}));
  cases.push_back(
      reduction_case("settle: reductions with element strides",
                     "with a stride of n, tile rows are combined with every n-th row of the tensor",
                     {add, bit_and}, Values::numbers, {.swizzles = true, .strides = true, .outside = true}));
  cases.push_back(reduction_case("settle: sums through maps are rounded",
                                 "sums are rounded to nearest, ties to even", {add}, Values::rounded, {}));
  cases.push_back(reduction_case("settle: sums through maps of subnormals",
                                 "subnormals are not flushed to zero", {add}, Values::subnormals, {}));
  cases.push_back(
      reduction_case("settle: sums through maps of zeros", "-0 + -0 is -0", {add}, Values::zeros, {}));
  cases.push_back(reduction_case("settle: sums through maps of infinities",
                                 "sums of infinities, and sums that overflow", {add}, Values::infinities,
                                 {}));
  cases.push_back(reduction_case("settle: sums through maps of NaNs",
                                 "the result is 0x7fff for f16 and bf16, 0x7fffffff for f32", {add},
                                 Values::nans, {}));
  for (const auto& [name, what, values] :
       {std::tuple{"subnormals", "subnormals are not flushed to zero", Values::subnormals},
        std::tuple{"zeros", "-0 is less than +0", Values::zeros},
        std::tuple{"NaNs", "the result of a number and a NaN is the number, that of two NaNs 0x7fff",
                   Values::nans}}) {
    cases.push_back(reduction_case(fmt::format("settle: min and max through maps of {}", name), what,
                                   {min, max}, values, {}));
  }
}

}  // namespace conformance
