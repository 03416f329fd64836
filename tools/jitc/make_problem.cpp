#include "arrays.hpp"
#include "index_inputs.hpp"
#include "operand_types.hpp"
#include "parse.hpp"
#include "problem.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/report/plan.hpp>

#include <algorithm>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;
using tmajit::Tensor;
using tmajit::TensorView;

/// Builds one problem in steps; each step uses the results of the earlier ones.
class Builder {
 public:
  Builder(const ProblemOptions& options, Purpose purpose, const Problem* before)
      : options_(options), purpose_(purpose), before_(before) {
    problem_.word = options.word;
    problem_.request = read_request(options);
  }

  Problem build() {
    check_arguments(problem_.request, options_);
    if (is("cast") && options_.out_dtype.empty())
      refuse("cast needs --out-dtype, the type to which elements are converted: --out-dtype bf16");
    if (!combines() && !options_.into.empty())
      refuse("{} takes no --into; reduce_into, scatter and scatter_add do", problem_.word);
    if (!operation().has_indices && !options_.index_shape.empty())
      refuse("{} takes no --index-shape; gather, scatter, scatter_add, gather_sum and moe_permute do",
             problem_.word);
    check_filter();
    // Options that can be read without the inputs come first, so that a missing file does not hide a wrong
    // word.
    auto named = read_types(options_);
    if (before_ != nullptr && named.all.empty()) named.all.push_back(before_->outputs.front().view.type);
    check_values();
    read_ranges();
    for (const auto& path : options_.in) problem_.files.emplace_back(path);
    count_inputs();
    types_ = choose_types(named, problem_.files, input_count_, operation(), is_ragged());
    describe_recipe(named.all.size());
    make_inputs();
    read_views();
    read_numbers();
    if (text("--expr").empty()) require_same_bits(types_, operation(), problem_.word, !text("--pad").empty());
    read_arguments();
    if (!options_.into.empty()) problem_.into.emplace(options_.into);
    make_outputs();
    if (!options_.into.empty()) check_into();
    keep_booleans();
    return std::move(problem_);
  }

 private:
  [[nodiscard]] const tmajit::OperationInfo& operation() const { return *problem_.request.operation; }
  [[nodiscard]] bool is(std::string_view name) const { return operation().name == name; }
  [[nodiscard]] bool computes() const { return operation().find_argument("expression") != nullptr; }
  [[nodiscard]] bool combines() const { return problem_.request.combines(); }
  [[nodiscard]] bool convolves() const { return is("convolution"); }
  [[nodiscard]] const std::string& text(std::string_view option) const { return options_.argument(option); }
  /// Whether a tensor map describes the arrays as they are, so that rows must begin at multiples of 16 bytes.
  [[nodiscard]] bool has_mapped_rows() const {
    return operation().needs_mapped_rows && !problem_.request.family->flat;
  }
  [[nodiscard]] bool writes_images() const {
    return problem_.request.family != nullptr && problem_.request.family->writes_images;
  }
  /// Whether outputs have the inputs' bits.
  [[nodiscard]] bool moves_bits() const {
    if (!operation().needs_mapped_rows) return operation().moves_bits && text("--expr").empty();
    return !problem_.request.family->computes && !combines() && !writes_images();
  }

  /// A convolution's filter is a file, or has the shape that --filter and --outputs give.
  void check_filter() const {
    const bool from_file = !options_.in.empty();
    if (options_.outputs && !convolves()) refuse("{} takes no --outputs; convolution does", problem_.word);
    if (!convolves()) return;
    if (from_file && options_.outputs)
      refuse("{} takes no --outputs beside --in; the second file is the filter", problem_.word);
    if (!from_file && text("--filter").empty())
      refuse("{} needs --filter, its taps: --filter 3x3", problem_.word);
    if (!from_file && !options_.outputs)
      refuse("{} needs --outputs, the filter's: --outputs 64", problem_.word);
  }

