#include "plan/move_kernel.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t most_shared = 96 * 1024;  // of images: two CTAs an SM
constexpr std::uint32_t most_images = 2;          // each makes the tile longer in its dimension
constexpr std::int64_t longest_stride = 4;        // of a run whose words are all loaded

std::uint32_t clamp_to(std::uint64_t extent, std::uint64_t most) {
  return static_cast<std::uint32_t>(std::min(extent, most));
}

class GeneralPlanner {
 public:
  GeneralPlanner(const MoveProblem& problem, const MoveTuning& tuning)
      : problem_(problem), tuning_(tuning), nest_(problem.nest) {
    kernel_.method = MoveMethod::general;
    kernel_.rank = std::max(nest_.rank, 1U);
    kernel_.type = problem.type[0];
    kernel_.element_bytes = problem.element_bytes(0);
    kernel_.sources = problem.sources();
    kernel_.padded = nest_.windowed;
    if (problem.coordinates) {
      kernel_.coordinates = std::max(nest_.view_rank, 1U);
      kernel_.dimension_of = nest_.dimension_of;
      kernel_.wide_coordinates = std::ranges::any_of(
          nest_.shape, [](std::uint64_t n) { return n > std::numeric_limits<std::uint32_t>::max(); });
    }
  }

  MoveCandidate plan() {
    choose_chunk();
    for (std::uint32_t i = 0; i < kernel_.sources; ++i) choose_access(i);
    choose_box();
    std::uint32_t shared = 0;
    for (std::uint32_t i = 0; i < kernel_.sources; ++i) {
      if (kernel_.source[i].access == SourceAccess::image) shared = lay_image(i, shared);
    }
    kernel_.choose_offsets(problem_);
    kernel_.backwards = nest_.backwards;
    if (!problem_.coordinates) kernel_.backwards = {};
    return {kernel_, nest_};
  }

 private:
  [[nodiscard]] std::uint32_t row() const { return kernel_.rank - 1; }
  [[nodiscard]] std::uint64_t extent(std::uint32_t d) const { return d < nest_.rank ? nest_.shape[d] : 1; }
  [[nodiscard]] std::int64_t stride(std::uint32_t operand, std::uint32_t d) const {
    return d < nest_.rank ? nest_.operand[operand].strides[d] : 0;
  }

  /// 16 bytes of the widest operand; rows that are much shorter get smaller chunks.
  void choose_chunk() {
    std::uint32_t widest = 1;
    for (std::uint32_t i = 0; i < nest_.operands; ++i) widest = std::max(widest, problem_.element_bytes(i));
    kernel_.chunk = vector_bytes / widest;
    while (kernel_.chunk > 2 && extent(row()) <= kernel_.chunk / 2) kernel_.chunk /= 2;
    kernel_.contiguous = stride(0, row()) == 1 || extent(row()) == 1;
    const std::uint32_t bytes = kernel_.chunk * kernel_.element_bytes;
    const std::uint32_t aligned = problem_.alignment(0, row());
    kernel_.staggered = kernel_.contiguous && aligned < std::min(bytes, vector_bytes);
    kernel_.alignment = kernel_.staggered ? bytes : std::min(aligned, bytes);
    kernel_.alignment = std::min(kernel_.alignment, vector_bytes);
    kernel_.whole = !kernel_.staggered && !nest_.windowed && extent(row()) % kernel_.chunk == 0;
  }

  void choose_access(std::uint32_t i) {
    SourcePlan& plan = kernel_.source[i];
    const std::uint32_t operand = i + 1;
    const std::uint32_t bytes = problem_.element_bytes(operand);
    const std::int64_t along = stride(operand, row());
    plan.type = problem_.type[operand];
    plan.alignment = problem_.alignment(operand, row());
    if (kernel_.staggered || along < 0 || along > 1) {
      plan.alignment = std::min(plan.alignment, bytes);
    }
    plan.alignment = std::min(plan.alignment, std::max(kernel_.chunk * bytes, 4U));
    const auto longest = bytes < 4 ? longest_stride : 1;
    if (along == 0) {
      plan.access = SourceAccess::repeat;
    } else if (std::abs(along) <= longest && kernel_.chunk * bytes >= 4) {
      plan.access = SourceAccess::run;
      plan.stride = static_cast<std::int32_t>(along);
    } else if (!kernel_.padded && images_ < most_images && runs_elsewhere(operand)) {
      plan.access = SourceAccess::image;
      ++images_;
    } else {
      plan.access = SourceAccess::elements;
    }
  }

