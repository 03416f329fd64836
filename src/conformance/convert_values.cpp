/// Numbers at which the behaviour of conversions changes.
#include "conformance/conversions.hpp"

#include <bit>
#include <cmath>
#include <set>

namespace conformance {

using reference::Conversion;
using reference::Random;
using tmajit::ElementType;

namespace {

struct Range {
  int least;     ///< exponent of the smallest normal number
  int most;      ///< exponent of the largest numbers
  int mantissa;  ///< mantissa bits after the leading one
};
/// The ranges of e4m3, e5m2, f16, bf16, tf32 and f32.
constexpr Range ranges[] = {{-6, 8, 3},     {-14, 15, 2},    {-14, 15, 10},
                            {-126, 127, 7}, {-126, 127, 10}, {-126, 127, 23}};

/// Limits, ties and similar numbers, for all types of results.
std::vector<double> turning_points() {
  std::vector<double> points{0, 0.5, 1, 1.5, 2.5, 3.5};
  for (const int bits : {7, 8, 11, 15, 16, 24, 31, 32, 53, 63, 64}) {
    const double limit = std::ldexp(1.0, bits);
    points.insert(points.end(), {limit, limit - 1, limit - 0.5, limit + 0.5});
  }
  for (const Range& range : ranges) {
    const double least = std::ldexp(1.0, range.least);
    const double step = std::ldexp(1.0, -range.mantissa);
    const double most = std::ldexp(2 - step, range.most);
    points.insert(points.end(), {least, least * step, least * step / 2, least * step * 1.5,
                                 least * (1 - step / 2), least * (1 - step / 4), least * (1 + step / 2), most,
                                 std::ldexp(2 - step / 2, range.most), 1 + step / 2, 1 + step * 1.5});
  }
  return points;
}

std::uint64_t pattern(ElementType type, double value) {
  const Conversion how{.to = type, .from = ElementType::f64, .rounding = Conversion::Rounding::nearest};
  return reference::convert(how, std::bit_cast<std::uint64_t>(value));
}

void add_floats(ElementType type, std::set<std::uint64_t>& patterns) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * tmajit::size_of(type) - 1);
  const auto add = [&](std::uint64_t magnitude) {
    patterns.insert(magnitude & (sign - 1));
    patterns.insert(magnitude | sign);
  };
  for (const double point : turning_points()) {
    const std::uint64_t bits = pattern(type, point);
    for (const std::uint64_t near : {bits, bits + 1}) add(near);
    if (bits != 0) add(bits - 1);
  }
  const std::uint64_t infinity = pattern(type, HUGE_VAL);
  for (const std::uint64_t nan : {infinity + 1, (infinity + sign) / 2, sign - 1, sign - 2}) add(nan);
  add(infinity);
}

void add_integers(std::set<std::uint64_t>& patterns) {
  for (const int bits : {0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63}) {
    const std::uint64_t limit = std::uint64_t{1} << bits;
    for (std::uint64_t near = limit - 3; near != limit + 4; ++near) {
      patterns.insert(near);
      patterns.insert(0 - near);
    }
  }
  // The largest finite f16, and integers around the smallest one that rounds to infinity in f16.
  for (const std::uint64_t end : {65504U, 65519U, 65520U, 65521U}) {
    patterns.insert(end);
    patterns.insert(0 - end);
  }
}

}  // namespace

std::vector<std::uint64_t> cvt_values(Random& random, ElementType type, std::size_t count) {
  std::set<std::uint64_t> patterns;
  if (tmajit::is_float(type))
    add_floats(type, patterns);
  else
    add_integers(patterns);
  std::vector<std::uint64_t> values(patterns.begin(), patterns.end());
  values.resize(std::min(values.size(), count));
  while (values.size() < count) {
    // Random bits, and integers of any magnitude, so that not all numbers are near the limits.
    std::uint64_t bits = random();
    // Few random bits are a NaN (for f32 one number in 256). This gives one number in 16 the exponent of a
    // NaN.
    if (tmajit::is_float(type) && reference::one_in(random, 16)) bits |= pattern(type, HUGE_VAL);
    values.push_back(tmajit::is_float(type) ? bits : bits >> reference::between(random, 0, 63));
  }
  const std::uint32_t size = 8 * tmajit::size_of(type);
  for (std::uint64_t& value : values) {
    if (size < 64) value = (value & ((std::uint64_t{1} << size) - 1)) | random() << size;
  }
  return values;
}

}  // namespace conformance
