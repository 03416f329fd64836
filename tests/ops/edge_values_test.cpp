/// Casts of values at and beyond the range of integers, pads of narrow elements, and constants in
/// expressions, on the simulated device.
#include "ptx_alone.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Shape = std::vector<std::uint64_t>;

template <class T>
constexpr ElementType type_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::f32;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::i8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::i16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::u16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  return ElementType::u64;
}

Runtime& edge_runtime() {
  static Runtime instance({.device = make_sim_device(),
                           .cache_directory = tests::shared_kernels(),
                           .compile = tests::ptx_without_lines});
  return instance;
}

/// A tensor in an allocation of its own, with its values on the host.
template <class T>
struct HostCopy {
  std::vector<T> values;
  Buffer buffer;
  Tensor tensor;

  HostCopy(const Shape& shape, std::vector<T> from)
      : values(std::move(from)),
        buffer(edge_runtime().device(), sizeof(T) * values.size()),
        tensor{TensorView::contiguous(type_of<T>(), shape), buffer.address()} {
    edge_runtime().device()->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
  }
  const std::vector<T>& read() {
    edge_runtime().device()->streams().synchronize(nullptr);
    edge_runtime().device()->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(),
                                               nullptr);
    return values;
  }
};

/// The value truncated toward zero and clamped to the range of `To`. NaN gives 0.
template <class To, class From>
To truncated(From value) {
  if (std::isnan(value)) return 0;
  // The first value above the range of `To`, a power of two.
  const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (value >= above) return std::numeric_limits<To>::max();
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <class From>
std::vector<From> edges() {
  using Limits = std::numeric_limits<From>;
  std::vector<From> out{Limits::quiet_NaN(),  -Limits::quiet_NaN(),  Limits::infinity(),
                        -Limits::infinity(),  Limits::max(),         Limits::lowest(),
                        Limits::denorm_min(), -Limits::denorm_min(), From{0}};
  for (const int bits : {0, 1, 7, 8, 15, 16, 31, 32, 63, 64}) {
    const From power = std::ldexp(From{1}, bits);
    for (const From value : {power - 1, power - From(0.5), power, power + From(0.5), power + 1,
                             std::nextafter(power, From{0}), std::nextafter(power, Limits::max())}) {
      out.insert(out.end(), {value, -value});
    }
  }
  return out;
}

template <class To, class From>
void check_cast() {
  const std::vector<From> values = edges<From>();
  HostCopy<From> from({values.size()}, values);
  HostCopy<To> to({values.size()}, std::vector<To>(values.size(), To{99}));
  cast(edge_runtime(), to.tensor, from.tensor);
  to.read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(values[i]);
    CHECK(to.values[i] == truncated<To>(values[i]));
  }
}

/// Pads a matrix with rows of `from` elements to one with rows of `to` elements, `before` of them before the
/// source, and checks the result.
template <class T>
void check_pad(std::uint64_t from, std::uint64_t to, std::int64_t before) {
  constexpr std::uint64_t rows = 6;
  constexpr std::int64_t top = 2;
  const std::uint64_t all_rows = 2 * rows + 5;
  std::vector<T> values(rows * from);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t number = i * 7 + i / from;
    values[i] = static_cast<T>(number);
  }
  HostCopy<T> source({rows, from}, values);
  HostCopy<T> padded({all_rows, to}, std::vector<T>(all_rows * to));
  pad(edge_runtime(), padded.tensor, source.tensor, {{top, before}, 99});
  padded.read();
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < all_rows; ++i) {
    for (std::uint64_t j = 0; j < to; ++j) {
      const std::int64_t row = static_cast<std::int64_t>(i) - top;
      const std::int64_t column = static_cast<std::int64_t>(j) - before;
      const bool inside = row >= 0 && row < static_cast<std::int64_t>(rows) && column >= 0 &&
                          column < static_cast<std::int64_t>(from);
      const T wanted =
          inside ? values[static_cast<std::size_t>(row) * from + static_cast<std::size_t>(column)] : T{99};
      if (padded.values[i * to + j] != wanted) ++wrong;
    }
  }
  INFO(from << " of " << to << " at " << before);
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("casts from floating point to integers truncate and clamp, and NaN gives 0", "",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
  check_cast<TestType, float>();
  check_cast<TestType, double>();
}

