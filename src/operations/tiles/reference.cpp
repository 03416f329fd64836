#include "operations/references.hpp"

#include <cstddef>
#include <vector>

namespace reference {
namespace {

/// The elements of a source that tiles load, by the element strides.
tmajit::Tensor strided(tmajit::Tensor source, const tmajit::Dims& strides) {
  for (std::uint32_t d = 0; d < strides.size(); ++d) {
    const std::int64_t stride = strides[d];
    std::uint64_t& extent = source.view.shape.at(d);
    extent = (extent + static_cast<std::uint64_t>(stride) - 1) / static_cast<std::uint64_t>(stride);
    source.view.strides.at(d) *= stride;
  }
  return source;
}

bool is_tf32(tmajit::ElementType type) {
  return type == tmajit::ElementType::tf32 || type == tmajit::ElementType::tf32_ftz;
}

/// A move without tiles that gives the same result.
tmajit::Move by_elements(const tmajit::Move& move) {
  const auto& tiles = std::get<tmajit::Tiles>(move.body);
  tmajit::Move plain{.destination = move.destination, .sources = {}};
  for (const tmajit::Tensor& source : move.sources)
    plain.sources.push_back(source.view.is_number ? source : strided(source, tiles.options.element_strides));
  if (tiles.family == "reduce_into") {
    plain.body = tmajit::ReduceInto{tiles.combine};
  } else if (is_tf32(move.destination.view.type) || !tiles.expression.empty()) {
    plain.body = tmajit::Map{tiles.expression.empty() ? "x" : tiles.expression};
  }
  return plain;
}

/// The copy engine rounds tf32 elements when it loads them. So the tf32 sources of a map are rounded first,
/// by a conversion.
void compute_tiles(const tmajit::Move& move, const Part& part) {
  tmajit::Move plain = by_elements(move);
  std::vector<std::vector<std::byte>> rounded;
  for (tmajit::Tensor& source : plain.sources) {
    if (std::get<tmajit::Tiles>(move.body).family != "map" || !is_tf32(source.view.type)) continue;
    const tmajit::ElementType type = source.view.type;
    auto& bytes = rounded.emplace_back(element_count(part, source.view.rank) * size_of(type));
    const tmajit::Tensor copy = only_part(source.view, part, type, bytes.data());
    compute({.destination = copy, .sources = {source}, .body = tmajit::Map{"x"}}, part);
    source = copy;
  }
  compute(plain, part);
}

constexpr OperationReference tiles_reference{
    .compute = compute_tiles,
    // A snapshot has its tiles in their shared-memory layout, which this reference does not compute.
    .understands =
        [](const tmajit::Move& move) {
          return std::get<tmajit::Tiles>(move.body).family != "snapshot" && understands(by_elements(move));
        },
    .makes_values = [](const tmajit::Move& move) { return makes_values(by_elements(move)); },
    .allowed_errors = [](const tmajit::Move& move,
                         const Part& part) { return allowed_errors(by_elements(move), part); }};

}  // namespace

const OperationReference& reference_of(const tmajit::Tiles& /*tiles*/) noexcept {
  return tiles_reference;
}

}  // namespace reference
