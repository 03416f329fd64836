#include "families/general/general_facts.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t image_vector_bytes = 16;
constexpr std::uint32_t image_word_bytes = 4;
constexpr std::uint32_t max_image_bytes = 96 * 1024;  // limit of all images, so that an SM holds two CTAs
constexpr std::uint64_t max_row_chunks = 8;           // along a row, if elements are loaded separately
constexpr std::uint32_t max_images = 2;               // each makes the tile longer in another dimension
constexpr std::int64_t longest_stride = 4;            // elements; a run is loaded with the gaps between them

class GeneralPlanner {
 public:
  GeneralPlanner(const Problem& problem, const GeneralTuning& tuning)
      : problem_(problem), tuning_(tuning), nest_(problem.nest) {
    static_cast<ChunkFacts&>(facts_) =
        tuning.images ? chunk_facts(problem) : chunk_facts(problem, few_elements);
    facts_.sources = problem.sources();
    facts_.padded = nest_.windowed ? 1 : 0;
  }

  GeneralKernel plan() {
    for (std::uint32_t i = 0; i < facts_.sources; ++i) choose_access(i);
    choose_box();
    std::uint32_t shared = 0;
    for (std::uint32_t i = 0; i < facts_.sources; ++i) {
      if (facts_.source[i].access == Access::image) shared = place_image(i, shared);
    }
    facts_.wide_offsets = has_wide_offsets(problem_, facts_.box, facts_.chunk) ? 1 : 0;
    if (problem_.reads().g) std::ranges::copy(nest_.backwards, facts_.backwards.begin());
    return {facts_, nest_};
  }

 private:
  [[nodiscard]] std::uint32_t row() const { return facts_.row(); }
  [[nodiscard]] std::uint64_t extent(std::uint32_t d) const { return extent_of(nest_, d); }
  [[nodiscard]] std::int64_t stride(std::uint32_t operand, std::uint32_t d) const {
    return d < nest_.rank ? nest_.operand[operand].strides[d] : 0;
  }

  void choose_access(std::uint32_t i) {
    SourceFacts& source = facts_.source[i];
    const std::uint32_t operand = i + 1;
    const std::uint32_t bytes = problem_.element_bytes(operand);
    // A row of a single element counts as contiguous.
    const std::int64_t row_stride = extent(row()) == 1 ? 1 : stride(operand, row());
    source.type = static_cast<std::uint32_t>(type_in_chunks(problem_, operand));
    source.alignment = problem_.alignment(operand, row());
    if (facts_.staggered != 0 || row_stride < 0 || row_stride > 1) {
      source.alignment = std::min(source.alignment, bytes);
    }
    const bool interleaved = problem_.interleaved[operand];
    if (interleaved && follows_destination(operand)) source.alignment = facts_.alignment;
    const std::uint32_t whole_chunk =
        std::min(std::max(facts_.chunk * bytes, image_word_bytes), image_vector_bytes);
    // Only these alignments have kernels of their own: with more of them, kernels would hardly be faster.
    source.alignment = source.alignment >= whole_chunk                ? whole_chunk
                       : source.alignment >= 8 && !is_small(problem_) ? 8U
                       : source.alignment >= image_word_bytes         ? image_word_bytes
                       : interleaved                                  ? bytes
                                                                      : 1;
    const auto max_run_stride = bytes < 4 && !interleaved ? longest_stride : 1;
    if (problem_.is_number(operand)) {
      source.access = Access::number;
      source.alignment = bytes;
    } else if (row_stride == 0) {
      source.access = Access::repeat;
      source.alignment = bytes;
    } else if (std::abs(row_stride) <= max_run_stride && facts_.chunk * bytes >= 4) {
      source.access = Access::run;
      source.stride = static_cast<std::int32_t>(row_stride);
      source.interleaved = interleaved ? 1 : 0;
    } else if (!interleaved && facts_.padded == 0 && tuning_.images && images_ < max_images &&
               choose_image_dimension(operand)) {
      source.access = Access::image;
      source.alignment = bytes;
      ++images_;
    } else {
      source.access = Access::elements;
      source.alignment = bytes;
    }
  }