  /// Whether --parts gives the extents of inputs without files.
  [[nodiscard]] bool parts_are_inputs() const {
    return (is("concat") || operation().is_batch) && !text("--parts").empty();
  }

  /// The fewest inputs that are legal: none for an expression of coordinates alone.
  [[nodiscard]] std::uint32_t min_inputs() const {
    const auto* const family = problem_.request.family;
    if (family == nullptr) return is("map") ? 0 : std::max(operation().min_sources, 1U);
    return family->max_inputs == 0 ? 0 : 1;
  }

  void count_inputs() {
    const auto least = min_inputs();
    const auto inputs_read = std::max(computes() ? inputs_of(text("--expr")) : 1, least);
    if (operation().is_batch && !text("--axis").empty() && text("--parts").empty()) {
      refuse(
          problem_.files.empty()
              ? fmt::format("{} takes --axis and --parts together: --axis 0 --parts 100,37,5", problem_.word)
              : fmt::format(
                    "{} takes no --axis beside --in: each file is a tensor of its own; leave --axis out",
                    problem_.word));
    }
    if (parts_are_inputs()) {
      if (!problem_.files.empty()) {
        refuse("{} takes no --parts beside --in: each file says how long its input is; leave --parts out",
               problem_.word);
      }
      input_count_ = tmajit::parse_parts(text("--parts"), "--parts").size();
    } else if (!problem_.files.empty()) {
      input_count_ = problem_.files.size();
    } else if (options_.inputs) {
      input_count_ = *options_.inputs;
    } else if (operation().has_indices) {
      const bool shares_axes = operation().has_weights || options_.argument("--flat") == "yes";
      input_count_ = 1 + (shares_axes ? 1 : indexed_axes(options_).size()) + (is_ragged() ? 1 : 0);
    } else {
      input_count_ = is("concat") ? 2 : inputs_read;
    }
    if (before_ != nullptr && input_count_ == 0)
      refuse("{} reads nothing of the result before; leave --inputs 0 out", problem_.word);
    if (options_.inputs && *options_.inputs != input_count_) {
      refuse("--inputs {}, but {} given with {}", *options_.inputs,
             input_count_ == 1 ? "1 is" : fmt::format("{} are", input_count_),
             problem_.files.empty() ? "--parts" : "--in");
    }
    const auto* const family = problem_.request.family;
    const auto limit = family != nullptr && computes() ? family->max_inputs : operation().max_sources;
    if (input_count_ > limit) {
      if (limit == 0) {
        refuse("{} computes from coordinates alone and takes no input, but {} given; map takes inputs",
               problem_.word, input_count_ == 1 ? "1 is" : fmt::format("{} are", input_count_));
      }
      refuse(limit == 1 ? fmt::format("{} takes one input, but {} are given; map and concat take several",
                                      problem_.word, input_count_)
                        : fmt::format("{} takes at most {} inputs, but {} are given", problem_.word, limit,
                                      input_count_));
    }
    if (input_count_ < least) {
      refuse("{} needs {}, but {} given{}", problem_.word,
             least == 1 ? "an input" : fmt::format("{} inputs", least),
             input_count_ == 1 ? "1 is" : fmt::format("{} are", input_count_),
             problem_.files.empty() ? "" : " with --in");
    }
    if (inputs_read > input_count_) {
      if (input_count_ == 0)
        refuse("--inputs 0, but --expr reads x{}: legal is {} or more", inputs_read - 1, inputs_read);
      refuse("--expr reads x{}, but there {} only {}; the last is x{}", inputs_read - 1,
             input_count_ == 1 ? "is" : "are", counted(input_count_, "input"), input_count_ - 1);
    }
  }

