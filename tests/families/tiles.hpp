#pragma once

#include "spec/rules.hpp"
#include "tiles/tile_rules.hpp"
#include "tiles/tile_spec.hpp"

#include <tmajit/list.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <span>
#include <vector>

// Helpers that make tile specs and find the rules that a spec breaks.

inline tmajit::TensorView dense(tmajit::ElementType type, const tmajit::Dims& shape) {
  return tmajit::TensorView::contiguous(type, shape);
}

inline tmajit::TileSpec copy_spec(const tmajit::TensorView& destination, const tmajit::TensorView& source,
                                  const tmajit::TileOptions& options = {}) {
  return tile_spec(tmajit::copy_traits, {}, std::array{destination, source}, options);
}

inline tmajit::TileSpec map_spec(const tmajit::TensorView& output, std::string_view expression,
                                 tmajit::List<tmajit::TensorView> inputs,
                                 const tmajit::TileOptions& options = {}) {
  std::vector<tmajit::TensorView> views{output};
  views.insert(views.end(), inputs.begin(), inputs.end());
  return tile_spec(tmajit::map_traits, expression, views, options);
}

inline tmajit::TileSpec bulk_spec(tmajit::ElementType output, std::string_view expression,
                                  tmajit::ElementType input, const tmajit::TileOptions& options = {}) {
  return tile_spec(tmajit::bulk_traits, expression, std::array{dense(output, {64}), dense(input, {64})},
                   options);
}

inline tmajit::TileSpec snapshot_spec(const tmajit::TensorView& source,
                                      const tmajit::TileOptions& options = {}) {
  return tile_spec(tmajit::snapshot_traits, {}, std::array{dense(tmajit::ElementType::u8, {1, 1}), source},
                   options);
}

/// The rules that a spec breaks whatever its views.
inline std::vector<tmajit::Violation> broken(const tmajit::TileSpec& spec) {
  tmajit::Violations violations;
  check_spec(spec, violations);
  return violations.take();
}

/// The rules that a spec breaks with `views`, the output's view first.
inline std::vector<tmajit::Violation> broken(const tmajit::TileSpec& spec,
                                             std::span<const tmajit::TensorView> views) {
  tmajit::Violations violations;
  check_spec(spec, violations);
  check_views(spec, views, violations);
  return violations.take();
}
