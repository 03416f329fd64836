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

/// The geometry of windows on images. Throws Error{invalid_argument} for illegal windows.
[[nodiscard]] WindowGeometry geometry_of(const Windows& windows, const Tensor& images);

/// The destination reshaped to `shape`, which has all dimensions separate. Throws Error{invalid_argument} if
/// its shape is not `shape` with some dimensions joined; `joined` is an example for the message.
[[nodiscard]] Tensor separated(const Tensor& destination, const std::vector<std::uint64_t>& shape,
                               std::string_view joined);

/// Reads the geometry of a move's windows on its first source. Returns the rule that they break, if any.
[[nodiscard]] WindowMistake read_move_windows(const Move& move, const Windows& windows,
                                              WindowGeometry& geometry);
/// Checks that a view has the shape `want`; `dimensions` names its dimensions in the message.
[[nodiscard]] WindowMistake shape_mistake(std::string_view subject, const TensorView& view,
                                          const std::vector<std::uint64_t>& want,
                                          std::string_view dimensions);
/// Adds a mistake to the move's violations, unless its rule is empty.
void add(MoveRules& rules, WindowMistake mistake);
/// Checks that the move has `count` sources, images and maybe a filter, and returns whether it has.
bool check_count(MoveRules& rules, std::size_t count);

TMAJIT_END