  /// Sets the shapes of a recipe's inputs without files, which follow from --shape, and the types that
  /// --dtype does not name one by one: labels are integers although one type is given for all.
  void describe_recipe(std::size_t named_types) {
    const auto shape = given_shape();
    if (operation().sources.empty() || !problem_.files.empty() || !shape) return;
    tmajit::Arguments given;
    for (const auto& argument : operation().arguments) {
      if (const auto& value = text(argument.option); !value.empty())
        given.set(argument.name, tmajit::parse_argument(argument, value, argument.option));
    }
    const auto rows = TensorView::contiguous(types_.inputs.front(), *shape);
    recipe_ = tmajit::sources_of(operation().name, rows, input_count_, given);
    if (named_types > 1) return;
    for (std::size_t i = 0; i < input_count_; ++i) types_.inputs[i] = recipe_[i].type;
  }

  /// The shape of the result that the operation reads, or that of --shape; nothing without both.
  [[nodiscard]] std::optional<Shape> given_shape() const {
    if (before_ != nullptr) {
      const auto shape = extents(before_->outputs.front().view);
      return Shape(shape.begin(), shape.end());
    }
    if (options_.shape.empty()) return std::nullopt;
    return parse_extents(options_.shape, "--shape");
  }

  [[nodiscard]] Shape shape_of(std::size_t input) const {
    if (!problem_.files.empty()) return shape_of_file(problem_.files[input], is_index(input));
    const auto given = given_shape();
    if (!given) {
      if (purpose_ == Purpose::run) {
        refuse("{} needs its inputs: --in a.npy, or --shape 4096x4096 for made-up elements", problem_.word);
      }
      if (is_index(input)) return index_input_shape(input, {4096, 4096});
      if (text("--box").empty() || !has_mapped_rows()) return {4096, 4096};
      const auto box = tmajit::parse_extents(text("--box"), "--box");
      return {box.begin(), box.end()};
    }
    if (!recipe_.empty()) {
      const auto shape = extents(recipe_[input]);
      return {shape.begin(), shape.end()};
    }
    Shape shape = *given;
    if (convolves() && input == 1) return filter_shape(shape);
    if (is(tmajit::CastTranspose::operation) && input == 1) return {};  // the scale
    if (is_index(input)) return index_input_shape(input, shape);
    if (parts_are_inputs()) {
      if (text("--axis").empty())
        refuse("{} takes --axis and --parts together: --axis 0 --parts 100,37,5", problem_.word);
      const auto rank = static_cast<std::uint32_t>(shape.size());
      const auto axes = tmajit::resolve_axes(tmajit::parse_numbers(text("--axis"), "--axis"), rank, "--axis");
      shape[axes.front()] =
          static_cast<std::uint64_t>(tmajit::parse_parts(text("--parts"), "--parts")[input]);
    }
    return shape;
  }

  /// Whether an input is an index tensor, or the weights, which have its shape, or offsets.
  [[nodiscard]] bool is_index(std::size_t input) const { return operation().has_indices && input > 0; }
  [[nodiscard]] bool is_ragged() const { return operation().has_offsets && text("--ragged") == "yes"; }

  /// The shape of such an input without a file, where the first input has shape `first`.
  [[nodiscard]] Shape index_input_shape(std::size_t input, const Shape& first) const {
    const Shape shape = index_shape(options_, first, operation().reads_destination);
    const bool is_offsets = role_of(operation(), is_ragged(), input, input_count_) == InputRole::offsets;
    return is_offsets ? offsets_shape(shape) : shape;
  }

  /// The number of files of index tensors, which come last.
  [[nodiscard]] std::ptrdiff_t index_count() const {
    return operation().has_indices ? static_cast<std::ptrdiff_t>(input_count_) - 1 : 0;
  }

  [[nodiscard]] Shape filter_shape(const Shape& images) const {
    Shape shape = parse_extents(text("--filter"), "--filter");
    shape.insert(shape.begin(), *options_.outputs);
    shape.push_back(images.empty() ? 1 : images.back());
    return shape;
  }

