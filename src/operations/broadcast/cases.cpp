#include "operations/cases.hpp"

#include "operations/drawing/expressions.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::broadcast_operation {

using namespace tmajit;

namespace {

void random(CaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.made.arguments.set("shape", Dims(shape));
  draw.destination(draw.view(draw.type, shape, false));
  draw.source(draw.view(draw.same_size_type(), draw.repeatable(shape), true));
}

void measured(bench::CaseBuilder& list) {
  using enum ElementType;
  const Shape whole{list.at(16384), list.at(16384)};
  const Shape row{1, list.at(16384)};
  const Shape column{list.at(16384), 1};
  for (const ElementType type : {f32, bf16}) {
    for (const auto& [name, from] : {std::pair{"a row", row}, std::pair{"a column", column}}) {
      list.add("broadcast", fmt::format("{} to 16384x16384", name), "broadcast", {{type, from}},
               {{"shape", Dims(whole)}});
    }
    list.add(bench::map_or_cast("broadcast", "row + column to 16384x16384", "a+b",
                                {{type, row}, {type, column}}, {type, whole}));
  }
}

bench::Case drawn(bench::CaseDrawer& draw) {
  const Shape to = draw.shape();
  bench::Case result{
      .group = "random broadcast", .operation = "broadcast", .destinations = {{draw.type, to}}};
  result.arguments.set("shape", Dims(to));
  const std::string source = draw.add_source(result, draw.type, draw.repeated(to));
  result.name = fmt::format("{} to ({})", source, fmt::join(to, ","));
  return result;
}

}  // namespace

const OperationCases cases{.random = random, .measured = measured, .drawn = drawn};

}  // namespace reference::broadcast_operation
