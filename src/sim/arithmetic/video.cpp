#include "sim/arithmetic/video.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Wide enough for every sum, for a product of two values of 33 bits, and for a shifted value of 33 bits.
__extension__ using Wide = __int128;

/// 2^bits.
constexpr Wide power(std::uint32_t bits) {
  return Wide{1} << bits;
}

/// The value of a part of a register, signed or unsigned.
Wide take(std::uint64_t from, VideoPart part, bool is_signed) {
  const Wide value = static_cast<Wide>(from >> part.shift) & (power(part.bits) - 1);
  return is_signed && value >= power(part.bits - 1U) ? value - power(part.bits) : value;
}

/// The value of a whole register, signed or unsigned.
Wide number(std::uint32_t value, bool is_signed) {
  return take(value, {}, is_signed);
}

Wide clamped(Wide value, std::uint32_t bits, bool is_signed) {
  return is_signed ? std::clamp(value, -power(bits - 1), power(bits - 1) - 1)
                   : std::clamp(value, Wide{0}, power(bits) - 1);
}

bool holds(Video::Comparison comparison, Wide a, Wide b) {
  switch (comparison) {
    case Video::Comparison::eq: return a == b;
    case Video::Comparison::ne: return a != b;
    case Video::Comparison::lt: return a < b;
    case Video::Comparison::le: return a <= b;
    case Video::Comparison::gt: return a > b;
    default: return a >= b;
  }
}

Wide operate(const Video& video, Wide a, Wide b) {
  const auto amount = [&] { return static_cast<int>(video.wraps ? b & 31 : std::min<Wide>(b, 32)); };
  switch (video.operation) {
    case Video::Operation::add: return a + b;
    case Video::Operation::sub: return a - b;
    // A half is rounded away from zero.
    case Video::Operation::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Video::Operation::distance: return a < b ? b - a : a - b;
    case Video::Operation::min: return std::min(a, b);
    case Video::Operation::max: return std::max(a, b);
    case Video::Operation::shl: return a * power(static_cast<std::uint32_t>(amount()));
    case Video::Operation::shr: return a >> amount();
    case Video::Operation::compare: return holds(video.comparison, a, b) ? 1 : 0;
    default: return a * b;
  }
}

/// vmad: (product + c + plus_one) >> scale.
std::uint32_t multiply_add(const Video& video, Wide product, std::uint32_t c) {
  const bool is_signed = video.a_signed || video.b_signed;
  Wide sum = product + number(c, is_signed) + (video.plus_one ? 1 : 0);
  sum >>= video.scale;
  return static_cast<std::uint32_t>(video.saturates ? clamped(sum, 32, is_signed) : sum);
}

}  // namespace

std::uint32_t compute(const Video& video, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint64_t merged = c;
  Wide second = number(c, video.d_signed);
  for (std::size_t i = 0; i < video.count; ++i) {
    Wide result =
        operate(video, take(both, video.a.at(i), video.a_signed), take(both, video.b.at(i), video.b_signed));
    if (video.operation == Video::Operation::mad) return multiply_add(video, result, c);
    const VideoPart part = video.d.at(i);
    if (video.saturates) result = clamped(result, part.bits, video.d_signed);
    if ((video.written >> i & 1) == 0) continue;
    const auto mask = static_cast<std::uint64_t>(power(part.bits) - 1);
    merged = (merged & ~(mask << part.shift)) | (static_cast<std::uint64_t>(result) & mask) << part.shift;
    if (video.second == Video::Second::add) second += result;
    if (video.second == Video::Second::min) second = std::min(second, result);
    if (video.second == Video::Second::max) second = std::max(second, result);
  }
  return static_cast<std::uint32_t>(
      video.second == Video::Second::merge ? merged : static_cast<std::uint64_t>(second));
}

}  // namespace sim
TMAJIT_END