  [[nodiscard]] Shape shape_of_file(const InputArray& file, bool is_index_tensor) const {
    const auto& shape = file.header().shape;
    if (!options_.shape.empty() && !convolves() && !is_index_tensor &&
        shape != parse_extents(options_.shape, "--shape")) {
      refuse("{} has shape {}, but --shape says {}; leave --shape out", file.path().string(),
             fmt::join(shape, "x"), options_.shape);
    }
    if (shape.size() > tmajit::max_view_rank) {
      refuse("{} has {} dimensions; the most is {}", file.path().string(), shape.size(),
             tmajit::max_view_rank);
    }
    return shape;
  }

  /// Makes an array, dense or with the strides in `text`. Rows that a tensor map will load on a device are
  /// padded.
  Array make_array(ElementType type, std::span<const std::uint64_t> shape, const std::string& text,
                   const std::string& option, std::uint64_t offset, std::string name) {
    if (TensorView::contiguous(ElementType::u8, shape).elements() > std::uint64_t{1} << 48U) {
      refuse("{} has shape {}, more elements than any device holds", name, fmt::join(shape, "x"));
    }
    auto view = TensorView::contiguous(type, shape);
    if (!text.empty()) {
      const auto strides = parse_strides(text, option);
      if (strides.size() != shape.size()) {
        refuse("{} {} has {}, but {} has {}", option, text, counted(strides.size(), "number"), name,
               counted(shape.size(), "dimension"));
      }
      view = TensorView::strided(type, shape, strides);
    } else if (has_mapped_rows() && purpose_ == Purpose::run && view.rank > 1) {
      pad_rows(view, name);
    }
    return {.view = view, .memory = MemorySpan::of(view, offset), .name = std::move(name)};
  }

  /// Spaces rows out to a multiple of 16 bytes (32 where the interleave asks for it).
  void pad_rows(TensorView& view, const std::string& name) {
    const std::uint64_t unit = text("--interleave") == tmajit::name(tmajit::Interleave::b32) ? 32 : 16;
    const std::uint64_t elements = unit / tmajit::size_of(view.type);
    const std::uint64_t row = view.shape[view.rank - 1];
    const std::uint64_t pitch = (row + elements - 1) / elements * elements;
    if (pitch == row || row == 0) return;
    Shape shape(extents(view).begin(), extents(view).end());
    shape.back() = pitch;
    std::ranges::copy(c_order(shape), view.strides.begin());
    problem_.notes.push_back(fmt::format(
        "{}: rows of {} are {} bytes apart on the device, since TMA takes strides of whole {} bytes", name,
        counted(row * tmajit::size_of(view.type), "byte"), pitch * tmajit::size_of(view.type), unit));
  }

  void make_inputs() {
    const auto& strides = options_.strides;
    if (strides.size() > 1 && strides.size() != input_count_) {
      refuse(
          "--strides is given {} times; legal is once{}", strides.size(),
          input_count_ == 1 ? "" : fmt::format(" for all inputs, or once for each of the {}", input_count_));
    }
    for (std::size_t i = 0; i < input_count_; ++i) {
      if (i == 0 && before_ != nullptr) {
        add_result();
        continue;
      }
      problem_.inputs.push_back(make_array(
          types_.inputs[i], shape_of(i), strides.empty() ? "" : strides[strides.size() == 1 ? 0 : i],
          "--strides", options_.offset, input_count_ == 1 ? "input" : fmt::format("input {}", i)));
      if (purpose_ == Purpose::run && !problem_.files.empty()) require_distinct_addresses(i);
    }
  }

  /// Adds the result of the operation before as the first input.
  void add_result() {
    const Array& result = before_->outputs.front();
    const auto shape = shape_of(0);
    if (types_.inputs.front() != result.view.type || !std::ranges::equal(shape, extents(result.view))) {
      refuse("{} would read {} of shape {}, but the result of {} is {}", problem_.word,
             tmajit::name(types_.inputs.front()), fmt::join(shape, "x"), before_->word,
             tmajit::describe(result.view));
    }
    problem_.inputs.push_back(
        {.view = result.view, .memory = result.memory, .name = "result of " + before_->word});
  }

