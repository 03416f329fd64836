#include "kernel/problem.hpp"
#include "kernel/row_steps.hpp"
#include "operations/fusion/expression_text.hpp"
#include "operations/fusion/fused_body.hpp"
#include "operations/fusion/index_map.hpp"
#include "operations/fusion/rules.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view other_order =
    "as it does not read each result once, in dimensions that are permuted or reversed";

/// The producer's moves, where move k gets this destination and this body.
FusedMoves with_destination(std::span<const Move> producer, std::size_t k, const Tensor& destination,
                            const MoveBody& body, std::string how) {
  std::vector<Move> moves(producer.begin(), producer.end());
  moves[k].destination = destination;
  moves[k].body = body;
  return checked(std::move(moves), std::move(how));
}

/// Whether the consumer is a map of one tensor and of numbers, without coordinates.
bool is_function_of_result(const Move& consumer) {
  return consumer.sources.size() == 1 + count_numbers(consumer.sources) &&
         !reads(expression_of(consumer), "g");
}

/// The number as a source of a move whose sources have the shape of `like`.
Tensor number_like(Tensor number, const TensorView& like) {
  const ElementType type = number.view.type;
  number.view = like;
  number.view.type = type;
  number.view.strides = {};
  number.view.is_number = true;
  return number;
}

FusedMoves fuse_epilogue(std::span<const Move> producer, const Move& consumer, const Tensor& destination) {
  if (!is_function_of_result(consumer))
    return refused("as the epilogue of a reduction reads no other tensor and no coordinate");
  if (reads(expression_of(consumer), "n")) return refused("as n has another meaning in an epilogue");
  const Move& reduce = producer.front();
  Reduction body = std::get<Reduction>(reduce.body);
  const std::string result =
      stored(reduce.destination.view.type, body.epilogue.empty() ? "x" : body.epilogue);
  Renames names{{"x", result}, {"x0", result}};
  Move fused{.destination = destination, .sources = reduce.sources, .body = {}};
  const std::uint32_t own = count_numbers(reduce.sources);  // the map's numbers follow the reduction's
  for (std::size_t k = 1; k < consumer.sources.size(); ++k) {
    names.emplace(fmt::format("p{}", k - 1), fmt::format("p{}", own + k - 1));
    fused.sources.push_back(number_like(consumer.sources[k], reduce.sources.front().view));
  }
  body.epilogue = renamed(expression_of(consumer), names);
  fused.body = std::move(body);
  return checked({std::move(fused)}, "which is its epilogue");
}

/// Whether a scan accumulates in f32 and stores f32, so that no bits are lost before a cast.
bool accumulates_in_f32(const Move& scan) {
  const ElementType type = scan.destination.view.type;
  if (type != ElementType::f32 && type != ElementType::f32_ftz) return false;
  return std::get<Scan>(scan.body).expression.empty() &&
         std::ranges::all_of(scan.sources, [](const Tensor& source) {
           return is_float(source.view.type) && source.view.type != ElementType::f64;
         });
}

FusedMoves fuse_scan_cast(std::span<const Move> producer, const Move& consumer, const Tensor& destination) {
  if (expression_of(consumer) != "x" || consumer.sources.size() != 1)
    return refused("as a scan has no epilogue");
  if (!accumulates_in_f32(producer.front()))
    return refused("as the scan's results are rounded to {} before the cast",
                   name(producer.front().destination.view.type));
  return with_destination(producer, 0, destination, producer.front().body, "which it does as it stores");
}

/// A map of the results of rows, in the order of the rows.
struct MapOfRows {
  const Move& map;
  Tensor read;         ///< the map's source that is the result
  Tensor destination;  ///< in the order of the result
  IndexMap order;      ///< from `read` to the result
  bool keeps = false;  ///< whether the result is stored, too
};

/// The sources of rows and of a map of their results.
struct StepSources {
  FusedSources sources;
  FusedSources::Slots own;                                   ///< slots of the rows' sources
  std::vector<std::pair<std::size_t, std::size_t>> further;  ///< sources of the map, and their slots
  std::string obstacle;  ///< why the steps cannot read them; empty if they can
};

StepSources step_sources(std::span<const Move> rows, const RowStep& result, const Tensor& intermediate,
                         const MapOfRows& what) {
  const Tensor& first_source = rows.front().sources.front();
  StepSources all;
  for (const Tensor& source : rows.front().sources) all.own.push_back(all.sources.add(source));
  for (std::size_t j = 0; j < what.map.sources.size(); ++j) {
    Tensor source = what.map.sources[j];
    if (source == what.read) continue;
    if (source.view.is_number) {
      source = number_like(source, first_source.view);
    } else {
      const std::optional<Tensor> moved = pushed(what.order, source);
      const auto holds_source = [&](const Move& row) { return may_overlap(source, row.destination); };
      if (std::ranges::any_of(rows, holds_source))
        all.obstacle = "as it reads several results of the rows, which are not stored before it runs";
      if (!moved || may_overlap(source, intermediate)) all.obstacle = other_order;
      if (result.by_row()) all.obstacle = "as a step with one value for each row reads no further tensors";
      if (!all.obstacle.empty()) return all;
      source = *moved;
    }
    all.further.emplace_back(j, all.sources.add(source));
  }
  return all;
}

/// Why a map cannot be a further step of rows; empty if it can.
std::string step_obstacle(std::span<const Move> rows, const MapOfRows& what, std::size_t destinations) {
  const std::string_view expression = expression_of(what.map);
  if (reads(expression, "g")) return "as steps know no coordinates g";
  if (destinations != rows.size()) return "as not all destinations of the rows are computed";
  if (what.keeps && rows.size() == max_inputs)
    return fmt::format("as the rows have {} destinations already", max_inputs);
  return name_obstacle(std::get<Rowwise>(rows.front().body), rows.front().sources, expression);
}

