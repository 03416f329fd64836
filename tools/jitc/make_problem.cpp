#include "memory_image.hpp"
#include "operand_types.hpp"
#include "parse.hpp"
#include "problem.hpp"
#include "read_windows.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;
using tmajit::Tensor;
using tmajit::TensorView;

/// Builds one problem, step by step; each step uses what the ones before found out.
class Builder {
 public:
  Builder(const ProblemOptions& options, Purpose purpose) : options_(options), purpose_(purpose) {
    problem_.word = options.word;
    problem_.request = read_request(options);
  }

  Problem build() {
    check_options();
    // What can be read without the inputs comes first, so that a word that is wrong is not hidden by a file
    // that is not there.
    const auto named = read_types(options_);
    read_tile();
    read_ranges();
    for (const auto& path : options_.in) problem_.files.emplace_back(path);
    count_inputs();
    types_ = choose_types(named, problem_.files, count_);
    make_inputs();
    read_views();
    require_same_bits();
    if (reduces()) read_reduction();
    if (combines()) {
      problem_.given.combine = tmajit::parse_combine(options_.op);
      note("--op", options_.op);
    }
    if (windows()) {
      problem_.given.windows = read_windows(options_, operation(), problem_.inputs);
      problem_.arguments += windows_text(options_, problem_.arguments);
    }
    if (computes() && !options_.expression.empty()) {
      problem_.given.expression = options_.expression;
      note("--expr", fmt::format("'{}'", options_.expression));
      if (neighbours()) read_stencil();
    }
    if (has_tile()) {
      make_tile_output();
    } else {
      make_outputs();
    }
    if (!options_.into.empty()) read_into();
    keep_booleans();
    return std::move(problem_);
  }

 private:
  [[nodiscard]] bool has_tile() const { return problem_.request.has_tile; }
  [[nodiscard]] const OperationWord& operation() const { return *problem_.request.operation; }
  [[nodiscard]] bool computes() const {
    return has_tile() ? problem_.request.family->computes : operation().computes;
  }
  [[nodiscard]] bool neighbours() const { return !has_tile() && operation().neighbours; }
  [[nodiscard]] bool reduces() const { return !has_tile() && operation().reduces; }
  [[nodiscard]] bool combines() const {
    return has_tile() ? problem_.request.family->combines : operation().combines;
  }
  [[nodiscard]] bool windows() const { return !has_tile() && operation().windows; }
  [[nodiscard]] bool convolves() const { return !has_tile() && operation().convolves; }
  /// Whether the kernel sees arrays as one row, and whether it writes images of tiles.
  [[nodiscard]] bool is_flat() const { return has_tile() && problem_.request.family->flat; }
  [[nodiscard]] bool writes_images() const { return has_tile() && problem_.request.family->writes_images; }

  /// Options that the operation cannot do without, and those that it cannot do with.
  void check_options() const {
    const auto& word = problem_.word;
    if (computes() && !reduces() && options_.expression.empty()) {
      refuse("{} needs --expr, what it computes: --expr 'x*2+1', or --expr x to change nothing", word);
    }
    if (!computes() && !options_.expression.empty()) {
      refuse("{} computes nothing and takes no --expr; map and bulk do", word);
    }
    const auto takes_no = [&](bool wrong, std::string_view option, std::string_view reason) {
      if (wrong) refuse("{} takes no {}; {}", word, option, reason);
    };
    takes_no(!reduces() && !combines() && !options_.op.empty(), "--op", "reduce and reduce_into do");
    takes_no(!combines() && !options_.into.empty(), "--into", "reduce_into does");
    if (combines() && options_.op.empty())
      refuse("{} needs --op, what becomes of the output's and the input's elements: --op add", word);
    takes_no(!reduces() && !options_.then.empty(), "--then", "reduce does");
    takes_no(!neighbours() && !options_.boundary.empty(), "--boundary", "stencil does");
    takes_no(!neighbours() && !options_.dims.empty(), "--dims", "stencil does");
    check_window_options(options_, has_tile() ? nullptr : &operation());
    takes_no(options_.boundary != "constant" && options_.boundary_value != 0,
             "--boundary-value without --boundary constant", "no element has it");
    if (has_tile()) return;
    for (const auto& [option, text] : operation().needs) {
      if (option != nullptr && (options_.*option).empty()) refuse("{} needs {}", word, text);
    }
    const bool has_axis = operation().has_axis;
    const bool has_parts = has_axis || operation().batches;
    takes_no(!has_parts && !options_.axis.empty(), "--axis",
             "concat, split and copy_ragged do; --axes permutes");
    takes_no(!has_parts && !options_.parts.empty(), "--parts", "concat, split and copy_ragged do");
    if (operation().batches && options_.axis.empty() != options_.parts.empty())
      refuse("{} takes --axis and --parts together: --axis 0 --parts 100,37,5", word);
    takes_no(!operation().pads && !windows() && !options_.pad.empty(), "--pad",
             "only bits of one input can be padded: pad first");
    takes_no(options_.pad.empty() && options_.pad_value != 0, "--pad-value without --pad",
             "nothing is filled");
  }