  /// Refuses strides that give different elements of a file one address: only one of them could be kept.
  void require_distinct_addresses(std::size_t input) const {
    const auto& [view, memory, name] = problem_.inputs[input];
    const auto& file = problem_.files[input];
    const auto lost = first_lost_element(memory, view, file.data(), file.layout());
    if (lost.empty()) return;
    refuse(
        "{}: with --strides {} several elements have one address, and element [{}] differs from another "
        "element there; legal are strides that keep them apart, or that repeat equal elements",
        file.path().string(), fmt::join(strides(view), ","), fmt::join(lost, ", "));
  }

  void append_argument(std::string_view option, std::string_view text) {
    auto& all = problem_.arguments;
    all += fmt::format("{}{} {}", all.empty() ? "" : " ", option, text);
  }

  /// Throws if a value of the operation's arguments cannot be parsed.
  void check_values() const {
    for (const auto& argument : operation().arguments) {
      if (const auto& given = text(argument.option); !given.empty())
        (void)tmajit::parse_argument(argument, given, argument.option);
    }
  }

  /// Reads the options of views that do not depend on an input's dimensions.
  void read_ranges() {
    const auto value_of = [&](std::string_view name) {
      const auto& argument = tmajit::find_operation(name).arguments.front();
      return tmajit::parse_argument(argument, text(argument.option), argument.option);
    };
    if (!text("--slice").empty())
      problem_.views.slices = std::get<std::vector<tmajit::Slice>>(value_of("slice"));
    if (!text("--broadcast").empty())
      problem_.views.shape = parse_extents(text("--broadcast"), "--broadcast");
  }

  void read_numbers() {
    std::vector<TensorView> tensors;
    for (const auto& input : problem_.inputs) tensors.push_back(input.view);
    for (const auto& text : options_.numbers) {
      const auto value = parse_number(text);
      problem_.numbers.push_back(tmajit::number(value, tmajit::number_type(value, tensors)));
      append_argument("--number", text);
    }
  }

  void read_views() {
    auto& views = problem_.views;
    if (problem_.inputs.empty()) {
      for (const auto& [option, given] : options_.arguments) {
        if (!given.empty() && problem_.request.asks_for_view(option))
          refuse("{} changes the view of inputs, but this {} has no input; leave it out", option,
                 problem_.word);
      }
      return;
    }
    const auto rank = problem_.inputs.front().view.rank;
    const auto axes_of = [&](std::string_view option) {
      return tmajit::resolve_axes(tmajit::parse_numbers(text(option), option), rank, option);
    };
    if (!text("--slice").empty()) append_argument("--slice", tmajit::text_of(views.slices));
    if (!text("--flip").empty()) {
      views.flips = axes_of("--flip");
      append_argument("--flip", fmt::to_string(fmt::join(views.flips, ",")));
    }
    if (!text("--axes").empty() && problem_.request.asks_for_view("--axes")) {
      views.axes = axes_of("--axes");
      if (views.axes.size() != rank) {
        refuse("--axes {} names {}, but the input has {}; legal is each of 0 to {} once", text("--axes"),
               counted(views.axes.size(), "dimension"), rank, rank - 1);
      }
      append_argument("--axes", fmt::to_string(fmt::join(views.axes, ",")));
    }
    if (views.shape) append_argument("--broadcast", fmt::to_string(fmt::join(*views.shape, "x")));
  }

