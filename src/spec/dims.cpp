#include "spec/dims.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

void Dims::refuse_number(std::uint64_t number) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is past 2^63 - 1, the largest number that a dimension can have", number));
}

void Dims::refuse_rank(std::size_t size) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} dimensions; the most is {}", size, max_view_rank));
}

std::uint32_t as_u32(const Dims& numbers, std::size_t d, std::string_view field) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  if (numbers[d] < 0 || numbers[d] > most) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}[{}] is {}; {}", field, d, numbers[d],
                            numbers[d] < 0 ? "it cannot be negative" : "at most 2^32 - 1 is possible"));
  }
  return static_cast<std::uint32_t>(numbers[d]);
}

TMAJIT_END
