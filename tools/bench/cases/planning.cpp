#include "planning.hpp"

#include "case_list.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace bench {

using tmajit::Tensor;

namespace {

/// The case's plan for a kernel of `family`; empty if the family cannot do the case.
std::optional<tmajit::KernelPlan> find_plan(const Case& bench_case, std::string_view family) {
  try {
    for (const tmajit::KernelPlan& plan : plan_case(bench_case)) {
      if (plan.family().name == family) return plan;
    }
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::unsupported) throw;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Tensor> tensors(const std::vector<Array>& arrays, tmajit::DevicePtr buffer) {
  std::vector<Tensor> result;
  const BufferLayout layout = buffer_layout(arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    result.push_back(
        {tmajit::TensorView::contiguous(arrays[i].type, arrays[i].shape), buffer + layout.offsets[i]});
  }
  return result;
}

std::vector<Tensor> source_tensors(const Case& bench_case, tmajit::DevicePtr buffer) {
  std::vector<Tensor> result = tensors(bench_case.sources, buffer);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::vector<std::uint32_t> order = bench_case.order(i);
    if (!order.empty()) result[i] = tmajit::permuted(result[i], order);
  }
  return result;
}

tmajit::Operation operation_of(const Case& bench_case, tmajit::DevicePtr destination,
                               tmajit::DevicePtr source) {
  return tmajit::make_operation(bench_case.operation, tensors(bench_case.destinations, destination),
                                source_tensors(bench_case, source), bench_case.arguments);
}

std::vector<tmajit::KernelPlan> plan_case(const Case& bench_case, tmajit::DevicePtr destination,
                                          tmajit::DevicePtr source, tmajit::PlanOptions options) {
  if (!bench_case.tile) {
    options.family = bench_case.family;
    return tmajit::plan_kernels(operation_of(bench_case, destination, source), options);
  }
  const std::string expression = bench_case.library_expression();
  return {tmajit::plan_tiles({.family = bench_case.family,
                              .destination = tensors(bench_case.destinations, destination).front(),
                              .sources = source_tensors(bench_case, source),
                              .expression = expression,
                              .tiles = bench_case.tile->options(),
                              .chip = options.chip})};
}

Case with_tile(Case bench_case, const Tile& tile) {
  bench_case.tile = tile;
  if (bench_case.operation == "snapshot") {
    const tmajit::TensorView images =
        tmajit::destination_view({.family = bench_case.family,
                                  .sources = tensors(bench_case.sources, some_source),
                                  .tiles = bench_case.tile->options()});
    bench_case.destinations = {{images.type, {images.shape.begin(), images.shape.begin() + images.rank}}};
    bench_case.image = plan_case(bench_case).front().shape().tile;
  }
  return bench_case;
}

nlohmann::ordered_json to_json(const tmajit::KernelPlan& plan) {
  const tmajit::KernelShape shape = plan.shape();
  return {{"family", plan.family().name},
          {"choice", plan.choice().text()},
          {"rank", shape.tile.size()},
          {"tile", shape.tile},
          {"tiles", shape.tiles},
          {"threads", shape.threads},
          {"stages", shape.stages},
          {"shared_bytes", shape.static_shared_bytes + shape.dynamic_shared_bytes},
          {"ctas_per_sm", shape.ctas_per_sm},
          {"bytes_in_flight", shape.bytes_in_flight},
          {"expression", plan.expression()},
          {"predicted_us", plan.predicted_us()},
          {"tuned", plan.tuned()}};
}

tmajit::KernelPlan Representative::plan() const {
  return find_plan(example, name()).value();
}

namespace {

/// Rows that are moved by index tensors, for a family of such kernels. The list has none: the pattern that
/// fills all sources of its cases has no legal indices.
std::optional<Case> indexed_case(std::string_view family) {
  const auto& info = tmajit::find_family(family);
  const auto is_one_of = [&](std::string_view operation) { return info.does(operation); };
  constexpr std::array operations{tmajit::Gather::operation, tmajit::ScatterAdd::operation,
                                  tmajit::GatherSum::operation, tmajit::MoePermute::operation};
  const auto operation = std::ranges::find_if(operations, is_one_of);
  if (operation == operations.end()) return std::nullopt;
  tmajit::Arguments arguments;
  if (*operation == tmajit::ScatterAdd::operation) arguments.set("deterministic", "yes");
  if (*operation == tmajit::MoePermute::operation) arguments.set("count", std::int64_t{64});
  const bool has_slots =
      *operation == tmajit::GatherSum::operation || *operation == tmajit::MoePermute::operation;
  const Shape index = has_slots ? Shape{4096, 8} : Shape{4096};
  Case made =
      make_case("indices", "4096 rows", std::string(*operation),
                {{tmajit::ElementType::f32, {4096, 1024}}, {tmajit::ElementType::i64, index}}, arguments);
  made.family = family;
  return made;
}

}  // namespace

Representative representative(std::string_view family) {
  // The default list has cases of all operations but reduce.
  const std::vector<Case> all =
      list_cases({.operation = tmajit::find_family(family).does("reduce") ? "reduce" : "",
                  .types = {tmajit::ElementType::f32}});
  const auto made_for = [&](const Case& bench_case) { return bench_case.family == family; };
  const auto possible_for = [&](Case bench_case) {
    if (!bench_case.family.empty()) return false;
    bench_case.family = family;
    try {
      return find_plan(bench_case, family).has_value();
    } catch (const tmajit::Error& error) {
      // No kernel of the family, or no tile of the case, is legal.
      if (error.code() != tmajit::ErrorCode::invalid_argument) throw;
      return false;
    }
  };
  const auto chosen_for = [&](const Case& bench_case) {
    return bench_case.family.empty() && find_plan(bench_case, family).has_value() && possible_for(bench_case);
  };
  auto found = std::ranges::find_if(all, made_for);
  if (found == all.end()) found = std::ranges::find_if(all, chosen_for);
  if (found == all.end()) found = std::ranges::find_if(all, possible_for);
  if (const auto indexed = indexed_case(family); found == all.end() && indexed) return {*indexed};
  if (found == all.end()) {
    throw tmajit::Error(tmajit::ErrorCode::unsupported,
                        fmt::format("the list has no case that the family {} can do", family));
  }
  Representative result{*found};
  result.example.family = family;
  return result;
}

}  // namespace bench
