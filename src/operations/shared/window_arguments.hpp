#pragma once

#include <tmajit/arguments.hpp>
#include <tmajit/windows.hpp>

#include <array>
#include <span>
#include <vector>

TMAJIT_BEGIN

// The arguments of im2col and convolution.

/// `needs_filter`: whether the argument `filter` is required. A convolution takes it from its second source.
[[nodiscard]] constexpr std::array<Argument, 4> window_arguments(bool needs_filter) {
  return {Argument{.name = "filter",
                   .option = "--filter",
                   .type = ArgumentType::extents,
                   .required = needs_filter,
                   .fallback = needs_filter ? "" : "those of the filter tensor",
                   .sentence = "the taps of a window in each dimension of the images",
                   .example = "3x3"},
          Argument{.name = "strides",
                   .option = "--window-step",
                   .type = ArgumentType::numbers,
                   .fallback = "1",
                   .sentence = "pixels from window to window",
                   .example = "2,2"},
          Argument{.name = "dilations",
                   .option = "--dilation",
                   .type = ArgumentType::numbers,
                   .fallback = "1",
                   .sentence = "pixels from tap to tap",
                   .example = "2,2"},
          Argument{.name = "padding",
                   .option = "--pad",
                   .type = ArgumentType::widths,
                   .fallback = "0",
                   .sentence = "pixels of zeros before and after each dimension of the images",
                   .example = "1,1:2,2"}};
}

[[nodiscard]] Windows windows_of(const Arguments& given);
/// The destination: [images · windows…, taps · channels] of im2col, or [images · windows…, outputs] of a
/// convolution, whose second source is the filter. Throws Error{invalid_argument} for images of too few
/// dimensions.
[[nodiscard]] std::vector<TensorView> window_destinations(std::span<const TensorView> sources,
                                                          const Arguments& given);

TMAJIT_END
