#include "fusion/expression_text.hpp"
#include "fusion/fused_body.hpp"
#include "fusion/index_map.hpp"
#include "fusion/rules.hpp"
#include "kernel/problem.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The map from a source of a consumer to the destination and the sources of a producer, whose dimensions may
/// be joined.
struct ProducerMap {
  IndexMap map;
  std::vector<Tensor> sources;
};

std::optional<ProducerMap> map_to(const Move& producer, const Tensor& source) {
  std::vector<Tensor> tensors{producer.destination};
  tensors.insert(tensors.end(), producer.sources.begin(), producer.sources.end());
  tensors = joined(std::move(tensors));
  const std::optional<IndexMap> map = index_map(tensors.front(), source);
  if (!map) return std::nullopt;
  tensors.erase(tensors.begin());
  return ProducerMap{*map, std::move(tensors)};
}

constexpr std::string_view other_elements =
    "as it reads elements that the other does not write, or in an order that no strides describe";

/// Whether neighbours along the last dimension are neighbours in memory, or the same element.
bool has_neighbours(const TensorView& view) {
  return view.rank == 0 || view.shape[view.rank - 1] < 2 || std::abs(view.strides[view.rank - 1]) <= 1;
}

FusedMoves fuse_copy(const Move& producer, std::span<const Move> consumer) {
  if (!is_any_of<Copy, Padding, Map, Stencil, Reduction, Scan, Rowwise, Gather>(consumer.front()))
    return refused("as {} needs its source where it is", operation_name(consumer.front()));
  std::vector<Move> moves(consumer.begin(), consumer.end());
  for (Move& move : moves) {
    for (Tensor& source : move.sources) {
      if (!may_overlap(source, producer.destination)) continue;
      const std::optional<ProducerMap> found = map_to(producer, source);
      if (!found) return refused("{}", other_elements);
      Tensor read = pulled(found->map, found->sources.front());
      read.view.type = source.view.type;
      // Scans and rowwise kernels are slow on strided rows: a copy that makes rows contiguous pays off.
      if (is_any_of<Scan, Rowwise>(move) && has_neighbours(source.view) && !has_neighbours(read.view))
        return refused("as it would load elements that are not neighbours in memory");
      source = read;
    }
  }
  return checked(std::move(moves), "which reads its source directly");
}

/// A consumer's source in whose place the expression of a map is computed.
struct InlinedMap {
  std::size_t source;         ///< its number among the consumer's sources
  FusedSources::Slots slots;  ///< of the map's sources
};

/// The steps of `rows`, after a step for each source that is computed.
std::string with_first_steps(const Rowwise& rows, const Renames& own, const Map& map, ElementType type,
                             const FusedSources& sources, std::span<const InlinedMap> inlined,
                             std::span<const Tensor> consumer_sources) {
  Renames names = own;
  std::string first;
  for (const InlinedMap& one : inlined) {
    const std::string value = renamed(map.expression, sources.renames(one.slots));
    const std::string name = unused_name(fmt::format("{} {}", rows.steps, map.expression), first);
    first += fmt::format("{} = {}; ", name, stored(type, value));
    for (const std::string& read : source_names(consumer_sources, one.source)) names[read] = name;
  }
  return first + renamed(rows.steps, names);
}

/// The new names of the numbers only: in an epilogue, x is the result, not a source.
Renames names_of_numbers(std::span<const Tensor> sources, const Renames& names) {
  Renames numbers;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (!sources[k].view.is_number) continue;
    for (const std::string& read : source_names(sources, k)) numbers.emplace(read, names.at(read));
  }
  return numbers;
}

/// Why a map cannot be computed where a source of the consumer is loaded; empty if it can.
std::string inlining_obstacle(const Move& producer, std::span<const Move> consumer) {
  const Move& reader = consumer.front();
  const auto& map = std::get<Map>(producer.body);
  if (!is_any_of<Copy, Map, Reduction, Scan, Rowwise>(reader))
    return fmt::format("as {} computes no expression of its source", operation_name(reader));
  const bool has_tensors = count_numbers(producer.sources) < producer.sources.size();
  if (!has_tensors && !is_any_of<Copy, Map>(reader))
    return "as a map of no tensors has no elements along which to reduce";
  if (reads(map.expression, "g") && !is_any_of<Copy, Map>(reader))
    return fmt::format("as {} knows no coordinates g", operation_name(reader));
  if (const auto* const rows = std::get_if<Rowwise>(&reader.body))
    return name_obstacle(rows->steps, map.expression);
  return {};
}

}  // namespace

