#pragma once

#include "problem.hpp"

#include <tmajit/windows.hpp>

#include <span>
#include <string>

namespace jitc {

// The options of windows: --filter, --window-step, --dilation, --outputs, and --pad as what lies around an
// image. All throw Error{invalid_argument} for what they cannot read.

/// Refuses those that an operation does not take, and what it needs and has not; null stands for none.
void check_window_options(const ProblemOptions& options, const OperationWord* operation);
/// The filter of a convolution of made-up elements on images of that shape.
[[nodiscard]] Shape filter_shape(const ProblemOptions& options, const Shape& images);
[[nodiscard]] tmajit::Windows read_windows(const ProblemOptions& options, const OperationWord& operation,
                                           std::span<const Array> inputs);
/// " --filter 3x3 --window-step 2,2", the options that were given, after `before`.
[[nodiscard]] std::string windows_text(const ProblemOptions& options, const std::string& before);

}  // namespace jitc