  /// concat's inputs without files.
  [[nodiscard]] bool parts_are_inputs() const {
    return !has_tile() && (operation().word == "concat" || operation().batches) && !options_.parts.empty();
  }

  /// An expression of coordinates alone needs no input, where the family takes none.
  [[nodiscard]] std::uint32_t least_inputs() const {
    const auto* const family = problem_.request.family;
    const bool may_have_none =
        family == nullptr ? computes() && !neighbours() && !reduces() : family->most_inputs == 0;
    return may_have_none ? 0 : convolves() ? 2 : 1;
  }

  void count_inputs() {
    const auto least = least_inputs();
    const auto read = std::max(computes() ? inputs_of(options_.expression) : 1, least);
    if (parts_are_inputs()) {
      if (!problem_.files.empty())
        refuse("--parts says how long {}'s inputs are, but the files say that already", problem_.word);
      count_ = parse_extents(options_.parts, "--parts").size();
    } else if (!problem_.files.empty()) {
      count_ = problem_.files.size();
    } else if (options_.inputs) {
      count_ = *options_.inputs;
    } else {
      count_ = !has_tile() && operation().word == "concat" ? 2 : read;
    }
    if (options_.inputs && *options_.inputs != count_) {
      refuse("--inputs {}, but {} given with {}", *options_.inputs,
             count_ == 1 ? "1 is" : fmt::format("{} are", count_),
             problem_.files.empty() ? "--parts" : "--in");
    }
    const auto* const family = problem_.request.family;
    const auto most =
        family != nullptr && (has_tile() || computes()) ? family->most_inputs : operation().most_inputs;
    if (count_ > most) {
      if (most == 0) {
        refuse("{} computes from coordinates alone and takes no input, but {} are given; map takes them",
               problem_.word, count_);
      }
      refuse(most == 1 ? fmt::format("{} takes one input, but {} are given; map and concat take several",
                                     problem_.word, count_)
                       : fmt::format("{} inputs; the most is {}", count_, most));
    }
    if (count_ < least) refuse("--inputs 0: {} needs an input", problem_.word);
    if (read > count_) {
      if (count_ == 0) refuse("--inputs 0, but --expr reads x{}: legal is {} or more", read - 1, read);
      refuse("--expr reads x{}, but there {} only {}; the last is x{}", read - 1, count_ == 1 ? "is" : "are",
             counted(count_, "input"), count_ - 1);
    }
  }

  void read_tile() {
    auto& [box, element_strides, tile] = problem_.tile;
    if (!options_.box.empty()) box = parse_box(options_.box, "--box");
    if (!options_.element_strides.empty())
      element_strides = parse_box(options_.element_strides, "--element-strides");
    if (!options_.swizzle.empty()) tile.swizzle = tmajit::parse_swizzle(options_.swizzle);
    if (!options_.interleave.empty()) tile.interleave = tmajit::parse_interleave(options_.interleave);
    if (!options_.oob.empty()) tile.oob_fill = tmajit::parse_oob_fill(options_.oob);
    tile.l2_promotion = tmajit::parse_l2_promotion(options_.l2.empty() ? "256B" : options_.l2);
    if (!options_.l2.empty() && !has_tile())
      refuse("--l2 is for loads of tiles of your choice: give the tile, too, as in --box 32x64");
    tile.stages = options_.stages.value_or(0);
    tile.output_stages = options_.output_stages.value_or(0);
    tile.warps = options_.warps.value_or(0);
    tile.ctas_per_sm = options_.ctas_per_sm.value_or(0);
    tile.tiles_per_cta = options_.tiles_per_cta;
  }