FusedMoves inline_map(const Move& producer, std::span<const Move> consumer) {
  const Move& reader = consumer.front();
  const auto& map = std::get<Map>(producer.body);
  const Tensor& intermediate = producer.destination;
  FusedSources sources;
  FusedSources::Slots numbers;
  FusedSources::Slots own(reader.sources.size());
  std::vector<InlinedMap> inlined;
  for (std::size_t k = 0; k < reader.sources.size(); ++k) {
    const Tensor& source = reader.sources[k];
    if (source.view.is_number || !may_overlap(source, intermediate)) {
      own[k] = sources.add(source);
      continue;
    }
    const std::optional<ProducerMap> found = map_to(producer, source);
    if (!found) return refused("{}", other_elements);
    if (source.view.type != intermediate.view.type && !is_any_of<Copy>(reader))
      return refused("{}", other_type);
    const std::optional<IndexMap> order = index_map(intermediate, source);
    if (reads(map.expression, "g") && !(order && order->is_identity()))
      return refused("as the coordinates g would be those of other elements");
    InlinedMap& one = inlined.emplace_back(InlinedMap{k, {}});
    std::size_t number = 0;
    for (const Tensor& from : found->sources) {
      const bool is_known = from.view.is_number && number < numbers.size();
      one.slots.push_back(is_known ? numbers[number] : sources.add(pulled(found->map, from)));
      if (!from.view.is_number) continue;
      if (!is_known) numbers.push_back(one.slots.back());
      ++number;
    }
  }
  Renames names;
  const auto value_of = [&](const InlinedMap& one) {
    return renamed(map.expression, sources.renames(one.slots));
  };
  for (std::size_t k = 0; k < reader.sources.size(); ++k) {
    const auto computed = std::ranges::find(inlined, k, &InlinedMap::source);
    const std::string text = computed == inlined.end() ? sources.name(own[k])
                                                       : stored(intermediate.view.type, value_of(*computed));
    for (const std::string& read : source_names(reader.sources, k)) names[read] = text;
  }
  std::vector<Move> moves(consumer.begin(), consumer.end());
  for (Move& move : moves) {
    if (is_any_of<Copy>(move)) {
      move.body = Map{value_of(inlined.front())};
      move.destination.view.type = intermediate.view.type;
    } else if (auto* const rows = std::get_if<Rowwise>(&move.body)) {
      rows->steps =
          with_first_steps(*rows, names, map, intermediate.view.type, sources, inlined, reader.sources);
    } else {
      set_expression(move, renamed(expression_of(move), names));
      if (auto* const reduction = std::get_if<Reduction>(&move.body))
        reduction->epilogue = renamed(reduction->epilogue, names_of_numbers(reader.sources, names));
    }
    move.sources = sources.in_order();
  }
  return {.moves = std::move(moves), .sentence = {}};
}

FusedMoves fuse_into_loads(const Move& producer, std::span<const Move> consumer) {
  if (is_any_of<Copy>(producer)) return fuse_copy(producer, consumer);
  if (is_any_of<Map>(producer) && is_any_of<Gather>(consumer.front()))
    return fuse_into_gather(producer, consumer.front());
  if (is_any_of<Map>(producer)) {
    if (const std::string obstacle = inlining_obstacle(producer, consumer); !obstacle.empty())
      return refused("{}", obstacle);
    FusedMoves inlined = inline_map(producer, consumer);
    if (!inlined.is_fused()) return inlined;
    return checked(std::move(inlined.moves), "which computes it where it loads elements");
  }
  return refused("as only maps, casts and copies are computed where elements are loaded");
}

TMAJIT_END
