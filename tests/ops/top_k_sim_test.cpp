/// Every candidate of the family `top_k` on the simulated device: both teams at the limits of what they hold,
/// equal elements, NaN and infinities, rows at every alignment, and the order of results.
#include "ops/own_memory.hpp"
#include "ops/run_case.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::between, reference::Contents, reference::one_in, reference::one_of, reference::Random,
    reference::TestCase;

namespace top_k_sim_test {
namespace {

Runtime top_k_runtime(std::uint64_t seed) {
  return Runtime({.device = make_sim_device({.mode = SimOptions::Mode::random, .seed = seed}),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_alone});
}

/// A case of dense rows, which begin `shift` elements after a multiple of 256 bytes.
TestCase dense_rows(ElementType type, const std::vector<std::uint64_t>& shape, std::uint64_t k,
                    bool largest = true, const char* index = "i64", std::uint64_t shift = 0) {
  return reference::dense_case(
      "top_k", {{"k", static_cast<std::int64_t>(k)}, {"largest", largest ? "yes" : "no"}, {"index", index}},
      {}, {TensorView::contiguous(type, shape)}, shift);
}

/// The results for one row of f32: values, and the places.
struct Results {
  std::vector<float> values;
  std::vector<std::int32_t> index;
};
Results top_k_of(const std::vector<float>& row, std::uint64_t k, bool largest) {
  const auto device = make_sim_device({.mode = SimOptions::Mode::random, .seed = 3});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  Results results{.values = std::vector<float>(k), .index = std::vector<std::int32_t>(k)};
  const Buffer x(device, row.size() * sizeof(float));
  const Buffer values(device, k * sizeof(float));
  const Buffer index(device, k * sizeof(std::int32_t));
  device->memory().copy_in(x.address(), std::as_bytes(std::span(row)), nullptr);
  const auto tensor = [](ElementType type, std::size_t extent, const Buffer& buffer) {
    return Tensor::contiguous(type, {static_cast<std::int64_t>(extent)}, buffer.address());
  };
  top_k(runtime, {tensor(ElementType::f32, k, values), tensor(ElementType::i32, k, index)},
        tensor(ElementType::f32, row.size(), x), {.largest = largest});
  device->streams().synchronize(nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(results.values)), values.address(), nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(results.index)), index.address(), nullptr);
  device->streams().synchronize(nullptr);
  return results;
}

}  // namespace

TEST_CASE("warps take the first elements of rows of every length and alignment") {
  const std::uint64_t seed = tests::seed(20261127);
  Random random(seed);
  Runtime runtime = top_k_runtime(seed);
  using enum ElementType;
  for (const std::uint64_t length : {1, 2, 31, 32, 33, 60, 128, 129, 256, 384, 500, 512, 1000, 1024}) {
    const std::uint64_t most = std::min<std::uint64_t>(length, 32);
    for (const std::uint64_t k : {std::uint64_t{1}, between(random, 1, most), most}) {
      TestCase made = dense_rows(one_of(random, std::array{f32, bf16, f16, u8, i32, e4m3}),
                                 {between(random, 1, 9), length}, k, one_in(random, 2),
                                 one_of(random, std::array{"i64", "i32", "no"}),
                                 one_in(random, 2) ? 0 : between(random, 1, 8));
      made.contents = one_in(random, 2) ? Contents::bits : Contents::whole;
      INFO("TMAJIT_SEED=" << seed << ": " << made.text());
      CHECK(tests::run_candidates(runtime, made, seed) == "");
    }
  }
}

TEST_CASE("CTAs take the first elements of long rows, in shared memory or read again") {
  const std::uint64_t seed = tests::seed(20261126);
  Random random(seed);
  Runtime runtime = top_k_runtime(seed);
  using enum ElementType;
  for (const std::uint64_t length : {33, 513, 1025, 4097, 5000, 20011, 70000}) {
    const std::uint64_t most = std::min<std::uint64_t>(length, 2048);
    for (const std::uint64_t k : {std::uint64_t{33}, between(random, 1, most), most}) {
      TestCase made = dense_rows(one_of(random, std::array{f32, bf16, u64, f64, i8, e5m2}),
                                 {between(random, 1, 3), length}, k, one_in(random, 2),
                                 one_of(random, std::array{"i64", "i32", "no"}),
                                 one_in(random, 2) ? 0 : between(random, 1, 8));
      made.contents = one_in(random, 2) ? Contents::bits : Contents::whole;
      INFO("TMAJIT_SEED=" << seed << ": " << made.text());
      CHECK(tests::run_candidates(runtime, made, seed) == "");
    }
  }
}

TEST_CASE("digits of the place decide between more equal elements than a CTA sorts") {
  Runtime runtime = top_k_runtime(5);
  using enum ElementType;
  // Elements of units are 1, -1 and 2: thousands of each are equal.
  for (const auto& [type, length, k] :
       {std::tuple{f32, 30000, 7}, {u8, 70000, 2048}, {f64, 9000, 100}, {bf16, 66000, 1}}) {
    for (const bool largest : {true, false}) {
      TestCase made =
          dense_rows(type, {2, static_cast<std::uint64_t>(length)}, static_cast<std::uint64_t>(k), largest);
      made.contents = Contents::units;
      INFO(made.text());
      CHECK(tests::run_candidates(runtime, made, 7) == "");
    }
  }
}

TEST_CASE("rows along another axis, with strides of either sign") {
  Runtime runtime = top_k_runtime(6);
  for (const std::uint64_t length : {60, 6000}) {
    TestCase made = reference::dense_case("top_k", {{"k", std::int64_t{20}}, {"axis", std::int64_t{0}}}, {},
                                          {TensorView::contiguous(ElementType::bf16, {length, 3})}, 0);
    CHECK(tests::run_candidates(runtime, made, 1) == "");
    made = reference::dense_case(
        "top_k", {{"k", std::int64_t{20}}}, {},
        {TensorView::strided(ElementType::f32, {2, length}, {-static_cast<std::int64_t>(length), -1})},
        2 * length - 1);
    CHECK(tests::run_candidates(runtime, made, 1) == "");
  }
}

TEST_CASE(
    "NaN is the greatest, zeros of both signs are equal, and equal elements are in the order of places") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> few{0.0F, -0.0F, nan, -infinity, least, infinity, -nan, -least, 0.0F, 5};
  const auto check = [](const std::vector<float>& row, bool largest,
                        const std::vector<std::int32_t>& wanted) {
    const Results results = top_k_of(row, wanted.size(), largest);
    CHECK(results.index == wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const float element = row[static_cast<std::size_t>(wanted[i])];
      CHECK(std::memcmp(&results.values[i], &element, sizeof element) == 0);
    }
  };
  check(few, true, {2, 6, 5, 9, 4, 0, 1, 8, 7, 3});
  check(few, false, {3, 7, 0, 1, 8, 4, 9, 5, 2, 6});
  std::vector<float> many(9000, -infinity);  // of which a CTA sorts some
  for (std::size_t i = 0; i < few.size(); ++i) many[800 * i + 100] = few[i];
  check(many, true, {1700, 4900, 4100, 7300, 3300, 100, 900, 6500, 5700, 0, 1, 2});
  check(many, false, {0, 1, 2, 3, 4});
}

}  // namespace top_k_sim_test
