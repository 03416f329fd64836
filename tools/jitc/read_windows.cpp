#include "read_windows.hpp"

#include "parse.hpp"
#include "usage.hpp"

#include <spdlog/fmt/fmt.h>

namespace jitc {

void check_window_options(const ProblemOptions& options, const OperationWord* operation) {
  const bool windows = operation != nullptr && operation->windows;
  const bool convolves = operation != nullptr && operation->convolves;
  const auto takes_no = [&](bool wrong, std::string_view option, std::string_view reason) {
    if (wrong) refuse("{} takes no {}; {}", options.word, option, reason);
  };
  constexpr std::string_view those = "im2col and convolution do";
  takes_no(!windows && !options.filter.empty(), "--filter", those);
  takes_no(!windows && !options.step.empty(), "--window-step", those);
  takes_no(!windows && !options.dilation.empty(), "--dilation", those);
  takes_no(!convolves && options.outputs.has_value(), "--outputs", "convolution does");
  takes_no(windows && options.pad_value != 0, "--pad-value", "what lies around its images is 0");
  if (!convolves) return;
  const bool from_file = !options.in.empty();
  takes_no(from_file && options.outputs.has_value(), "--outputs beside --in",
           "the second file is the filter");
  if (!from_file && options.filter.empty()) refuse("{} needs --filter, its taps: --filter 3x3", options.word);
  if (!from_file && !options.outputs) refuse("{} needs --outputs, the filter's: --outputs 64", options.word);
}

Shape filter_shape(const ProblemOptions& options, const Shape& images) {
  Shape shape = parse_extents(options.filter, "--filter");
  shape.insert(shape.begin(), *options.outputs);
  shape.push_back(images.empty() ? 1 : images.back());
  return shape;
}

tmajit::Windows read_windows(const ProblemOptions& options, const OperationWord& operation,
                             std::span<const Array> inputs) {
  tmajit::Windows windows;
  if (!options.filter.empty()) windows.filter = parse_extents(options.filter, "--filter");
  if (operation.convolves && options.filter.empty()) {
    const auto filter = extents(inputs[1].view);
    if (filter.size() > 2) windows.filter = filter.subspan(1, filter.size() - 2);
  }
  if (!options.step.empty()) windows.strides = parse_strides(options.step, "--window-step");
  if (!options.dilation.empty()) windows.dilations = parse_strides(options.dilation, "--dilation");
  if (options.pad.empty()) return windows;
  const PadWidths widths = parse_padding(options.pad);
  windows.before = widths.before;
  windows.after = widths.after;
  return windows;
}

std::string windows_text(const ProblemOptions& options, const std::string& before) {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (value.empty()) return;
    text += fmt::format("{}{} {}", before.empty() && text.empty() ? "" : " ", option, value);
  };
  add("--filter", options.filter);
  add("--window-step", options.step);
  add("--dilation", options.dilation);
  add("--pad", options.pad);
  return text;
}

}  // namespace jitc
