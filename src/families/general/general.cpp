#include "families/general/general_facts.hpp"
#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/lines_met.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

// An image is the copy of a source's part of a tile in shared memory.
constexpr double image_unit_bytes = 16;  // bytes that a thread copies to an image at a time

// Instructions of a thread, fitted to measurements (docs/model.md).
constexpr double per_image_unit = 146;    // line of an image, and each of its units
constexpr double per_image_chunk = 41.3;  // chunk with a source in an image
constexpr double per_end = 15.5;          // element at a row's end, which is stored while its warp waits

/// Tunings for problems in which no source has an image; the others use wide_tunings. The first two are as
/// fast as any for nearly all problems. The rest are candidates for measurements.
constexpr GeneralTuning row_tunings[] = {
    {.threads = 256, .turns = 1}, {.threads = 128, .turns = 1}, {.threads = 64, .turns = 1},
    {.threads = 128, .turns = 2}, {.threads = 256, .turns = 2}, {.threads = 512, .turns = 1},
    {.threads = 256, .turns = 4}, {.threads = 128, .turns = 4}, {.threads = 32, .turns = 1},
};
// Candidate::common tells what a common kernel is.
constexpr std::uint32_t min_common_side = 128;     // bytes of a tile's shorter side, in kernels with images
constexpr std::size_t common_count = 2;            // the first of row_tunings, whose kernels are common
constexpr std::size_t common_count_few_tiles = 3;  // as common_count, if there are few tiles
constexpr GeneralTuning tiny_tuning{.threads = 64, .turns = 1, .images = false};

/// The order of a tile's chunks. A warp that reads an image takes 8 chunks of 4 rows each rather than 32 of
/// one row, so that its lanes use all banks.
std::vector<Digit> digits_of_chunks(const GeneralFacts& facts) {
  std::vector<Digit> digits = chunk_digits(facts);
  const std::uint32_t row = facts.row();
  const bool divides = facts.box[row] / facts.chunk % 8 == 0 && facts.box[facts.column] % 4 == 0;
  if (!facts.has_image() || !divides || facts.column == row) return digits;
  for (Digit& digit : digits) {
    if (digit.d != row && digit.d != facts.column) continue;
    digit.scale = digit.d == row ? 8 : 4;
    digit.count /= digit.scale;
  }
  digits.insert(digits.begin(), {{row, 8, 1}, {facts.column, 4, 1}});
  return digits;
}

/// The policy struct by which threads load a source (templates/kernels/chunk_sources.cuh).
std::string_view policy_of(const GeneralFacts& facts, const SourceFacts& source) {
  switch (source.access) {
    case Access::repeat: return "Repeated";
    case Access::number: return "Passed";
    case Access::elements: return "Separate";
    case Access::image: return "Imaged";
    case Access::run: break;
  }
  return source.interleaved != 0 ? "OwnRun"
         : source.alignment < 4  ? "RunAnywhere"
         : facts.whole == 0      ? "CutRun"
                                 : "WholeRun";
}

std::string source_facts(const GeneralFacts& facts, std::uint32_t i) {
  const SourceFacts& source = facts.source[i];
  const ElementType type = source.element_type();
  std::string out = fmt::format("template <>\nstruct Source<{}> {{\n", i);
  out += fmt::format("  using Element = {};\n", facts.computes != 0 ? device_type(type) : bits_type(type));
  out += policy_fact("Access", policy_of(facts, source), {}, "  ");
  if (source.access == Access::repeat) out += "  static " + flag_fact("padded", facts.padded != 0);
  if (facts.has_image()) out += "  static " + flag_fact("is_image", source.access == Access::image);
  if (source.access == Access::run) {
    out += fmt::format("  static constexpr i32 stride = {};  // elements, along the row\n", source.stride);
  }
  out += fmt::format("  static constexpr u32 alignment = {};\n", source.alignment);
  if (source.access == Access::image) {
    out += fmt::format("  static constexpr u32 image = {};  // offset in shared memory\n", source.offset);
    out += fmt::format("  static constexpr u32 outer = {};  // outermost dimension that a line spans\n",
                       source.order[facts.rank - source.run]);
    out += fmt::format("  static constexpr u32 pitch = {};  // bytes from line to line\n", source.pitch);
    out += fmt::format("  static constexpr u32 skew = {};  // bytes after each chunk's lines\n", source.skew);
    out += fmt::format("  static constexpr bool row_in_line = {};\n", source.row_in_line != 0);
    out += extent_fact("lines", std::span(source.lines).first(facts.rank), {}, "  static ");
    out += extent_fact("image_step", std::span(source.image_step).first(facts.rank), "bytes", "  static ");
    out += "  // Lines in the order of the source's memory.\n";
    const auto digits = digits_of(source.order, source.lines, facts.rank);
    out += index_function("line_index", digits, facts.rank, "  static ");
  }
  return out + "};\n";
}

/// Whether a chunk moves fewer bytes than in a copy, where both operands have 16 bytes of it. A chunk has 16
/// bytes of the operand with the widest elements; true if all others together have fewer, as when u8 is
/// converted to f32.
bool moves_few_bytes(const Problem& problem) {
  std::uint32_t bytes = 0;
  std::uint32_t widest = 1;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    bytes += problem.element_bytes(i);
    widest = std::max(widest, problem.element_bytes(i));
  }
  return bytes < 2 * widest;
}

