#include "problem.hpp"

#include "operand_types.hpp"
#include "parse.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <set>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;
using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::Family;
using tmajit::TensorView;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}
std::vector<std::uint64_t> to_vector(const TensorView& view) {
  return {extents(view).begin(), extents(view).end()};
}

/// Builds one problem, step by step; each step uses what the ones before found out.
class Builder {
 public:
  Builder(const KernelOptions& options, Padding padding)
      : options_(options), padding_(padding), family_(tmajit::parse_family(options.family)) {}

  Problem build() {
    check_expression();
    for (const auto& path : options_.in) problem_.files.emplace_back(path);
    count_inputs();
    read_tiles();
    choose_types();
    make_inputs();
    make_output();
    problem_.output_shape = family_ == Family::bulk && !problem_.files.empty()
                                ? problem_.files.front().header().shape
                                : to_vector(problem_.output());
    return std::move(problem_);
  }

 private:
  [[nodiscard]] bool computes() const { return family_ == Family::map || family_ == Family::bulk; }

  void check_expression() const {
    const auto name = tmajit::name(family_);
    if (computes() && options_.expression.empty()) {
      refuse(fmt::format("{} needs --expr, what it computes: --expr 'x*2+1', or --expr x to change nothing",
                         name));
    }
    if (!computes() && !options_.expression.empty()) {
      refuse(fmt::format("{} computes nothing and takes no --expr; map and bulk do", name));
    }
  }

  void count_inputs() {
    const auto read = family_ == Family::map ? inputs_of(options_.expression) : 1U;
    count_ = !problem_.files.empty() ? problem_.files.size() : options_.inputs != 0 ? options_.inputs : read;
    if (options_.inputs != 0 && options_.inputs != count_) {
      refuse(fmt::format("--inputs {}, but {} files are given with --in", options_.inputs, count_));
    }
    if (count_ > tmajit::max_inputs) {
      refuse(fmt::format("{} inputs; the most is {}", count_, tmajit::max_inputs));
    }
    if (family_ != Family::map && count_ != 1) {
      refuse(fmt::format("{} takes one input, but {} are given; map takes up to {}", tmajit::name(family_),
                         count_, tmajit::max_inputs));
    }
    if (read > count_) {
      refuse(fmt::format("--expr reads x{}, but there {} only {} input{}; the last is x{}", read - 1,
                         count_ == 1 ? "is" : "are", count_, count_ == 1 ? "" : "s", count_ - 1));
    }
  }

  void read_tiles() {
    if (!options_.box.empty()) box_ = parse_box(options_.box, "--box");
    if (!options_.element_strides.empty()) {
      element_strides_ = parse_box(options_.element_strides, "--element-strides");
    }
    tiles_ = {.box = box_,
              .element_strides = element_strides_,
              .swizzle = tmajit::parse_swizzle(options_.swizzle),
              .interleave = tmajit::parse_interleave(options_.interleave),
              .stages = options_.stages,
              .output_stages = options_.output_stages,
              .warps = options_.warps,
              .ctas_per_sm = options_.ctas_per_sm,
              .tiles_per_cta = options_.tiles_per_cta};
    problem_.l2 = tmajit::parse_l2_promotion(options_.l2);
    problem_.oob = tmajit::parse_oob_fill(options_.oob);
  }

  void choose_types() {
    auto types = jitc::choose_types(options_, problem_.files, count_);
    types_ = std::move(types.inputs);
    // What a snapshot writes is not up to the user.
    out_type_ = family_ == Family::snapshot ? ElementType::u8 : types.output;
  }

  /// A bulk kernel knows one dimension only: dense arrays are one long row to it.
  [[nodiscard]] std::vector<std::uint64_t> flattened(std::vector<std::uint64_t> shape) const {
    if (family_ != Family::bulk || shape.size() == 1) return shape;
    return {TensorView::contiguous(ElementType::u8, shape).elements()};
  }

  [[nodiscard]] std::vector<std::uint64_t> shape_of(std::size_t input) const {
    if (!problem_.files.empty()) {
      const auto& shape = problem_.files[input].header().shape;
      if (!options_.shape.empty() && shape != parse_extents(options_.shape, "--shape")) {
        refuse(fmt::format("{} has shape {}, but --shape says {}; leave --shape out",
                           problem_.files[input].path().string(), fmt::join(shape, "x"), options_.shape));
      }
      return flattened(shape);
    }
    if (!options_.shape.empty()) return flattened(parse_extents(options_.shape, "--shape"));
    if (!box_.empty() && family_ != Family::bulk) return {box_.begin(), box_.end()};
    return flattened({4096, 4096});
  }

  /// The strides that `text` gives, or dense ones; rows padded to what TMA needs where that is asked for.
  TensorView make_view(ElementType type, std::span<const std::uint64_t> shape, const std::string& text,
                       const std::string& option, const std::string& name) {
    if (shape.size() > tmajit::max_view_rank) {
      refuse(
          fmt::format("{} has {} dimensions; TMA takes 1 to {}", name, shape.size(), tmajit::max_map_rank));
    }
    if (!text.empty()) {
      const auto strides = parse_strides(text, option);
      if (strides.size() != shape.size()) {
        refuse(fmt::format("{} {} has {} numbers, but {} has {} dimensions", option, text, strides.size(),
                           name, shape.size()));
      }
      return TensorView::strided(type, shape, strides);
    }
    auto view = TensorView::contiguous(type, shape);
    if (padding_ == Padding::where_needed && family_ != Family::bulk && view.rank > 1) pad(view, name);
    return view;
  }