FusedMoves fuse_step(std::span<const Move> producer, std::size_t k, const MapOfRows& what) {
  const auto& [consumer, read_source, destination, order, keeps] = what;
  const Move& first = producer.front();
  const auto& rows = std::get<Rowwise>(first.body);
  const std::string_view expression = expression_of(consumer);
  const std::uint32_t numbers = count_numbers(first.sources);
  const std::vector<RowStep> parsed =
      parse_row_steps(rows.steps, static_cast<std::uint32_t>(first.sources.size()) - numbers, numbers);
  if (const std::string obstacle = step_obstacle(producer, what, destination_count(parsed));
      !obstacle.empty())
    return refused("{}", obstacle);
  const std::uint32_t result = std::get<Rowwise>(producer[k].body).result;
  const RowStep& computed = step_of_destination(parsed, result);
  const Tensor& intermediate = producer[k].destination;
  const StepSources all = step_sources(producer, computed, intermediate, what);
  if (!all.obstacle.empty()) return refused("{}", all.obstacle);

  // The result's step is renamed to `value`. The destination y becomes y0: there may be a second one.
  Renames names = all.sources.renames(all.own);
  const std::string added = fmt::format("y{}", keeps ? producer.size() : result);
  const std::string value = keeps ? fmt::format("y{}", result) : unused_name(rows.steps, expression);
  names["y"] = "y0";
  names[computed.name] = value;
  const std::string before = stored(intermediate.view.type, value);
  Renames names_of_map;
  for (std::size_t j = 0; j < consumer.sources.size(); ++j)
    for (const std::string& read : source_names(consumer.sources, j)) names_of_map[read] = before;
  for (const auto& [j, slot] : all.further)
    for (const std::string& read : source_names(consumer.sources, j))
      names_of_map[read] = all.sources.name(slot);
  const std::string steps =
      fmt::format("{}; {} = {}", renamed(rows.steps, names), added, renamed(expression, names_of_map));

  std::vector<Move> moves(producer.begin(), producer.end());
  if (keeps) {
    moves.push_back(producer[k]);
    std::get<Rowwise>(moves.back().body).result = static_cast<std::uint32_t>(producer.size());
  }
  moves[keeps ? producer.size() : k].destination = destination;
  for (Move& move : moves) {
    std::get<Rowwise>(move.body).steps = steps;
    move.sources = all.sources.in_order();
  }
  return checked(std::move(moves), "which is a further step");
}

/// The producer's moves, of which move k stores into the interior of the pad's destination.
FusedMoves fuse_pad(std::span<const Move> producer, std::size_t k, const Move& pad, const Tensor& interior) {
  const Move& writer = producer[k];
  if (!is_any_of<Map, Reduction, Scan, Rowwise>(writer))
    return refused("as {} computes no results of pad", operation_name(writer));
  const std::uint64_t inside = interior.view.elements();
  if (pad.destination.view.elements() - inside >= inside)
    return refused("as the border has as many elements as the interior, or more");
  FusedMoves fused = with_destination(producer, k, interior, writer.body,
                                      "which stores into the interior of the pad's destination");
  if (!fused.is_fused()) return fused;
  fused.border = border_of(pad);
  if (!fused.border.empty()) fused.sentence += "; the border is filled separately";
  return fused;
}

}  // namespace

FusedMoves fuse_into_stores(std::span<const Move> producer, std::size_t k, const Move& consumer, bool keeps) {
  const Move& writer = producer[k];
  const Tensor& intermediate = writer.destination;
  const auto read = std::ranges::find_if(consumer.sources, [&](const Tensor& source) {
    return !source.view.is_number && may_overlap(source, intermediate);
  });
  const std::optional<IndexMap> map = index_map(intermediate, *read);
  if (!map) return refused("{}", other_order);
  const bool is_pad = is_any_of<Padding>(consumer);
  const std::optional<Tensor> written = is_pad ? interior_of(consumer) : consumer.destination;
  if (!written) return refused("as the pad crops its source");
  std::optional<Tensor> destination = pushed(*map, *written);
  if (!destination) return refused("{}", other_order);
  const bool is_rowwise = is_any_of<Rowwise>(writer);
  if (keeps && !is_rowwise) return refused("as {} stores one destination", operation_name(writer));
  if (is_any_of<Copy>(consumer)) {
    const bool is_known = is_any_of<Rowwise, Reduction, Scan, Padding, Stencil>(writer);
    if (!is_known) return refused("as {} needs its destination where it is", operation_name(writer));
    if (keeps) return refused("as its source is stored, too");
    destination->view.type = intermediate.view.type;
    return with_destination(producer, k, *destination, writer.body, "which it does as it stores");
  }
  if (is_pad) {
    if (keeps) return refused("as its source is stored, too");
    destination->view.type = intermediate.view.type;
    return fuse_pad(producer, k, consumer, *destination);
  }
  if (!is_any_of<Map>(consumer))
    return refused("as {} computes no results of {}", operation_name(writer), operation_name(consumer));
  if (read->view.type != intermediate.view.type) return refused("{}", other_type);
  if (is_any_of<Reduction>(writer)) return fuse_epilogue(producer, consumer, *destination);
  if (is_any_of<Scan>(writer)) return fuse_scan_cast(producer, consumer, *destination);
  if (is_any_of<Gather>(writer)) return fuse_after_gather(writer, consumer, *read, *destination);
  if (is_rowwise) return fuse_step(producer, k, {consumer, *read, *destination, *map, keeps});
  return refused("as {} computes no expression of its results", operation_name(writer));
}

TMAJIT_END