  /// Whether every chunk has the same address modulo 16 bytes in source and destination, as in a map in
  /// place.
  [[nodiscard]] bool follows_destination(std::uint32_t operand) const {
    std::uint64_t differences = problem_.address[operand] - problem_.address[0];
    for (std::uint32_t d = 0; d < nest_.rank; ++d) {
      differences |= static_cast<std::uint64_t>(problem_.step(operand, d) - problem_.step(0, d));
    }
    return facts_.contiguous != 0 && stride(operand, row()) == 1 && differences % image_vector_bytes == 0 &&
           problem_.element_bytes(operand) == problem_.element_bytes(0);
  }

  /// Chooses the dimension in which the source is contiguous for the lines of an image. Returns false if
  /// there is none.
  bool choose_image_dimension(std::uint32_t operand) {
    if (extent(row()) < 2) return false;
    for (std::uint32_t d = 0; d < row(); ++d) {
      if (std::abs(stride(operand, d)) == 1 && extent(d) > 1) {
        if (stride(operand, d) < 0) {
          if (has_lines_[d]) continue;  // the lines of another image would then run backwards
          reverse(d);
        }
        has_lines_[d] = true;
        line_dimension_[operand - 1] = d;
        if (images_ == 0) facts_.column = d;
        return true;
      }
    }
    return false;
  }

  /// Reverses a dimension, so that the source's lines run forwards. The destination may run backwards in
  /// every dimension but the last.
  void reverse(std::uint32_t d) {
    for (std::uint32_t i = 0; i < nest_.operands; ++i) {
      auto& operand = nest_.operand[i];
      operand.offset += operand.strides[d] * static_cast<std::int64_t>(nest_.shape[d] - 1);
      operand.strides[d] = -operand.strides[d];
    }
    for (std::uint32_t v = 0; v < nest_.view_rank; ++v) {
      if (nest_.dimension_of[v] == d) nest_.backwards[v] = !nest_.backwards[v];
    }
  }

  void choose_box() {
    if (images_ == 0) {
      facts_.turns = tuning_.turns;
      // If elements are loaded separately, their sectors hold neighbours along another dimension: rows are
      // kept short, so that the tile extends along that dimension.
      set_tile_extents(facts_, problem_, std::uint64_t{tuning_.threads} * tuning_.turns,
                       tuning_.images ? UINT64_MAX : max_row_chunks);
      facts_.threads = chunk_threads(facts_, tuning_.threads);
      return;
    }
    const std::uint64_t wanted = std::max(tuning_.destination_run / facts_.element_bytes, facts_.chunk);
    const std::uint64_t max_in_row = round_up(extent(row()), facts_.chunk);
    facts_.box[row()] = clamp_to(max_in_row, round_up(wanted, facts_.chunk));
    for (std::uint32_t i = 0; i < facts_.sources; ++i) {
      if (facts_.source[i].access == Access::image) lengthen_source(i);
    }
    enlarge(wanted * (tuning_.source_run / facts_.element_bytes) / 2);
    facts_.turns = 1;
    facts_.threads = chunk_threads(facts_, tuning_.threads);
  }

  /// Enlarges the tile along the dimensions before the row until it has more than half of `elements`.
  void enlarge(std::uint64_t elements) {
    for (std::uint32_t d = row(); d-- > 0 && elements_of(facts_.box, facts_.rank) * 2 <= elements;) {
      const std::uint64_t others = elements_of(facts_.box, facts_.rank) / facts_.box[d];
      facts_.box[d] = clamp_to(extent(d), std::max<std::uint64_t>(elements / others, facts_.box[d]));
    }
  }