  /// Spaces rows out to a multiple of 16 bytes (32 where the interleave asks for it).
  void pad(TensorView& view, const std::string& name) {
    const std::uint64_t unit = tiles_.interleave == tmajit::Interleave::b32 ? 32 : 16;
    const std::uint64_t elements = unit / tmajit::size_of(view.type);
    const std::uint64_t row = view.shape[view.rank - 1];
    const std::uint64_t pitch = (row + elements - 1) / elements * elements;
    if (pitch == row || row == 0) return;
    auto shape = to_vector(view);
    shape.back() = pitch;
    const auto strides = c_order(shape);
    std::copy(strides.begin(), strides.end(), view.strides.begin());
    problem_.notes.push_back(fmt::format(
        "{}: rows of {} bytes are {} bytes apart on the device, since TMA takes strides of whole {} bytes",
        name, row * tmajit::size_of(view.type), pitch * tmajit::size_of(view.type), unit));
  }

  void make_inputs() {
    const auto& strides = options_.strides;
    if (strides.size() > 1 && strides.size() != count_) {
      refuse(
          fmt::format("--strides is given {} times; legal is once for all inputs, or once for each of the {}",
                      strides.size(), count_));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const std::string text = strides.empty() ? "" : strides[strides.size() == 1 ? 0 : i];
      problem_.views.push_back(make_view(types_[i], shape_of(i), text, "--strides",
                                         count_ == 1 ? "input" : fmt::format("input {}", i)));
    }
  }

  void make_output() {
    const TensorView& first = problem_.views.front();
    if (family_ == Family::bulk) {
      problem_.spec = tmajit::bulk_spec(options_.expression, types_.front(), out_type_, tiles_);
      problem_.views.push_back(
          make_view(out_type_, extents(first), options_.out_strides, "--out-strides", "output"));
      return;
    }
    if (family_ == Family::snapshot) {
      if (!options_.out_strides.empty()) refuse("snapshot writes plain bytes and takes no --out-strides");
      problem_.spec = tmajit::snapshot_spec(first, tiles_);
      problem_.views.push_back(tmajit::output_view(problem_.spec, first));
      return;
    }
    auto shape = to_vector(first);
    for (std::size_t d = 0; d < std::min(shape.size(), element_strides_.size()); ++d) {
      const std::uint64_t stride = std::max(element_strides_[d], 1U);
      shape[d] = shape[d] / stride + (shape[d] % stride != 0 ? 1 : 0);
    }
    const auto output = make_view(out_type_, shape, options_.out_strides, "--out-strides", "output");
    problem_.spec = family_ == Family::copy
                        ? tmajit::copy_spec(first, output, tiles_)
                        : tmajit::map_spec(options_.expression, problem_.views, output, tiles_);
    problem_.views.push_back(output);
  }

  const KernelOptions& options_;
  Padding padding_;
  Family family_;
  std::size_t count_ = 1;
  std::vector<std::uint32_t> box_;
  std::vector<std::uint32_t> element_strides_;
  tmajit::TileOptions tiles_;
  std::vector<ElementType> types_;
  ElementType out_type_ = ElementType::f32;
  Problem problem_;
};

}  // namespace

Problem make_problem(const KernelOptions& options, Padding padding) {
  return Builder(options, padding).build();
}

std::string operand_name(const Problem& problem, std::size_t index) {
  if (index == problem.spec.inputs) return "output";
  return problem.spec.inputs == 1 ? "input" : fmt::format("input {}", index);
}

std::vector<tmajit::Violation> violations(const Problem& problem) {
  auto broken = tmajit::validate(problem.spec, problem.views);
  if (problem.spec.family == Family::bulk) return broken;
  // The views' rules are checked with the default promotion and fill; what others break is found by
  // difference.
  const std::size_t maps = problem.spec.family == Family::snapshot ? 1 : problem.views.size();
  for (std::uint32_t i = 0; i < maps; ++i) {
    const auto& view = problem.views[i];
    if (view.rank != problem.spec.rank) continue;
    std::set<std::string> known;
    for (const auto& violation : tmajit::validate(tmajit::tensor_map(problem.spec, i, view))) {
      known.insert(violation.rule);
    }
    // A store reads nothing out of bounds.
    const auto oob = i < problem.spec.inputs ? problem.oob : tmajit::OobFill::zero;
    for (auto& violation : tmajit::validate(tmajit::tensor_map(problem.spec, i, view, problem.l2, oob))) {
      if (known.count(violation.rule) != 0) continue;
      violation.subject = fmt::format("{}: {}", operand_name(problem, i), violation.subject);
      broken.push_back(std::move(violation));
    }
  }
  return broken;
}

void require_legal(const Problem& problem) {
  if (auto broken = violations(problem); !broken.empty()) throw tmajit::SpecError(std::move(broken));
}

}  // namespace jitc
