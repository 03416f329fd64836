#pragma once

#include "operations/shared/move_rules.hpp"
#include "spec/windows.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Windows of a filter on images, for im2col and convolution.

/// The geometry of windows on images. Throws Error{invalid_argument} where they are none.
[[nodiscard]] WindowGeometry geometry_of(const Windows& windows, const Tensor& images);

/// The destination with all of its dimensions separate. `joined` shows the shape that has some of them
/// joined. Throws Error{invalid_argument} if the destination has neither shape.
[[nodiscard]] Tensor separated(const Tensor& destination, const std::vector<std::uint64_t>& shape,
                               std::string_view joined);

/// Reads the geometry of a move's windows on its first source; the mistake where they are none.
[[nodiscard]] WindowMistake read_move_windows(const Move& move, const Windows& windows,
                                              WindowGeometry& geometry);
/// That a view has the shape `want`, whose dimensions are `dimensions`.
[[nodiscard]] WindowMistake shape_mistake(std::string_view subject, const TensorView& view,
                                          const std::vector<std::uint64_t>& want,
                                          std::string_view dimensions);
/// Adds a mistake, if it is one.
void add(MoveRules& rules, WindowMistake mistake);
/// That the move has `count` sources: images and maybe a filter. Whether it is so.
bool check_count(MoveRules& rules, std::size_t count);

TMAJIT_END