  /// Whether the source is contiguous in a dimension that is long enough to fetch lines of it.
  bool runs_elsewhere(std::uint32_t operand) {
    if (extent(row()) < 2) return false;
    for (std::uint32_t d = 0; d < row(); ++d) {
      if (std::abs(stride(operand, d)) == 1 && extent(d) > 1) {
        if (stride(operand, d) < 0) {
          if (image_along_[d]) continue;  // another's lines would then run backwards
          turn_round(d);
        }
        image_along_[d] = true;
        line_along_[operand - 1] = d;
        if (images_ == 0) kernel_.column = d;
        return true;
      }
    }
    return false;
  }

  /// Walks a dimension from its other end, so that the source's line runs forwards. The destination may run
  /// backwards in every dimension but the row.
  void turn_round(std::uint32_t d) {
    for (std::uint32_t i = 0; i < nest_.operands; ++i) {
      auto& operand = nest_.operand[i];
      operand.offset += operand.strides[d] * static_cast<std::int64_t>(nest_.shape[d] - 1);
      operand.strides[d] = -operand.strides[d];
    }
    for (std::uint32_t v = 0; v < nest_.view_rank; ++v) {
      if (nest_.dimension_of[v] == d) nest_.backwards[v] = !nest_.backwards[v];
    }
  }

  [[nodiscard]] std::uint64_t box_elements() const {
    std::uint64_t elements = 1;
    for (std::uint32_t d = 0; d < kernel_.rank; ++d) elements *= kernel_.box[d];
    return elements;
  }

