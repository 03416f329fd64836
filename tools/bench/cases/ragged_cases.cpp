#include "ragged_cases.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bench {
namespace {

using tmajit::ElementType;

Case ragged_case(std::string name, std::vector<Array> arrays) {
  return {.group = "ragged",
          .name = std::move(name),
          .operation = "copy_ragged",
          .sources = arrays,
          .destinations = arrays,
          .family = "ragged",
          .peers = Peers::none};
}

/// Tensors of `columns` with from 1 to 2·mean − 1 rows, `bytes` in all.
std::vector<Array> sequences(ElementType type, std::uint64_t mean, std::uint64_t columns,
                             std::uint64_t bytes) {
  std::vector<Array> arrays;
  std::uint64_t rows = 1;
  for (std::uint64_t left = bytes; left > 0;) {
    rows = (rows * 1103515245 + 12345) % (2 * mean - 1) + 1;
    arrays.push_back({type, {rows, columns}});
    left -= std::min(left, arrays.back().bytes());
  }
  return arrays;
}

}  // namespace

std::vector<Case> ragged_cases(bool tiny) {
  const std::uint64_t bytes = tiny ? 20'000 : 256 * MiB;
  const std::uint64_t columns = tiny ? 24 : 1024;
  std::vector<Case> cases;
  cases.push_back(ragged_case("sequences of 512 rows of 1024 on average",
                              sequences(ElementType::bf16, tiny ? 4 : 512, columns, bytes)));
  cases.push_back(ragged_case("sequences of 8 rows of 1024 on average",
                              sequences(ElementType::bf16, tiny ? 2 : 8, columns, bytes)));
  cases.push_back(ragged_case("sequences of rows of 1000 and a half words",
                              sequences(ElementType::bf16, tiny ? 4 : 512, tiny ? 13 : 1001, bytes)));
  std::vector<Array> skewed(tiny ? 5 : 4096, {ElementType::f32, {3, 64}});
  skewed.push_back({ElementType::f32, {bytes / 256, 64}});
  cases.push_back(ragged_case("one of all the memory among 4096 of 768 bytes", std::move(skewed)));
  return cases;
}

}  // namespace bench