TEMPLATE_TEST_CASE("pads are right for tiles within the source, across its edges and outside of it", "",
                   std::uint8_t, std::uint16_t, float) {
  for (const std::int64_t before : {67, 64, 0, -5, 9000}) {
    check_pad<TestType>(15'000, 24'576, before);
    check_pad<TestType>(15'001, 24'571, before);
  }
}

TEST_CASE("expressions of elements and of a reduction's result may use INFINITY and NAN") {
  const float infinity = std::numeric_limits<float>::infinity();
  HostCopy<float> from({5}, {-1, 2, 0, -3, 7});
  HostCopy<float> to({5}, std::vector<float>(5));
  map(edge_runtime(), to.tensor, "x > 0 ? x : -INFINITY", {from.tensor});
  CHECK(to.read() == std::vector<float>{-infinity, 2, -infinity, -infinity, 7});
  map(edge_runtime(), to.tensor, "x < 0 ? NAN : 1", {from.tensor});
  CHECK(std::isnan(to.read()[0]));
  CHECK(to.values[1] == 1);
  HostCopy<float> most(Shape{}, {0});
  reduce(edge_runtime(), most.tensor,
         {.op = ReductionOp::max, .axes = {0}, .epilogue = "x > 5 ? INFINITY : x"}, {from.tensor});
  CHECK(most.read()[0] == infinity);
}

TEST_CASE("expressions may use numeric_limits and the constants of <cfloat>, <climits> and <cmath>") {
  using Limits = std::numeric_limits<float>;
  HostCopy<float> from({3}, {-1, 2, 0});
  HostCopy<float> to({3}, std::vector<float>(3));
  const auto mapped = [&](const char* expression) {
    map(edge_runtime(), to.tensor, expression, {from.tensor});
    return to.read();
  };
  CHECK(mapped("x > 0 ? x : std::numeric_limits<float>::lowest()") ==
        std::vector<float>{Limits::lowest(), 2, Limits::lowest()});
  CHECK(mapped("x > 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::epsilon()") ==
        std::vector<float>{Limits::epsilon(), Limits::infinity(), Limits::epsilon()});
  CHECK(std::isnan(mapped("std::numeric_limits<float>::quiet_NaN()")[0]));
  CHECK(mapped("x > 0 ? FLT_MAX : FLT_MIN") ==
        std::vector<float>{Limits::min(), Limits::max(), Limits::min()});
  CHECK(mapped("x * float(M_PI)")[1] == 2 * static_cast<float>(3.14159265358979323846));
  HostCopy<std::int64_t> whole({3}, std::vector<std::int64_t>(3));
  const auto counted = [&](const char* expression) {
    map(edge_runtime(), whole.tensor, expression, {from.tensor});
    return whole.read();
  };
  CHECK(counted("x > 0 ? INT_MAX : std::numeric_limits<int>::min()") ==
        std::vector<std::int64_t>{INT32_MIN, INT32_MAX, INT32_MIN});
  CHECK(
      counted("x > 0 ? std::numeric_limits<long long>::max() : std::numeric_limits<unsigned char>::max()") ==
      std::vector<std::int64_t>{255, INT64_MAX, 255});
  CHECK(counted("x > 0 ? LLONG_MIN : std::numeric_limits<signed char>::min()") ==
        std::vector<std::int64_t>{-128, INT64_MIN, -128});
  HostCopy<float> least(Shape{}, {0});
  reduce(edge_runtime(), least.tensor,
         {.op = ReductionOp::min, .axes = {0}, .epilogue = "x < 0 ? std::numeric_limits<float>::max() : x"},
         {from.tensor});
  CHECK(least.read()[0] == Limits::max());
}