  void choose_box() {
    std::fill_n(kernel_.box.begin(), kernel_.rank, 1U);
    const bool images = images_ > 0;
    const std::uint64_t most_in_row = round_up(extent(row()), kernel_.chunk);
    if (images) {
      const std::uint64_t wanted = std::max(tuning_.destination_run / kernel_.element_bytes, kernel_.chunk);
      kernel_.box[row()] = clamp_to(most_in_row, round_up(wanted, kernel_.chunk));
      for (std::uint32_t i = 0; i < kernel_.sources; ++i) {
        if (kernel_.source[i].access == SourceAccess::image) lengthen_source(i);
      }
      fill_up(wanted * (tuning_.source_run / kernel_.element_bytes) / 2);
    } else {
      const std::uint64_t elements = std::uint64_t{tuning_.threads} * tuning_.turns * kernel_.chunk;
      kernel_.box[row()] = clamp_to(most_in_row, elements);
      fill_up(elements);
    }
    const std::uint64_t chunks = box_elements() / kernel_.chunk;
    kernel_.threads =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(round_up(chunks, 32), 32, tuning_.threads));
    kernel_.turns = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(ceil_div(chunks, kernel_.threads), 1, images ? 1 : tuning_.turns));
  }

  /// Makes the tile larger along the inner dimensions until it has so many elements.
  void fill_up(std::uint64_t elements) {
    for (std::uint32_t d = kernel_.rank; d-- > 0 && box_elements() * 2 <= elements;) {
      if (d == row()) continue;
      const std::uint64_t others = box_elements() / kernel_.box[d];
      kernel_.box[d] = clamp_to(extent(d), std::max<std::uint64_t>(elements / others, kernel_.box[d]));
    }
  }

  [[nodiscard]] std::array<std::uint32_t, max_view_rank> order_of(std::uint32_t operand) const {
    std::array<std::uint32_t, max_view_rank> order{};
    std::iota(order.begin(), order.begin() + kernel_.rank, 0U);
    // A broadcast dimension goes on nowhere: it counts as the farthest.
    // Where elements lie on each other others may be as near as the one that lines run along.
    const auto distance = [&](std::uint32_t d) {
      if (d == line_along_[operand - 1]) return std::uint64_t{0};
      const auto step = static_cast<std::uint64_t>(std::abs(stride(operand, d)));
      return step == 0 ? std::numeric_limits<std::uint64_t>::max() : step;
    };
    std::stable_sort(order.begin(), order.begin() + kernel_.rank,
                     [&](std::uint32_t a, std::uint32_t b) { return distance(a) > distance(b); });
    return order;
  }

  /// Grows the tile along the source's memory, over as many dimensions as follow each other in it, until a
  /// line has the bytes that the tuning asks for.
  void lengthen_source(std::uint32_t i) {
    SourcePlan& plan = kernel_.source[i];
    const std::uint32_t operand = i + 1;
    plan.order = order_of(operand);
    const std::uint64_t wanted = std::max(tuning_.source_run / problem_.element_bytes(operand), 1U);
    std::uint64_t run = 1;
    std::int64_t expected = 1;
    for (std::uint32_t k = kernel_.rank; k-- > 0;) {
      const std::uint32_t d = plan.order[k];
      if (stride(operand, d) != expected) break;
      ++plan.run;
      const auto take = clamp_to(extent(d), std::max<std::uint64_t>(wanted / run, 1));
      kernel_.box[d] = d == row() ? std::max(kernel_.box[d], clamp_to(round_up(extent(d), kernel_.chunk),
                                                                      round_up(take, kernel_.chunk)))
                                  : std::max(kernel_.box[d], take);
      run *= kernel_.box[d];
      // The row is where tiles may begin before their origin: a line ends with it.
      if (kernel_.box[d] != extent(d) || run >= wanted || d == row()) break;
      expected *= static_cast<std::int64_t>(extent(d));
    }
  }

  /// Where the lines of a source lie in shared memory; the offset of what comes after it.
  std::uint32_t lay_image(std::uint32_t i, std::uint32_t offset) {
    SourcePlan& plan = kernel_.source[i];
    const std::uint32_t operand = i + 1;
    const std::uint32_t bytes = problem_.element_bytes(operand);
    const std::uint32_t before = kernel_.staggered ? kernel_.chunk : 0;
    for (std::uint32_t d = 0; d < kernel_.rank; ++d) {
      plan.lines[d] = stride(operand, d) == 0 ? 1 : kernel_.box[d] + (d == row() ? before : 0);
    }
    std::uint32_t line = bytes;
    for (std::uint32_t k = kernel_.rank; k-- > kernel_.rank - plan.run;) {
      const std::uint32_t d = plan.order[k];
      plan.image_step[d] = line;
      line *= plan.lines[d];
      plan.lines[d] = 1;
      if (d == row()) plan.row_in_line = true;
    }
    // Lines are fetched by 16 bytes; one that begins within 16 ends within 16 more.
    plan.alignment = line_alignment(operand);
    plan.pitch = static_cast<std::uint32_t>(round_up(line, vector_bytes));
    if (plan.alignment < vector_bytes) plan.pitch += vector_bytes;

    plan.offset = offset;
    std::uint32_t step = plan.pitch;
    if (plan.lines[row()] > 1) {
      // Chunks next to each other in a row are an odd number of 16 bytes apart: eight of them meet all banks.
      plan.skew = kernel_.chunk * plan.pitch / vector_bytes % 2 == 0 ? vector_bytes : 0;
      plan.image_step[row()] = plan.pitch;
      step = plan.lines[row()] / kernel_.chunk * (kernel_.chunk * plan.pitch + plan.skew);
    }
    for (std::uint32_t d = row(); d-- > 0;) {
      if (plan.lines[d] == 1) continue;
      plan.image_step[d] = step;
      step *= plan.lines[d];
    }
    return offset + step;
  }

  /// Of every line's first byte, at most 16.
  std::uint32_t line_alignment(std::uint32_t operand) const {
    const std::int64_t turned = nest_.operand[operand].offset - problem_.nest.operand[operand].offset;
    const std::uint32_t bytes = problem_.element_bytes(operand);
    std::uint64_t bits =
        4 | (problem_.address[operand] + static_cast<DevicePtr>(turned * std::int64_t{bytes}));
    const SourcePlan& plan = kernel_.source[operand - 1];
    for (std::uint32_t k = 0; k < kernel_.rank; ++k) {
      const std::uint32_t d = plan.order[k];
      std::uint64_t step = static_cast<std::uint64_t>(stride(operand, d)) * bytes;
      if (k >= kernel_.rank - plan.run) step *= kernel_.box[d];  // tiles begin so far apart
      bits |= step;
    }
    return static_cast<std::uint32_t>(bits & (~bits + 1));
  }

  const MoveProblem& problem_;
  const MoveTuning& tuning_;
  CanonicalNest nest_;
  MoveKernel kernel_;
  std::uint32_t images_ = 0;
  std::array<std::uint32_t, max_operands - 1> line_along_{};  ///< of an image: the dimension of its lines
  std::array<bool, max_view_rank> image_along_{};             ///< dimensions that lines of an image run along
};

}  // namespace

MoveCandidate general_candidate(const MoveProblem& problem, const MoveTuning& tuning) {
  MoveTuning fitting = tuning;
  for (;;) {
    MoveCandidate candidate = GeneralPlanner(problem, fitting).plan();
    if (candidate.kernel.shared_bytes() <= most_shared) return candidate;
    std::uint32_t& longer =
        fitting.source_run > fitting.destination_run ? fitting.source_run : fitting.destination_run;
    longer /= 2;
  }
}

TMAJIT_END
