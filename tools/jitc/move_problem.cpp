#include "move_problem.hpp"

#include "move_arguments.hpp"
#include "operand_types.hpp"
#include "parse.hpp"
#include "report.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_spec.hpp>

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;
using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::Move;
using tmajit::Slice;
using tmajit::Tensor;
using tmajit::TensorView;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::vector<std::uint64_t> extents(const TensorView& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}

/// The part of `tensor` from `begin` on, `extent` long, in one dimension.
Tensor part_of(const Tensor& tensor, std::uint32_t axis, std::uint64_t begin, std::uint64_t extent) {
  std::vector<Slice> slices(axis + 1);
  slices.back() = {.start = static_cast<std::int64_t>(begin),
                   .stop = static_cast<std::int64_t>(begin + extent)};
  return tmajit::sliced(tensor, slices);
}

Tensor apply(const MoveProblem::Views& views, Tensor tensor) {
  if (!views.slices.empty()) tensor = tmajit::sliced(tensor, views.slices);
  for (const auto axis : views.flips) tensor = tmajit::flipped(tensor, axis);
  if (!views.axes.empty()) tensor = tmajit::permuted(tensor, views.axes);
  if (views.shape) tensor = tmajit::broadcast(tensor, *views.shape);
  return tensor;
}

/// The shape to which arrays of these shapes repeat together.
std::vector<std::uint64_t> common_shape(std::span<const Tensor> tensors) {
  std::uint32_t rank = 0;
  for (const auto& tensor : tensors) rank = std::max(rank, tensor.view.rank);
  std::vector<std::uint64_t> shape(rank, 1);
  for (const auto& tensor : tensors) {
    const std::uint32_t missing = rank - tensor.view.rank;
    for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
      // Extents that disagree are found when the tensors are repeated to the result.
      if (shape[missing + d] == 1) shape[missing + d] = tensor.view.shape[d];
    }
  }
  return shape;
}

/// Builds one problem, step by step; each step uses what the ones before found out.
class Builder {
 public:
  Builder(const KernelOptions& tensors, const MoveOptions& options) : tensors_(tensors), options_(options) {
    require_move_name(tensors.family);
    problem_.operation = tensors.family;
  }

  MoveProblem build() {
    check_options();
    for (const auto& path : tensors_.in) problem_.files.emplace_back(path);
    count_inputs();
    types_ = choose_types(tensors_, problem_.files, count_);
    make_inputs();
    read_views();
    make_outputs();
    return std::move(problem_);
  }

 private:
  [[nodiscard]] bool is(std::string_view word) const { return problem_.operation == word; }
  [[nodiscard]] bool joins() const { return is("concat") || is("split"); }

  /// Options that the operation cannot do without, and those that it cannot do with.
  void check_options() const {
    const auto& word = problem_.operation;
    const auto needs = [&](std::string_view operation, const std::string& value, std::string_view example) {
      if (is(operation) && value.empty()) refuse(fmt::format("{} needs {}", word, example));
    };
    needs("permute", options_.axes, "--axes, the new order of the dimensions: --axes 0,2,1,3");
    needs("slice", options_.slice, "--slice, the part that is taken: --slice 100:200,::2");
    needs("flip", options_.flip, "--flip, the dimensions that are walked backwards: --flip 0,2");
    needs("broadcast", options_.broadcast,
          "--broadcast, the shape to which the input is repeated: --broadcast 8x64x64");
    needs("pad", options_.pad, "--pad, what is added before and after each dimension: --pad 1,1:2,2");
    needs("cast", tensors_.out_dtype,
          "--out-dtype, the type to which elements are converted: --out-dtype bf16");
    needs("map", tensors_.expression, "--expr, what it computes: --expr 'x*2+1'");
    needs("concat", options_.axis, "--axis, the dimension along which the inputs are joined: --axis 0");
    needs("split", options_.axis, "--axis, the dimension along which the input is cut: --axis 0");
    needs("split", options_.parts, "--parts, the outputs' extents along --axis: --parts 10,20,30");

    const auto takes_no = [&](bool wrong, std::string_view option, std::string_view who) {
      if (wrong) refuse(fmt::format("{} takes no {}; {}", word, option, who));
    };
    takes_no(!is("map") && !tensors_.expression.empty(), "--expr", "map computes");
    takes_no(!joins() && !options_.axis.empty(), "--axis", "concat and split do; --axes permutes");
    takes_no(!joins() && !options_.parts.empty(), "--parts", "concat and split do");
    takes_no(!options_.pad.empty() && (joins() || is("map") || is("cast")), "--pad",
             "a padded move keeps the bits of one input: pad first");
    takes_no(options_.pad.empty() && options_.pad_value != 0, "--pad-value without --pad",
             "there is nothing to fill");
  }