  /// Reads the operation's arguments.
  void read_arguments() {
    const auto& request = problem_.request;
    problem_.operation_name = operation().name;
    if (request.moves_views()) problem_.operation_name = text("--pad").empty() ? "copy" : "pad";
    const auto take = [&](const tmajit::Argument& argument) {
      const std::string& given = text(argument.option);
      if (given.empty()) return;
      const auto value = tmajit::parse_argument(argument, given, argument.option);
      problem_.given.set(argument.name, value);
      const bool quoted = argument.type == tmajit::ArgumentType::text;
      append_argument(argument.option, quoted ? fmt::format("'{}'", given) : tmajit::text_of(value));
    };
    for (const auto& argument : tmajit::find_operation(problem_.operation_name).arguments) take(argument);
    if (is(tmajit::Tiles::operation)) problem_.given.set("family", std::string(request.family->name));
    if (parts_are_inputs()) append_argument("--parts", text("--parts"));
  }

  /// Checks that the file of --into, the output's initial content, has the output's type and shape.
  void check_into() const {
    const auto& file = *problem_.into;
    const auto& output = problem_.outputs.front();
    file.check(output.view.type);
    if (!std::ranges::equal(file.header().shape, extents(output.view))) {
      refuse("--into {} has shape {}, but the output {}; both must be the same", file.path().string(),
             fmt::join(file.header().shape, "x"), fmt::join(extents(output.view), "x"));
    }
  }

  void add_output(ElementType type, std::span<const std::uint64_t> shape, std::string name) {
    problem_.outputs.push_back(
        make_array(type, shape, options_.out_strides, "--out-strides", options_.out_offset, std::move(name)));
  }

  [[nodiscard]] std::vector<TensorView> source_views() const {
    std::vector<TensorView> sources;
    for (std::size_t i = 0; i < problem_.inputs.size(); ++i) {
      const auto& view = problem_.inputs[i].view;
      sources.push_back(is_index(i) ? view : problem_.views.of(view).view);
    }
    for (const auto& number : problem_.numbers) sources.push_back(number.view);
    return sources;
  }

  void make_outputs() {
    if (input_count_ == 0) return add_output(types_.output, shape_of(0), "output");
    if (writes_images() && !options_.out_strides.empty())
      refuse("{} writes plain bytes and takes no --out-strides", problem_.word);
    auto views = tmajit::destinations_of(problem_.operation_name, source_views(), problem_.given);
    // The indices do not say how many elements the output of a scatter has.
    if (operation().has_indices && problem_.into) {
      auto& view = views.front();
      view = TensorView::contiguous(view.type, problem_.into->header().shape);
    }
    for (std::size_t i = 0; i < views.size(); ++i) {
      add_output(types_.is_default || writes_images() ? views[i].type : types_.output, extents(views[i]),
                 views.size() == 1 ? "output" : fmt::format("output {}", i));
    }
  }

  /// Marks outputs as NumPy's booleans if all inputs are, only bits are moved and no option names a type.
  void keep_booleans() {
    const bool moves = moves_bits();
    const auto is_boolean = [](const InputArray& file) { return file.header().kind == 'b'; };
    const bool from_booleans =
        before_ != nullptr
            ? before_->outputs_are_booleans && input_count_ == 1
            : !problem_.files.empty() &&
                  std::all_of(problem_.files.begin(), problem_.files.end() - index_count(), is_boolean);
    problem_.outputs_are_booleans =
        moves && options_.dtypes.empty() && options_.out_dtype.empty() && from_booleans;
    const double pad_value = problem_.given.number("value");
    if (problem_.outputs_are_booleans && pad_value != 0 && pad_value != 1)
      refuse("--pad-value {}: the elements are booleans; legal are 0 and 1", pad_value);
  }

  const ProblemOptions& options_;
  Purpose purpose_;
  const Problem* before_;  ///< its first output is the first input; null: there is none
  std::size_t input_count_ = 1;
  OperandTypes types_;
  std::vector<TensorView> recipe_;  ///< inputs of a recipe without files
  Problem problem_;
};

}  // namespace

Problem make_problem(const ProblemOptions& options, Purpose purpose, const Problem* before) {
  return Builder(options, purpose, before).build();
}

}  // namespace jitc