class General final : public TypedFamily<GeneralFacts, ChunkChoice> {
 public:
  General()
      : TypedFamily(
            {.name = "general",
             .summary =
                 "moves, converts, pads or computes, whatever the strides, alignments and types of its views",
             .operations = {"copy", "pad", "map"},
             .computes = true,
             .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const Layout layout = layout_of(problem);
    const bool tiny = is_tiny_strided_copy(problem);
    if (problem.sources() == 0 || (layout != Layout::any && !tiny)) return;
    const std::size_t first = candidates.size();
    // Adds a candidate. Returns whether its kernel has an image.
    const auto add = [&](const GeneralTuning& tuning, bool common) {
      GeneralKernel kernel = plan_general(problem, tuning);
      const bool has_image = kernel.facts.has_image();
      const ChunkChoice choice = has_image
                                     ? ChunkChoice{.tile = kernel.facts.box, .threads = kernel.facts.threads}
                                     : take_tile(kernel.facts);
      add_once(candidates, candidate(kernel.facts, choice, kernel.nest), common);
      return has_image;
    };
    if (tiny) {
      const bool is_default = !has_whole_blocks(problem);
      add(tiny_tuning, is_default);
      if (is_default) candidates[first].default_choice = DefaultChoice::yes;
      if (layout != Layout::any) return;
    }
    // Computing a chunk's indices is expensive with more than two dimensions, and relative to chunks of few
    // bytes. Two chunks of a thread share that cost, if there is enough work for all threads.
    const bool shares = problem.nest.rank > 2 || moves_few_bytes(problem);
    const std::uint32_t turns = shares && !is_small(problem) ? 2 : 1;
    const std::size_t fallback = candidates.size();
    const bool has_image = add({.turns = turns}, !tiny);
    if (fallback < candidates.size() && !tiny) candidates[fallback].default_choice = DefaultChoice::fallback;
    if (has_image) {
      // The cost model was not fitted to images, so kernels with the smallest tiles are not common.
      for (const BlockTuning& sides : wide_tunings) {
        add({sides.destination_run, sides.source_run},
            !tiny && std::min(sides.destination_run, sides.source_run) >= min_common_side);
      }
    } else {
      const std::size_t common = has_few_tiles(problem) ? common_count_few_tiles : common_count;
      for (const GeneralTuning& tuning : row_tunings) {
        add(tuning, !tiny && turns == 1 && &tuning < row_tunings + common);
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = with_tile<GeneralFacts>(candidate);
    const CanonicalNest& nest = candidate.nest;
    Footprint footprint{
        .box = facts.box, .threads = facts.threads, .dynamic_shared_bytes = facts.shared_bytes()};
    const std::uint64_t elements = elements_of(facts.box, facts.rank);
    const std::uint64_t at_once =
        std::min(elements, std::uint64_t{facts.threads} * facts.turns * facts.chunk);
    for (std::uint32_t i = 0; i < facts.sources; ++i) {
      const SourceFacts& source = facts.source[i];
      if (source.access == Access::repeat || source.access == Access::number) continue;
      footprint.bytes_in_flight +=
          (source.access == Access::image ? elements : at_once) * size_of(source.element_type());
    }
    if (nest.rank == 0) return footprint;
    footprint.stagger = facts.staggered != 0 ? facts.chunk - 1 : 0;
    footprint.store_bytes = facts.staggered != 0 ? facts.alignment : 0;
    const std::uint64_t row = nest.shape[nest.rank - 1];
    const double rows = static_cast<double>(nest.elements()) / static_cast<double>(row);
    const double chunks =
        rows * parts_of_extent(row + footprint.stagger, facts.box[nest.rank - 1], facts.chunk);
    const auto tiles = static_cast<double>(tiles_of(footprint, nest));
    for (std::uint32_t i = 0; i < facts.sources; ++i) {
      const SourceFacts& source = facts.source[i];
      if (source.access == Access::elements) {
        const double loaded = chunks * facts.chunk;
        footprint.instructions += instructions_of_element * loaded;
        footprint.lines += loaded * lines_along(problem, i + 1, facts.chunk);
      }
      if (source.access == Access::run && std::abs(source.stride) > 1) {
        const double bytes =
            static_cast<double>(std::abs(source.stride)) * facts.chunk * size_of(source.element_type());
        const double loads = std::ceil(bytes / std::clamp(source.alignment, 4U, 16U));
        footprint.lines +=
            chunks * loads * std::min<double>(warp_lanes, warp_lanes * bytes / memory_line_bytes);
      }
      if (source.access != Access::image) continue;
      const auto lines = static_cast<double>(elements_of(source.lines, facts.rank));
      const double units = static_cast<double>(elements * size_of(source.element_type())) / image_unit_bytes;
      footprint.instructions += per_image_unit * tiles * (lines + units);
    }
    footprint.instructions += (facts.has_image() ? per_image_chunk : instructions_of_chunk) * chunks;
    // A chunk that a row's end cuts is stored element by element, while the warp's other lanes wait.
    const double ends = 2.0 * warp_lanes * rows / chunks;  // row ends in the chunks of a warp
    if (facts.whole == 0) footprint.instructions += per_end * std::min(ends, 1.0) * chunks * facts.chunk;
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = with_tile<GeneralFacts>(candidate);
    if (facts.padded != 0) return "A part of the destination is filled, the rest comes from the source.";
    if (facts.computes != 0) {
      return facts.has_image() ? "An expression is computed on the way; a source that is contiguous in "
                                 "another dimension goes "
                                 "through an image in shared memory."
                               : "An expression is computed on the way, on vectors of every source.";
    }
    if (facts.has_image())
      return "The source is contiguous in another dimension, with lines too short for blocks.";
    return "Strides or alignment keep vectors from being stored as they are loaded.";
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const auto facts = facts_of<GeneralFacts>(candidate);
    std::vector<std::string> rewrites = chunk_rewrites(facts);
    if (facts.is_interleaved()) rewrites.push_back(interleaved_rewrite());
    return rewrites;
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = with_tile<GeneralFacts>(candidate);
    add_views(parameters, shape, problem, candidate.nest, facts.rank, chunk_tiles(facts, candidate.nest));
    if (facts.padded != 0) add_window(parameters, candidate.nest, facts.rank, problem.padding());
    if (!facts.has_image()) add_sides(parameters, facts.rank, facts.box, facts.chunk);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override {
    const auto facts = facts_of<GeneralFacts>(candidate);
    SourceParts parts{
        .why =
            "Threads load, compute and store chunks of a row, whatever the sources' strides. The copy engine "
            "is not used: views here have strides or alignments that no tensor map supports.",
        .max_threads = facts.has_image() ? 0 : max_chunk_threads(facts),
        .call = facts.has_image()   ? "compute_through_images(tmajit::AllSources{}, views)"
                : facts.padded != 0 ? "compute_padded(views, window, sides)"
                                    : "compute_views(tmajit::AllSources{}, views, sides)"};
    add_chunk_parts(parts, facts, expression);
    parts.pads = facts.padded != 0;
    parts.set("image", facts.has_image());  // a source comes through an image in shared memory
    std::string& out = parts.facts;
    const auto digits = facts.has_image() ? digits_of_chunks(facts) : std::vector<Digit>{};
    out += chunk_fact_text(facts, digits, facts.computes == 0 && facts.padded == 0);
    if (facts.has_image() || facts.padded != 0)
      out += flag_fact("staggered", facts.staggered != 0, "rows begin between boundaries of chunks");
    out += "template <u32 i>\nstruct Source;\n";
    for (std::uint32_t i = 0; i < facts.sources; ++i) {
      out += source_facts(facts, i);
      const ElementType type = facts.source[i].element_type();
      parts.elements.push_back(type);
      parts.inputs.push_back(type);
      if (facts.source[i].access == Access::number) ++parts.numbers;
    }
    out += all_sources_fact(facts.sources);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    const auto facts = facts_of<GeneralFacts>(candidate);
    shape.staggered = facts.staggered != 0;
    shape.sources = static_cast<std::uint8_t>(facts.sources);
    for (std::uint32_t i = 0; i < facts.sources; ++i) {
      const auto access = static_cast<std::uint32_t>(facts.source[i].access);
      const std::int8_t size = log2_of(size_of(facts.source[i].element_type()));
      shape.access[i] = static_cast<std::uint8_t>(16 * access + static_cast<std::uint32_t>(size));
    }
  }
};

}  // namespace

std::string_view name(Access access) noexcept {
  switch (access) {
    case Access::run: return "run";
    case Access::repeat: return "repeat";
    case Access::number: return "number";
    case Access::elements: return "elements";
    default: return "image";
  }
}

bool GeneralFacts::has_image() const noexcept {
  return std::any_of(source.begin(), source.begin() + sources,
                     [](const SourceFacts& one) { return one.access == Access::image; });
}

bool GeneralFacts::reads_elements() const noexcept {
  return std::any_of(source.begin(), source.begin() + sources,
                     [](const SourceFacts& one) { return one.access == Access::elements; });
}

bool GeneralFacts::is_interleaved() const noexcept {
  return std::any_of(source.begin(), source.begin() + sources,
                     [](const SourceFacts& one) { return one.interleaved != 0; });
}

std::uint32_t GeneralFacts::shared_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < sources; ++i) {
    const SourceFacts& image = source[i];
    if (image.access != Access::image) continue;
    std::uint64_t lines = 1;
    for (std::uint32_t d = 0; d < rank; ++d) lines = sat_mul(lines, image.lines[d]);
    const std::uint64_t skews = image.row_in_line != 0 ? 0 : lines / std::max(chunk, 1U) * image.skew;
    bytes = std::max(bytes, round_up(image.offset + sat_mul(lines, image.pitch) + skews, 16));
  }
  return sat_cast<std::uint32_t>(bytes);
}

const Family& general_family() {
  static const General family;
  return family;
}

TMAJIT_END
