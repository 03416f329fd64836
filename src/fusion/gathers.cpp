#include "fusion/expression_text.hpp"
#include "fusion/fused_body.hpp"
#include "fusion/index_map.hpp"
#include "kernel/problem.hpp"
#include "spec/saturate.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view no_coordinates = "as gather knows no coordinates g";

/// Whether the fused gather loads more bytes than the map and the gather load and store: it loads an element
/// of the map's source for each index, and an index may select an element several times.
bool loads_more(const Move& map, const Move& gather) {
  const std::uint64_t source = size_of(map.sources.front().view.type);
  const std::uint64_t intermediate = size_of(map.destination.view.type);
  const std::uint64_t selected = gather.destination.view.elements();
  const std::uint64_t separate = sat_add(sat_mul(map.destination.view.elements(), source + intermediate),
                                         sat_mul(selected, intermediate));
  return sat_mul(selected, source) > separate;
}

/// Why a map cannot be a gather's expression; empty if it can.
std::string map_obstacle(const Move& map, const Move& gather) {
  const Tensor& intermediate = map.destination;
  const auto reads_map = [&](const Tensor& source) { return may_overlap(source, intermediate); };
  if (std::any_of(gather.sources.begin() + 1, gather.sources.end(), reads_map))
    return "as gather computes no expression of its index tensors";
  if (reads(expression_of(map), "g")) return std::string(no_coordinates);
  if (map.sources.size() - count_numbers(map.sources) != 1)
    return "as the expression of a gather reads one tensor";
  const bool moves_bits = std::get<Gather>(gather.body).expression.empty();
  const Tensor& read = moves_bits ? gather.destination : gather.sources.front();
  if (read.view.type != intermediate.view.type) return std::string(other_type);
  if (loads_more(map, gather)) return "as it selects so many elements that it would load more bytes";
  return {};
}

}  // namespace

FusedMoves fuse_into_gather(const Move& map, const Move& gather) {
  if (const std::string obstacle = map_obstacle(map, gather); !obstacle.empty())
    return refused("{}", obstacle);
  Gather what = std::get<Gather>(gather.body);
  // A copy or map that stands for the gather's loads: inline_map() computes the producer's map in it.
  Move elements{.destination = gather.sources.front(), .sources = {gather.sources.front()}, .body = Copy{}};
  if (!what.expression.empty()) elements.body = Map{what.expression};
  Move fused = gather;
  fused.sources.clear();
  for (const Tensor& source : gather.sources)
    if (source.view.is_number) elements.sources.push_back(source);
  FusedMoves inlined = inline_map(map, {&elements, 1});
  if (!inlined.is_fused()) return inlined;
  const std::vector<Tensor>& sources = inlined.moves.front().sources;
  fused.sources.push_back(sources.front());
  std::copy_if(gather.sources.begin() + 1, gather.sources.end(), std::back_inserter(fused.sources),
               [](const Tensor& source) { return !source.view.is_number; });
  fused.sources.insert(fused.sources.end(), sources.begin() + 1, sources.end());
  what.expression = expression_of(inlined.moves.front());
  fused.body = std::move(what);
  return checked({fused}, "which computes it where it loads elements");
}

FusedMoves fuse_after_gather(const Move& gather, const Move& map, const Tensor& read,
                             const Tensor& destination) {
  Gather what = std::get<Gather>(gather.body);
  const std::string_view expression = expression_of(map);
  if (reads(expression, "g")) return refused("{}", no_coordinates);
  const auto is_further = [&](const Tensor& source) { return !source.view.is_number && source != read; };
  if (std::ranges::any_of(map.sources, is_further))
    return refused("as the expression of a gather reads one tensor");
  const ElementType type = gather.destination.view.type;
  if (what.expression.empty() && gather.sources.front().view.type != type)
    return refused("as the gather moves the bits of another type");
  // For indices out of range kernels store the value without the expression. Only zero is the same in every
  // type.
  const bool keeps_value = expression == "x" && std::bit_cast<std::uint64_t>(what.value) == 0;
  if (what.out_of_range == OutOfRange::skip && !keeps_value)
    return refused(
        "as the gather stores a value for indices out of range, to which no expression is applied");
  const std::string value = what.expression.empty() ? "x" : stored(type, what.expression);
  Move fused = gather;
  std::size_t numbers = count_numbers(gather.sources);
  Renames names;
  for (std::size_t k = 0; k < map.sources.size(); ++k) {
    const bool is_number = map.sources[k].view.is_number;
    const std::string text = is_number ? fmt::format("p{}", numbers++) : value;
    for (const std::string& name : source_names(map.sources, k)) names[name] = text;
    if (is_number) fused.sources.push_back(map.sources[k]);
  }
  what.expression = renamed(expression, names);
  fused.body = std::move(what);
  fused.destination = destination;
  return checked({fused}, "which stores its expression");
}

TMAJIT_END
