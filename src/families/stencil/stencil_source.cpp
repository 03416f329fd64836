#include "families/stencil/stencil_source.hpp"

#include "kernel/stencil_calls.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// The window of one source: the rows that a strip reads.
class WindowText {
 public:
  WindowText(const StencilFacts& facts, const StencilSource& source, const StencilImage& image)
      : facts_(facts), source_(source), image_(image) {
    planes_ = has_plane() ? source.before[facts.plane] + 1 + source.after[facts.plane] : 1;
    for (std::uint32_t d = 0; d < facts.rank; ++d) {
      if (is_layer(d)) layers_ *= source.before[d] + 1 + source.after[d];
    }
    rows_ = facts.strip + source.before[facts.column] + source.after[facts.column];
    margin_ = static_cast<std::uint32_t>(round_up(source.before[facts.row()], facts.chunk));
    const std::uint64_t after = round_up(source.after[facts.row()], facts.chunk);
    chunks_ = static_cast<std::uint32_t>((margin_ + facts.chunk + after) / facts.chunk);
    first_.assign(std::size_t{planes_} * layers_ * rows_, 0);
    last_ = first_;
    begins_.assign(first_.size(), false);
  }

  /// Marks the chunks that the elements of a strip read at these offsets.
  void read(const StencilOffsets& tap) {
    std::uint32_t line = 0;
    std::uint32_t row = source_.before[facts_.column];
    std::uint32_t column = margin_;
    if (has_plane()) line = source_.before[facts_.plane];
    for (std::uint32_t d = 0; d < facts_.rank; ++d) {
      if (is_layer(d)) line = line * layers_ + source_.before[d];
    }
    for (std::uint32_t k = 0; k < facts_.offsets; ++k) {
      const auto offset = static_cast<std::uint32_t>(facts_.reversed[k] != 0 ? -tap[k] : tap[k]);
      const std::uint32_t d = facts_.dim[k];
      if (d == facts_.row()) column += offset;
      if (d == facts_.column) row += offset;
      if (d == facts_.plane) line += offset * layers_;
      if (is_layer(d)) line += offset;
    }
    const std::uint32_t first = column / facts_.chunk;
    const std::uint32_t last = (column + facts_.chunk - 1) / facts_.chunk + 1;
    begins_[std::size_t{line} * rows_ + row] = true;
    for (std::uint32_t r = row; r < row + facts_.strip; ++r) {
      const std::size_t at = std::size_t{line} * rows_ + r;
      first_[at] = last_[at] == 0 ? first : std::min(first_[at], first);
      last_[at] = std::max(last_[at], last);
    }
  }

  [[nodiscard]] std::string text(std::uint32_t first_plane) const {
    const std::uint32_t size = size_of(source_.element_type());
    std::string out =
        number("first_plane", first_plane, "the first of the tile's planes that this source needs");
    out += number("layers", layers_, "layers of a plane that the window spans");
    out += number("layer_bytes", std::uint64_t{image_.box[facts_.column]} * image_.pitch);
    const Rows rows = rows_read();
    out += number("rows", rows.line.size(), "rows of the window that are read");
    out += number("chunks", chunks_, "chunks of a row; the first is `margin` bytes into the image's row");
    out += number("margin", std::uint64_t{image_.before[facts_.row()] - margin_} * size);
    out += extent_fact("line_of", rows.line, "for each row: its line, a layer of a plane", "  static ");
    out += extent_fact("row_of", rows.row, "for each row: its number in that line", "  static ");
    out += extent_fact("first_chunk", rows.first, "for each row: the first chunk that is read", "  static ");
    out += extent_fact("last_chunk", rows.last, "for each row: the end of these chunks", "  static ");
    out += "  // Where in the window a neighbour is: the row of a strip's first element, and the column.\n";
    out += function("place", place(rows));
    return out + function("column", sum(facts_.row(), margin_));
  }

 private:
  /// The rows of the window that are read, line by line. If none is read, one row without chunks.
  struct Rows {
    std::vector<std::uint32_t> line;
    std::vector<std::uint32_t> row;
    std::vector<std::uint32_t> first;  ///< first chunk that is read
    std::vector<std::uint32_t> last;   ///< end of the chunks that are read
  };
  [[nodiscard]] Rows rows_read() const {
    Rows rows;
    for (std::uint32_t at = 0; at < last_.size(); ++at) {
      const bool is_only = rows.line.empty() && at + 1 == last_.size();
      if (last_[at] == 0 && !is_only) continue;
      rows.line.push_back(at / rows_);
      rows.row.push_back(at % rows_);
      rows.first.push_back(first_[at]);
      rows.last.push_back(last_[at]);
    }
    return rows;
  }

  /// The expression for the index in `rows` of the row that a strip's first element reads at the offsets a,
  /// b, … The strip's further rows follow it.
  [[nodiscard]] std::string place(const Rows& rows) const {
    std::string line = has_plane() ? sum(facts_.plane, source_.before[facts_.plane]) : "0";
    if (layers_ > 1) line = fmt::format("({}) * {}", line, layers_);
    for (std::uint32_t d = 0; d < facts_.rank; ++d) {
      if (is_layer(d)) line += " + " + sum(d, source_.before[d]);
    }
    std::string at =
        fmt::format("({}) * {} + {}", line, rows_, sum(facts_.column, source_.before[facts_.column]));
    if (rows.line.size() == last_.size()) return at;
    // Between far offsets there may be thousands of rows that no call reads: only rows that are read have an
    // index.
    std::string chain;
    for (std::uint32_t n = 0; n < rows.line.size(); ++n) {
      const std::uint32_t number = rows.line[n] * rows_ + rows.row[n];
      if (begins_[number]) chain += fmt::format("({}) == {} ? {} : ", at, number, n);
    }
    return chain + "0";
  }