  void count_inputs() {
    const std::size_t read = is("map") ? inputs_of(tensors_.expression) : is("concat") ? 2 : 1;
    if (is("concat") && !options_.parts.empty()) {
      if (!problem_.files.empty())
        refuse("--parts says how long concat's inputs are, but the files say that already");
      count_ = parse_extents(options_.parts, "--parts").size();
    } else {
      count_ = !problem_.files.empty() ? problem_.files.size()
               : tensors_.inputs != 0  ? tensors_.inputs
                                       : read;
    }
    if (tensors_.inputs != 0 && tensors_.inputs != count_) {
      refuse(fmt::format("--inputs {}, but there are {}", tensors_.inputs, count_));
    }
    if (is("map") && read > count_) {
      refuse(fmt::format("--expr reads x{}, but there {} only {} input{}; the last is x{}", read - 1,
                         count_ == 1 ? "is" : "are", count_, count_ == 1 ? "" : "s", count_ - 1));
    }
    if (is("map") && count_ > tmajit::max_inputs) {
      refuse(fmt::format("{} inputs; the most is {}", count_, tmajit::max_inputs));
    }
    if (!is("map") && !is("concat") && count_ != 1) {
      refuse(fmt::format("{} takes one input, but {} are given; map and concat take several",
                         problem_.operation, count_));
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> shape_of(std::size_t input) const {
    if (problem_.files.empty()) {
      if (tensors_.shape.empty()) {
        refuse(fmt::format("{} needs its inputs: --in a.npy, or --shape 4096x4096 for one that is made up",
                           problem_.operation));
      }
      auto shape = parse_extents(tensors_.shape, "--shape");
      if (is("concat") && !options_.parts.empty()) {
        shape[parse_axes(options_.axis, static_cast<std::uint32_t>(shape.size()), "--axis").front()] =
            parse_extents(options_.parts, "--parts")[input];
      }
      return shape;
    }
    const auto& file = problem_.files[input];
    const auto& shape = file.header().shape;
    if (!tensors_.shape.empty() && shape != parse_extents(tensors_.shape, "--shape")) {
      refuse(fmt::format("{} has shape {}, but --shape says {}; leave --shape out", file.path().string(),
                         fmt::join(shape, "x"), tensors_.shape));
    }
    if (shape.size() > tmajit::max_view_rank) {
      refuse(fmt::format("{} has {} dimensions; the most is {}", file.path().string(), shape.size(),
                         tmajit::max_view_rank));
    }
    return shape;
  }

  /// Dense, or with the strides that `text` gives.
  static MoveArray make_array(ElementType type, std::span<const std::uint64_t> shape, const std::string& text,
                              const std::string& option, std::uint64_t offset, std::string name) {
    if (TensorView::contiguous(ElementType::u8, shape).elements() > std::uint64_t{1} << 48U) {
      refuse(
          fmt::format("{} has shape {}, more elements than any device holds", name, fmt::join(shape, "x")));
    }
    auto view = TensorView::contiguous(type, shape);
    if (!text.empty()) {
      const auto strides = parse_strides(text, option);
      if (strides.size() != shape.size()) {
        refuse(fmt::format("{} {} has {} numbers, but {} has {} dimensions", option, text, strides.size(),
                           name, shape.size()));
      }
      view = TensorView::strided(type, shape, strides);
    }
    return {.view = view, .memory = MemorySpan::of(view, offset), .name = std::move(name)};
  }

  void make_inputs() {
    const auto& strides = tensors_.strides;
    if (strides.size() > 1 && strides.size() != count_) {
      refuse(
          fmt::format("--strides is given {} times; legal is once for all inputs, or once for each of the {}",
                      strides.size(), count_));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      problem_.inputs.push_back(make_array(
          types_.inputs[i], shape_of(i), strides.empty() ? "" : strides[strides.size() == 1 ? 0 : i],
          "--strides", options_.offset, count_ == 1 ? "input" : fmt::format("input {}", i)));
    }
  }

  void note(std::string_view option, std::string_view text) {
    arguments_.push_back(fmt::format("{} {}", option, text));
    problem_.arguments = fmt::to_string(fmt::join(arguments_, " "));
  }

  void read_views() {
    auto& views = problem_.views;
    const auto rank = problem_.inputs.front().view.rank;
    if (!options_.slice.empty()) {
      views.slices = parse_slices(options_.slice);
      note("--slice", format(views.slices));
    }
    if (!options_.flip.empty()) {
      views.flips = parse_axes(options_.flip, rank, "--flip");
      note("--flip", fmt::to_string(fmt::join(views.flips, ",")));
    }
    if (!options_.axes.empty()) {
      views.axes = parse_axes(options_.axes, rank, "--axes");
      if (views.axes.size() != rank) {
        refuse(
            fmt::format("--axes {} names {} dimension{}, but the input has {}; legal is each of 0 to {} once",
                        options_.axes, views.axes.size(), views.axes.size() == 1 ? "" : "s", rank, rank - 1));
      }
      note("--axes", fmt::to_string(fmt::join(views.axes, ",")));
    }
    if (!options_.broadcast.empty()) {
      views.shape = parse_extents(options_.broadcast, "--broadcast");
      note("--broadcast", fmt::to_string(fmt::join(*views.shape, "x")));
    }
  }

  /// The inputs as the operation proper sees them.
  [[nodiscard]] std::vector<Tensor> viewed() const {
    std::vector<Tensor> tensors;
    for (const auto& input : problem_.inputs) tensors.push_back(apply(problem_.views, {.view = input.view}));
    return tensors;
  }

  void add_output(std::span<const std::uint64_t> shape, std::string name) {
    problem_.outputs.push_back(make_array(types_.output, shape, tensors_.out_strides, "--out-strides",
                                          options_.out_offset, std::move(name)));
  }

  void make_outputs() {
    const auto sources = viewed();
    choose_expression();
    if (joins()) {
      note("--axis", options_.axis);
      const auto axes = parse_axes(options_.axis, sources.front().view.rank, "--axis");
      if (axes.size() != 1) refuse(fmt::format("--axis {}: legal is one dimension", options_.axis));
      problem_.axis = axes.front();
      is("concat") ? join(sources) : cut(sources.front());
      return;
    }
    auto shape = common_shape(sources);
    if (!options_.pad.empty()) pad(shape);
    add_output(shape, "output");
  }

  void choose_expression() {
    if (is("map")) {
      problem_.expression = tensors_.expression;
      note("--expr", fmt::format("'{}'", tensors_.expression));
    } else if (is("cast")) {
      // Bits survive as they are, which a NaN need not survive on its way through f32; a cast to tf32 rounds.
      const auto to = types_.output;
      const bool rounds = to == ElementType::tf32 || to == ElementType::tf32_ftz;
      if (types_.inputs.front() != to || rounds) problem_.expression = std::string("x");
    } else {
      for (const auto type : types_.inputs) {
        if (tmajit::size_of(type) == tmajit::size_of(types_.output)) continue;
        refuse(fmt::format("{} keeps bits, which {} and {} have not as many of; cast converts values",
                           problem_.operation, tmajit::name(type), tmajit::name(types_.output)));
      }
    }
  }

  void pad(std::vector<std::uint64_t>& shape) {
    const auto widths = parse_padding(options_.pad);
    if (widths.before.size() != shape.size()) {
      refuse(fmt::format("--pad {} is for {} dimensions, but there are {}", options_.pad,
                         widths.before.size(), shape.size()));
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      constexpr std::int64_t most = std::int64_t{1} << 48U;
      const std::int64_t before = widths.before[d];
      const std::int64_t after = widths.after[d];
      if (std::min(before, after) < -most || std::max(before, after) > most) {
        refuse(fmt::format("--pad {}: a number is out of range", options_.pad));
      }
      const std::int64_t extent = static_cast<std::int64_t>(shape[d]) + before + after;
      if (extent < 0) {
        refuse(fmt::format("--pad {} crops {} elements of dimension {}, which has {}", options_.pad,
                           -(before + after), d, shape[d]));
      }
      shape[d] = static_cast<std::uint64_t>(extent);
    }
    problem_.padding = tmajit::Padding{.before = widths.before, .value = options_.pad_value};
    note("--pad", format(widths));
    if (options_.pad_value != 0) note("--pad-value", fmt::to_string(options_.pad_value));
  }

  void join(std::span<const Tensor> sources) {
    auto shape = extents(sources.front().view);
    shape[problem_.axis] = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      auto expected = shape;
      const auto found = extents(sources[i].view);
      if (found.size() == expected.size()) expected[problem_.axis] = found[problem_.axis];
      if (found != expected) {
        refuse(fmt::format(
            "concat --axis {}: {} has shape {}, but {} has {}; they may differ in that dimension only",
            problem_.axis, problem_.inputs[i].name, fmt::join(found, "x"), problem_.inputs.front().name,
            fmt::join(extents(sources.front().view), "x")));
      }
      shape[problem_.axis] += found[problem_.axis];
    }
    add_output(shape, "output");
  }

  void cut(const Tensor& source) {
    auto shape = extents(source.view);
    const auto parts = parse_extents(options_.parts, "--parts");
    note("--parts", fmt::to_string(fmt::join(parts, ",")));
    std::uint64_t left = shape[problem_.axis];
    for (const auto part : parts) {
      if (part > left) refuse_parts(shape[problem_.axis]);
      left -= part;
    }
    if (left != 0) refuse_parts(shape[problem_.axis]);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      shape[problem_.axis] = parts[i];
      add_output(shape, parts.size() == 1 ? "output" : fmt::format("output {}", i));
    }
  }

