#include "fusion/expression_text.hpp"
#include "fusion/fused_body.hpp"
#include "fusion/index_map.hpp"
#include "fusion/rules.hpp"
#include "kernel/problem.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

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

/// The first source of a consumer that lies within the intermediate tensor.
const Tensor& source_within(const Move& consumer, const Tensor& intermediate) {
  return *std::ranges::find_if(consumer.sources, [&](const Tensor& source) {
    return !source.view.is_number && may_overlap(source, intermediate);
  });
}

/// Whether the consumer is a map that has as many elements as the intermediate tensor.
bool is_map_of_each(const Move& consumer, const Tensor& intermediate) {
  if (!is_any_of<Map>(consumer)) return false;
  const std::optional<IndexMap> map = index_map(intermediate, source_within(consumer, intermediate));
  return map && pushed(*map, consumer.destination);
}

}  // namespace

FusedMoves fuse_into_stores(std::span<const Move> producer, std::size_t k, std::span<const Move> consumer,
                            const std::vector<bool>& keeps) {
  const Move& writer = producer[k];
  const Move& reader = consumer.front();
  const Tensor& intermediate = writer.destination;
  const bool are_rows = is_any_of<Rowwise, Reduction>(writer) && is_any_of<Map, Rowwise, Reduction>(reader);
  if (consumer.size() != 1 && !are_rows) return refused("as the second has several destinations");
  if (are_rows && !(is_any_of<Reduction>(writer) && is_map_of_each(reader, intermediate)))
    return fuse_rows(producer, consumer, keeps);
  const std::optional<IndexMap> map = index_map(intermediate, source_within(reader, intermediate));
  if (!map) return refused("{}", other_order);
  const bool is_pad = is_any_of<Padding>(reader);
  const std::optional<Tensor> written = is_pad ? interior_of(reader) : reader.destination;
  if (!written) return refused("as the pad crops its source");
  std::optional<Tensor> destination = pushed(*map, *written);
  if (!destination) return refused("{}", other_order);
  if (keeps[k] && !is_any_of<Rowwise>(writer))
    return refused("as {} stores one destination", operation_name(writer));
  if (is_any_of<Copy>(reader)) {
    const bool is_known = is_any_of<Rowwise, Reduction, Scan, Padding, Stencil>(writer);
    if (!is_known) return refused("as {} needs its destination where it is", operation_name(writer));
    if (keeps[k]) return refused("as its source is stored, too");
    destination->view.type = intermediate.view.type;
    return with_destination(producer, k, *destination, writer.body, "which it does as it stores");
  }
  if (is_pad) {
    if (keeps[k]) return refused("as its source is stored, too");
    destination->view.type = intermediate.view.type;
    return fuse_pad(producer, k, reader, *destination);
  }
  if (!is_any_of<Map>(reader))
    return refused("as {} computes no results of {}", operation_name(writer), operation_name(reader));
  const Tensor& read = source_within(reader, intermediate);
  if (read.view.type != intermediate.view.type) return refused("{}", other_type);
  if (is_any_of<Reduction>(writer)) return fuse_epilogue(producer, reader, *destination);
  if (is_any_of<Scan>(writer)) return fuse_scan_cast(producer, reader, *destination);
  if (is_any_of<Gather>(writer)) return fuse_after_gather(writer, reader, read, *destination);
  return refused("as {} computes no expression of its results", operation_name(writer));
}

TMAJIT_END