  [[nodiscard]] Shape shape_of(std::size_t input) const {
    if (!problem_.files.empty()) return shape_of_file(problem_.files[input]);
    if (options_.shape.empty()) {
      if (purpose_ == Purpose::run) {
        refuse("{} needs its inputs: --in a.npy, or --shape 4096x4096 for made-up elements", problem_.word);
      }
      const auto& box = problem_.tile.box;
      if (box.empty() || is_flat()) return {4096, 4096};
      return {box.begin(), box.end()};
    }
    auto shape = parse_extents(options_.shape, "--shape");
    if (convolves() && input == 1) return filter_shape(options_, shape);
    if (parts_are_inputs()) {
      shape[parse_axes(options_.axis, static_cast<std::uint32_t>(shape.size()), "--axis").front()] =
          parse_extents(options_.parts, "--parts")[input];
    }
    return shape;
  }

  [[nodiscard]] Shape shape_of_file(const InputArray& file) const {
    const auto& shape = file.header().shape;
    if (!options_.shape.empty() && !convolves() && shape != parse_extents(options_.shape, "--shape")) {
      refuse("{} has shape {}, but --shape says {}; leave --shape out", file.path().string(),
             fmt::join(shape, "x"), options_.shape);
    }
    if (shape.size() > tmajit::max_view_rank) {
      refuse("{} has {} dimensions; the most is {}", file.path().string(), shape.size(),
             tmajit::max_view_rank);
    }
    return shape;
  }