  [[noreturn]] void refuse_parts(std::uint64_t extent) const {
    refuse(fmt::format("--parts {} must add up to {}, the extent of dimension {}", options_.parts, extent,
                       problem_.axis));
  }

  const KernelOptions& tensors_;
  const MoveOptions& options_;
  std::size_t count_ = 1;
  OperandTypes types_;
  std::vector<std::string> arguments_;
  MoveProblem problem_;
};

std::vector<Tensor> placed(std::span<const MoveArray> arrays, std::span<const std::uint64_t> at) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    tensors.push_back({.view = arrays[i].view, .address = at[i] + arrays[i].memory.first});
  }
  return tensors;
}

}  // namespace

MoveProblem make_move(const KernelOptions& tensors, const MoveOptions& options) {
  return Builder(tensors, options).build();
}

std::vector<Move> MoveProblem::moves(std::span<const std::uint64_t> inputs_at,
                                     std::span<const std::uint64_t> outputs_at) const {
  auto sources = placed(inputs, inputs_at);
  for (auto& source : sources) source = apply(views, source);
  const auto destinations = placed(outputs, outputs_at);
  std::vector<Move> result;
  if (operation == "concat" || operation == "split") {
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < std::max(sources.size(), destinations.size()); ++i) {
      const bool joins = operation == "concat";
      const auto extent = (joins ? sources[i] : destinations[i]).view.shape[axis];
      result.push_back(
          {.destination = joins ? part_of(destinations.front(), axis, at, extent) : destinations[i],
           .sources = {joins ? sources[i] : part_of(sources.front(), axis, at, extent)}});
      at += extent;
    }
    return result;
  }
  const auto& destination = destinations.front();
  if (!padding) {
    for (auto& source : sources) source = tmajit::broadcast(source, extents(destination.view));
  }
  result.push_back({.destination = destination,
                    .sources = std::move(sources),
                    .expression = expression,
                    .padding = padding});
  return result;
}

std::vector<Move> MoveProblem::unplaced() const {
  constexpr std::uint64_t apart = std::uint64_t{1} << 49U;  // MemorySpan::of() takes half of that
  std::vector<std::uint64_t> addresses(inputs.size() + outputs.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) addresses[i] = (i + 1) * apart;
  return moves(std::span(addresses).first(inputs.size()), std::span(addresses).subspan(inputs.size()));
}

std::string describe(const MoveProblem& problem) {
  const auto list = [](std::span<const MoveArray> arrays) {
    std::vector<std::string> texts;
    for (const auto& array : arrays) texts.push_back(describe(array.view));
    return fmt::to_string(fmt::join(texts, " and "));
  };
  return fmt::format("{}{}{}: {} -> {}", problem.operation, problem.arguments.empty() ? "" : " ",
                     problem.arguments, list(problem.inputs), list(problem.outputs));
}

}  // namespace jitc