  /// Grows the tile along the source's memory, over all dimensions that are contiguous there, until a line
  /// has the bytes that the tuning asks for.
  void lengthen_source(std::uint32_t i) {
    SourceFacts& source = facts_.source[i];
    const std::uint32_t operand = i + 1;
    source.order = farthest_first(nest_, operand, facts_.rank, line_dimension_[i]);
    const std::uint64_t wanted = std::max(tuning_.source_run / problem_.element_bytes(operand), 1U);
    std::uint64_t run = 1;
    std::int64_t expected = 1;
    for (std::uint32_t k = facts_.rank; k-- > 0;) {
      const std::uint32_t d = source.order[k];
      if (stride(operand, d) != expected) break;
      ++source.run;
      const auto side = clamp_to(extent(d), std::max<std::uint64_t>(wanted / run, 1));
      facts_.box[d] = d == row() ? std::max(facts_.box[d], clamp_to(round_up(extent(d), facts_.chunk),
                                                                    round_up(side, facts_.chunk)))
                                 : std::max(facts_.box[d], side);
      run *= facts_.box[d];
      // A line ends with the row's dimension, in which staggered tiles begin before their origin.
      if (facts_.box[d] != extent(d) || run >= wanted || d == row()) break;
      expected *= static_cast<std::int64_t>(extent(d));
    }
  }

  /// Places the image of a source at `offset` in shared memory. Returns the offset after it.
  std::uint32_t place_image(std::uint32_t i, std::uint32_t offset) {
    SourceFacts& source = facts_.source[i];
    const std::uint32_t operand = i + 1;
    const std::uint32_t bytes = problem_.element_bytes(operand);
    const std::uint32_t stagger = facts_.staggered != 0 ? facts_.chunk : 0;
    for (std::uint32_t d = 0; d < facts_.rank; ++d) {
      source.lines[d] = stride(operand, d) == 0 ? 1 : facts_.box[d] + (d == row() ? stagger : 0);
    }
    std::uint32_t line_bytes = bytes;
    for (std::uint32_t k = facts_.rank; k-- > facts_.rank - source.run;) {
      const std::uint32_t d = source.order[k];
      source.image_step[d] = line_bytes;
      line_bytes *= source.lines[d];
      source.lines[d] = 1;
      if (d == row()) source.row_in_line = 1;
    }
    // Lines are copied in units of 16 bytes; an unaligned line takes one more.
    source.pitch = static_cast<std::uint32_t>(round_up(line_bytes, image_vector_bytes)) + image_vector_bytes;

    source.offset = offset;
    std::uint32_t step = source.pitch;
    if (source.lines[row()] > 1) {
      // Neighbouring chunks of a row are an odd multiple of 16 bytes apart, so that eight of them use all
      // banks.
      source.skew = facts_.chunk * source.pitch / image_vector_bytes % 2 == 0 ? image_vector_bytes : 0;
      source.image_step[row()] = source.pitch;
      step = source.lines[row()] / facts_.chunk * (facts_.chunk * source.pitch + source.skew);
    }
    for (std::uint32_t d = row(); d-- > 0;) {
      if (source.lines[d] == 1) continue;
      source.image_step[d] = step;
      step *= source.lines[d];
    }
    return offset + step;
  }

  const Problem& problem_;
  const GeneralTuning& tuning_;
  CanonicalNest nest_;
  GeneralFacts facts_;
  std::uint32_t images_ = 0;
  std::array<std::uint32_t, max_operands - 1> line_dimension_{};  ///< dimension of the lines of each image
  std::array<bool, max_view_rank> has_lines_{};  ///< dimensions that lines of an image run along
};

}  // namespace

GeneralKernel plan_general(const Problem& problem, const GeneralTuning& tuning) {
  // The longer side of the tile is halved until the images fit shared memory.
  GeneralTuning fitting = tuning;
  for (;;) {
    GeneralKernel kernel = GeneralPlanner(problem, fitting).plan();
    if (kernel.facts.shared_bytes() <= max_image_bytes) return kernel;
    std::uint32_t& longer =
        fitting.source_run > fitting.destination_run ? fitting.source_run : fitting.destination_run;
    longer /= 2;
  }
}

TMAJIT_END