  /// Dense, or with the strides that `text` gives; rows padded to what TMA needs where that is asked for.
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
    } else if (has_tile() && purpose_ == Purpose::run && view.rank > 1 && !is_flat()) {
      pad_rows(view, name);
    }
    return {.view = view, .memory = MemorySpan::of(view, offset), .name = std::move(name)};
  }

  /// Spaces rows out to a multiple of 16 bytes (32 where the interleave asks for it).
  void pad_rows(TensorView& view, const std::string& name) {
    const std::uint64_t unit = problem_.tile.options.interleave == tmajit::Interleave::b32 ? 32 : 16;
    const std::uint64_t elements = unit / tmajit::size_of(view.type);
    const std::uint64_t row = view.shape[view.rank - 1];
    const std::uint64_t pitch = (row + elements - 1) / elements * elements;
    if (pitch == row || row == 0) return;
    Shape shape(extents(view).begin(), extents(view).end());
    shape.back() = pitch;
    std::ranges::copy(c_order(shape), view.strides.begin());
    problem_.notes.push_back(fmt::format(
        "{}: rows of {} bytes are {} bytes apart on the device, since TMA takes strides of whole {} bytes",
        name, row * tmajit::size_of(view.type), pitch * tmajit::size_of(view.type), unit));
  }

  void make_inputs() {
    const auto& strides = options_.strides;
    if (strides.size() > 1 && strides.size() != count_) {
      refuse("--strides is given {} times; legal is once for all inputs, or once for each of the {}",
             strides.size(), count_);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      problem_.inputs.push_back(make_array(
          types_.inputs[i], shape_of(i), strides.empty() ? "" : strides[strides.size() == 1 ? 0 : i],
          "--strides", options_.offset, count_ == 1 ? "input" : fmt::format("input {}", i)));
      if (purpose_ == Purpose::run && !problem_.files.empty()) require_room(i);
    }
  }

  /// Elements of a file that share an address must be equal: of others all but one would be lost.
  void require_room(std::size_t input) const {
    const auto& [view, memory, name] = problem_.inputs[input];
    const auto& file = problem_.files[input];
    const auto lost = first_lost_element(memory, view, file.data(), file.layout());
    if (lost.empty()) return;
    refuse(
        "{}: with --strides {} several elements lie at one address, and element [{}] differs from another "
        "one "
        "there; legal are strides that keep them apart, or that repeat equal elements",
        file.path().string(), fmt::join(strides(view), ","), fmt::join(lost, ", "));
  }

  void note(std::string_view option, std::string_view text) {
    auto& all = problem_.arguments;
    all += fmt::format("{}{} {}", all.empty() ? "" : " ", option, text);
  }

  /// The views that need not know an input's dimensions.
  void read_ranges() {
    if (!options_.slice.empty()) problem_.views.slices = parse_slices(options_.slice);
    if (!options_.broadcast.empty()) problem_.views.shape = parse_extents(options_.broadcast, "--broadcast");
  }

  void read_views() {
    auto& views = problem_.views;
    if (problem_.inputs.empty()) {
      const auto option = options_.view_option();
      if (!option.empty()) refuse("{} shows inputs otherwise, but this {} has none", option, problem_.word);
      return;
    }
    const auto rank = problem_.inputs.front().view.rank;
    if (!options_.slice.empty()) note("--slice", format(views.slices));
    if (!options_.flip.empty()) {
      views.flips = parse_axes(options_.flip, rank, "--flip");
      note("--flip", fmt::to_string(fmt::join(views.flips, ",")));
    }
    if (!options_.axes.empty() && !reduces()) {
      views.axes = parse_axes(options_.axes, rank, "--axes");
      if (views.axes.size() != rank) {
        refuse("--axes {} names {}, but the input has {}; legal is each of 0 to {} once", options_.axes,
               counted(views.axes.size(), "dimension"), rank, rank - 1);
      }
      note("--axes", fmt::to_string(fmt::join(views.axes, ",")));
    }
    if (views.shape) note("--broadcast", fmt::to_string(fmt::join(*views.shape, "x")));
  }

  void read_reduction() {
    const std::uint32_t rank = problem_.views.of(problem_.inputs.front().view).view.rank;
    std::vector<std::uint32_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0U);
    if (!options_.axes.empty()) axes = parse_axes(options_.axes, rank, "--axes");
    const auto op = tmajit::parse_reduction(options_.op);
    problem_.given.reduction = {
        .op = op, .axes = axes, .expression = options_.expression, .then = options_.then};
    note("--op", options_.op);
    note("--axes", fmt::to_string(fmt::join(axes, ",")));
    if (!options_.then.empty()) note("--then", fmt::format("'{}'", options_.then));
    if (!types_.is_default) return;
    using enum tmajit::ReductionOp;
    if (op == arg_min || op == arg_max) types_.output = ElementType::i64;
    if (op == any || op == all) types_.output = ElementType::u8;
  }

  /// The file that the output begins with: elements of its type, in its shape.
  void read_into() {
    const auto& file = problem_.into.emplace(options_.into);
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

  /// The output of a kernel whose tile the caller chooses.
  void make_tile_output() {
    if (writes_images() && !options_.out_strides.empty())
      refuse("{} writes plain bytes and takes no --out-strides", problem_.word);
    if (is_flat()) return add_output(types_.output, extents(problem_.inputs.front().view), "output");
    auto request = problem_.tile_request(problem_.unplaced(), {});
    request.destination.view.type = types_.output;
    const auto view = tmajit::destination_view(request);
    add_output(view.type, extents(view), "output");
  }

  void make_outputs() {
    if (count_ == 0) return add_output(types_.output, shape_of(0), "output");
    std::vector<Tensor> sources;
    for (const auto& input : problem_.inputs) sources.push_back(problem_.views.of(input.view));
    if (operation().has_axis) read_axis(sources.front().view.rank);
    if (!options_.pad.empty() && !windows()) read_padding(sources.front().view);
    const auto shapes = operation().shapes(sources, problem_.given);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      add_output(types_.output, shapes[i], shapes.size() == 1 ? "output" : fmt::format("output {}", i));
    }
  }

  /// Whether the outputs' elements are the inputs' as they are: kernels with a tile have rules of their own.
  [[nodiscard]] bool keeps_bits() const {
    return !has_tile() && !computes() && !combines() && operation().word != "cast";
  }

  /// What moves bits makes no element of one type from one of another.
  void require_same_bits() const {
    if (!keeps_bits()) return;
    const auto to = types_.output;
    for (const auto from : types_.inputs) {
      if (from != types_.inputs.front()) {
        refuse("{} moves bits, but inputs have the types {} and {}; cast converts values", problem_.word,
               tmajit::name(types_.inputs.front()), tmajit::name(from));
      }
      if (tmajit::size_of(from) != tmajit::size_of(to)) {
        refuse("{} moves bits, but {} elements have {} and {} elements {}; cast converts values",
               problem_.word, tmajit::name(from), counted(tmajit::size_of(from), "byte"), tmajit::name(to),
               tmajit::size_of(to));
      }
      if (!options_.pad.empty() && from != to) {
        refuse("--pad adds elements of the output's type, {}, to bits of {}; cast converts values",
               tmajit::name(to), tmajit::name(from));
      }
    }
  }

  /// Where no option names a type, bits of NumPy's booleans stay booleans.
  void keep_booleans() {
    const bool moves = keeps_bits() || (has_tile() && !computes() && !combines() && !writes_images());
    const auto is_boolean = [](const InputArray& file) { return file.header().kind == 'b'; };
    problem_.outputs_are_booleans = moves && options_.dtypes.empty() && options_.out_dtype.empty() &&
                                    !problem_.files.empty() &&
                                    std::ranges::all_of(problem_.files, is_boolean);
    if (problem_.outputs_are_booleans && options_.pad_value != 0 && options_.pad_value != 1) {
      refuse("--pad-value {}: the elements are booleans; legal are 0 and 1", options_.pad_value);
    }
  }

  void read_stencil() {
    tmajit::Stencil& stencil = problem_.given.stencil;
    if (!options_.boundary.empty()) {
      stencil.boundary = tmajit::parse_boundary(options_.boundary);
      note("--boundary", options_.boundary);
    }
    if (options_.boundary_value != 0) note("--boundary-value", fmt::to_string(options_.boundary_value));
    stencil.value = options_.boundary_value;
    if (options_.dims.empty()) return;
    stencil.dims = parse_strides(options_.dims, "--dims");
    note("--dims", options_.dims);
  }

  void read_axis(std::uint32_t rank) {
    const auto axes = parse_axes(options_.axis, rank, "--axis");
    if (axes.size() != 1) refuse("--axis {}: legal is one dimension", options_.axis);
    problem_.given.axis = axes.front();
    note("--axis", options_.axis);
    if (operation().word != "split") return;
    problem_.given.parts = parse_extents(options_.parts, "--parts");
    note("--parts", fmt::to_string(fmt::join(problem_.given.parts, ",")));
  }

  void read_padding(const TensorView& view) {
    const auto widths = parse_padding(options_.pad);
    if (widths.before.size() != view.rank) {
      refuse("--pad {} is for {}, but there are {}", options_.pad, counted(widths.before.size(), "dimension"),
             view.rank);
    }
    for (std::size_t d = 0; d < view.rank; ++d) {
      constexpr std::int64_t most = std::int64_t{1} << 48U;
      const auto [least, greatest] = std::minmax({widths.before[d], widths.after[d]});
      if (least < -most || greatest > most) refuse("--pad {}: a number is out of range", options_.pad);
      const std::int64_t added = widths.before[d] + widths.after[d];
      if (static_cast<std::int64_t>(view.shape[d]) + added < 0) {
        refuse("--pad {} crops {} elements of dimension {}, which has {}", options_.pad, -added, d,
               view.shape[d]);
      }
    }
    problem_.given.padding = tmajit::Padding{.before = widths.before, .value = options_.pad_value};
    problem_.given.pad_after = widths.after;
    note("--pad", format(widths));
    if (options_.pad_value != 0) note("--pad-value", fmt::to_string(options_.pad_value));
  }

  const ProblemOptions& options_;
  Purpose purpose_;
  std::size_t count_ = 1;
  OperandTypes types_;
  Problem problem_;
};

}  // namespace

Problem make_problem(const ProblemOptions& options, Purpose purpose) {
  return Builder(options, purpose).build();
}

}  // namespace jitc
