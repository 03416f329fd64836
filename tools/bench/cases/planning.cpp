#include "planning.hpp"

#include "case_list.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace bench {

using tmajit::Tensor;

namespace {

/// The case's plan for a kernel of `family`; empty if the family cannot do the case.
std::optional<tmajit::KernelPlan> find_plan(const Case& c, std::string_view family) {
  try {
    for (const tmajit::KernelPlan& plan : plan_case(c)) {
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

std::vector<Tensor> source_tensors(const Case& c, tmajit::DevicePtr buffer) {
  std::vector<Tensor> result = tensors(c.sources, buffer);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::vector<std::uint32_t> order = c.order(i);
    if (!order.empty()) result[i] = tmajit::permuted(result[i], order);
  }
  return result;
}

tmajit::Operation operation_of(const Case& c, tmajit::DevicePtr destination, tmajit::DevicePtr source) {
  return tmajit::make_operation(c.operation, tensors(c.destinations, destination), source_tensors(c, source),
                                c.arguments);
}

std::vector<tmajit::KernelPlan> plan_case(const Case& c, tmajit::DevicePtr destination,
                                          tmajit::DevicePtr source, tmajit::PlanOptions options) {
  if (!c.tile) {
    options.family = c.family;
    return tmajit::plan_kernels(operation_of(c, destination, source), options);
  }
  const std::string expression = c.library_expression();
  return {tmajit::plan_tiles({.family = c.family,
                              .destination = tensors(c.destinations, destination).front(),
                              .sources = source_tensors(c, source),
                              .expression = expression,
                              .tiles = c.tile->options(),
                              .chip = options.chip})};
}

Case with_tile(Case c, const Tile& tile) {
  c.tile = tile;
  if (c.operation == "snapshot") {
    const tmajit::TensorView images = tmajit::destination_view(
        {.family = c.family, .sources = tensors(c.sources, some_source), .tiles = c.tile->options()});
    c.destinations = {{images.type, {images.shape.begin(), images.shape.begin() + images.rank}}};
    c.image = plan_case(c).front().shape().tile;
  }
  return c;
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

Representative representative(std::string_view family) {
  // The default list has cases of all operations but reduce.
  const std::vector<Case> all =
      list_cases({.operation = tmajit::find_family(family).does("reduce") ? "reduce" : "",
                  .types = {tmajit::ElementType::f32}});
  const auto made_for = [&](const Case& c) { return c.family == family; };
  const auto possible_for = [&](Case c) {
    if (!c.family.empty()) return false;
    c.family = family;
    try {
      return find_plan(c, family).has_value();
    } catch (const tmajit::Error& error) {
      // No kernel of the family, or no tile of the case, is legal.
      if (error.code() != tmajit::ErrorCode::invalid_argument) throw;
      return false;
    }
  };
  const auto chosen_for = [&](const Case& c) {
    return c.family.empty() && find_plan(c, family).has_value() && possible_for(c);
  };
  auto found = std::ranges::find_if(all, made_for);
  if (found == all.end()) found = std::ranges::find_if(all, chosen_for);
  if (found == all.end()) found = std::ranges::find_if(all, possible_for);
  if (found == all.end()) {
    throw tmajit::Error(tmajit::ErrorCode::unsupported,
                        fmt::format("the list has no case that the family {} can do", family));
  }
  Representative result{*found};
  result.example.family = family;
  return result;
}

}  // namespace bench