  [[nodiscard]] bool has_plane() const { return facts_.plane < facts_.rank; }
  [[nodiscard]] bool is_layer(std::uint32_t d) const {
    return d != facts_.row() && d != facts_.column && d != facts_.plane &&
           source_.before[d] + source_.after[d] > 0;
  }

  static std::string number(std::string_view name, std::uint64_t value, std::string_view comment = {}) {
    return "  static " + number_fact(name, value, comment);
  }
  /// "1 + a": the sum of `before` and the call's offset along a dimension, if it has one.
  [[nodiscard]] std::string sum(std::uint32_t d, std::uint32_t before) const {
    for (std::uint32_t k = 0; k < facts_.offsets; ++k) {
      if (facts_.dim[k] != d) continue;
      const char name = static_cast<char>('a' + k);
      return facts_.reversed[k] != 0 ? fmt::format("{} - {}", before, name)
                                     : fmt::format("{} + {}", before, name);
    }
    return fmt::format("{}", before);
  }
  [[nodiscard]] std::string function(std::string_view name, std::string_view value) const {
    std::vector<std::string> offsets;
    for (std::uint32_t k = 0; k < facts_.offsets; ++k)
      offsets.push_back(fmt::format("i32 {} = 0", static_cast<char>('a' + k)));
    return fmt::format("  static __device__ constexpr u32 {}({}) {{ return {}; }}\n", name,
                       fmt::join(offsets, ", "), value);
  }

  const StencilFacts& facts_;
  const StencilSource& source_;
  const StencilImage& image_;
  std::uint32_t planes_ = 1;
  std::uint32_t layers_ = 1;
  std::uint32_t rows_ = 1;
  std::uint32_t margin_ = 0;  // elements of the window before an element's own
  std::uint32_t chunks_ = 1;
  std::vector<std::uint32_t> first_;  // first chunk that is read, for each row of each line
  std::vector<std::uint32_t> last_;   // end of these chunks; 0: the row is not read
  std::vector<bool> begins_;          // whether the neighbours of a strip begin in a row
};

std::string source_text(const StencilFacts& facts, const StencilCalls& calls, const StencilImage& image,
                        std::uint32_t i) {
  const StencilSource& source = facts.source[i];
  const auto number = [](std::string_view name, std::uint64_t value, std::string_view comment = {}) {
    return "  static " + number_fact(name, value, comment);
  };
  std::string out = fmt::format("template <>\nstruct Source<{}> {{\n  using Element = {};\n", i,
                                device_type(source.element_type()));
  out += extent_fact("image_box", std::span(image.box).first(facts.rank), "elements of a plane's image",
                     "  static ");
  out += extent_fact("before", std::span(image.before).first(facts.rank),
                     "elements of the image before the tile's", "  static ");
  out += number("image", image.offset, "offset in a stage, in bytes");
  out += number("pitch", image.pitch, "bytes from row to row");
  if (facts.engine != 0) {
    out += number("load_bytes", image.bytes);
    out += number("parts", image.parts, "boxes of an image, side by side");
    out += number("unit", source.unit, "elements that the tensor map takes as one");
    out += number("part_units", image.part_columns / source.unit);
    out += number("part_bytes", std::uint64_t{image.part_columns} * size_of(source.element_type()));
  }
  const bool has_plane = facts.plane < facts.rank;
  WindowText window(facts, source, image);
  for (const StencilOffsets& tap : calls.taps[i]) window.read(tap);
  out += window.text(has_plane ? facts.planes_before() - source.before[facts.plane] : 0);
  return out + "};\n";
}

}  // namespace

std::string stencil_fact_text(const StencilFacts& facts, std::string_view expression) {
  StencilCalls calls;
  static_cast<void>(read_calls(expression, facts.sources, calls));
  const StencilStage stage = stage_of(facts);
  std::string out =
      fmt::format("using Index = {};  // an index in a dimension, which may be beyond an edge\n",
                  facts.wide_index != 0 ? "i64" : "i32");
  out += number_fact("march", facts.march, "dimension along which a CTA processes tile after tile");
  out += number_fact("column", facts.column, "dimension that strips run along");
  out += number_fact("strip", facts.strip, "rows that a thread computes");
  out += number_fact("stages", facts.stages, "planes in shared memory");
  out += number_fact("stage_bytes", stage.bytes);
  out += number_fact("window_planes", facts.window_planes(), "planes that a tile reads");
  out += number_fact("planes_before", facts.planes_before(), "planes that a tile reads before its own");
  out += "template <u32 i>\nstruct Source;\n";
  for (std::uint32_t i = 0; i < facts.sources; ++i) out += source_text(facts, calls, stage.image[i], i);
  out += all_sources_fact(facts.sources);
  if (facts.numbers == 0) return out;
  const std::uint32_t end = facts.sources + facts.numbers;
  for (std::uint32_t i = facts.sources; i < end; ++i) {
    out += fmt::format(
        "template <>\nstruct Source<{}> {{  // a number of the launch\n  using Element = {};\n}};\n", i,
        device_type(facts.source[i].element_type()));
  }
  return out + indices_fact("AllNumbers", facts.sources, end);
}

TMAJIT_END
