#include "case_builder.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {

using tmajit::ElementType;

namespace {

std::string title(const Permutation& p) {
  return fmt::format("({})->({})", fmt::join(p.shape, ","), fmt::join(p.axes, ","));
}

}  // namespace

Case& CaseBuilder::permute(const char* group, const Permutation& permutation, ElementType type,
                           const std::string& name) {
  Shape from;
  Shape to;
  for (const std::uint64_t n : permutation.shape) from.push_back(extent(n));
  for (const std::uint32_t axis : permutation.axes) to.push_back(from[axis]);
  return add({.group = group,
              .name = name.empty() ? title(permutation) : name,
              .operation = Operation::permute,
              .sources = {{type, from}},
              .destinations = {{type, to}},
              .axes = permutation.axes,
              .slices = {},
              .expression = {}});
}

Case& CaseBuilder::copy(const char* group, std::uint64_t bytes, ElementType type, const std::string& name) {
  const Array array{type, {count(bytes / tmajit::size_of(type))}};
  return add({.group = group,
              .name = name,
              .operation = Operation::copy,
              .sources = {array},
              .destinations = {array},
              .axes = {},
              .slices = {},
              .expression = {}});
}

Case& CaseBuilder::map(const char* group, const std::string& expression, std::size_t inputs, ElementType from,
                       ElementType to, std::uint64_t elements) {
  return add({.group = group,
              .name = expression,
              .operation = Operation::map,
              .sources = std::vector<Array>(inputs, {from, {count(elements)}}),
              .destinations = {{to, {count(elements)}}},
              .axes = {},
              .slices = {},
              .expression = expression});
}

void CaseBuilder::series(const char* group, std::uint64_t bytes, ElementType type,
                         const std::function<void(Case&)>& finish) {
  const std::string size = bytes >= GiB   ? fmt::format("{} GiB", bytes / GiB)
                           : bytes >= MiB ? fmt::format("{} MiB", bytes / MiB)
                                          : fmt::format("{} KiB", bytes / KiB);
  const std::uint64_t elements = bytes / tmajit::size_of(type);
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
  finish(copy(group, bytes, type, size + " copy"));
  finish(
      permute(group, {{1ULL << (bits / 2), 1ULL << (bits - bits / 2)}, {1, 0}}, type, size + " transpose"));
  finish(permute(group, {{2, elements >> 10, 8, 64}, {0, 2, 1, 3}}, type, size + " heads"));
}

}  // namespace movement
