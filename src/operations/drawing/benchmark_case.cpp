#include "operations/drawing/benchmark_case.hpp"

#include <tmajit/operations.hpp>

#include <array>

#include <spdlog/fmt/fmt.h>

namespace bench {

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= KiB && unit + 1 < units.size(); ++unit) value /= KiB;
  return fmt::format("{:.4g} {}", value, units.at(unit));
}

std::uint64_t Array::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

std::uint64_t Array::bytes() const {
  return elements() * tmajit::size_of(type);
}

tmajit::TileOptions Tile::options() const {
  return {.box = box,
          .stages = stages,
          .output_stages = output_stages,
          .warps = warps,
          .ctas_per_sm = ctas_per_sm,
          .tiles_per_cta = tiles_per_cta};
}

std::vector<std::uint32_t> Case::order(std::size_t source) const {
  return source < orders.size() ? orders[source] : std::vector<std::uint32_t>{};
}

Shape Case::seen(std::size_t source) const {
  Shape shape = sources[source].shape;
  const std::vector<std::uint32_t> axes_of = order(source);
  for (std::size_t d = 0; d < axes_of.size(); ++d) shape[d] = sources[source].shape[axes_of[d]];
  return shape;
}

std::string Case::types() const {
  const std::string_view from = tmajit::name(data_type());
  const std::string_view to = tmajit::name(destinations.front().type);
  return from == to ? std::string(from) : fmt::format("{}->{}", from, to);
}

std::string Case::label() const {
  return fmt::format("{}: {} {}", group, name, types());
}

Case make_case(std::string group, std::string name, std::string operation, std::vector<Array> sources,
               tmajit::Arguments arguments) {
  Case result{.group = std::move(group), .name = std::move(name), .operation = std::move(operation)};
  std::vector<tmajit::TensorView> views;
  views.reserve(sources.size());
  for (const Array& source : sources)
    views.push_back(tmajit::TensorView::contiguous(source.type, source.shape));
  for (const tmajit::TensorView& view : tmajit::destinations_of(result.operation, views, arguments))
    result.destinations.push_back({view.type, {view.shape.begin(), view.shape.begin() + view.rank}});
  result.sources = std::move(sources);
  result.arguments = std::move(arguments);
  return result;
}

}  // namespace bench
