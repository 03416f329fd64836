#include "codegen/flags.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// A name that templates may ask for by `//@ if NAME`. templates/README.md says the same to those who write
/// them.
struct KnownFlag {
  std::string_view name;
  std::string_view meaning;  ///< when it is set
};

constexpr KnownFlag known_flags[] = {
    {"host", "never in a kernel: what the host reads of parameters, and the assertions of their layouts"},
    {"cache_hints", "bulk copies take a cache policy"},
    {"multicast", "bulk loads go to several CTAs of a cluster"},
    {"rank1", "bulk tensor copies of one dimension"},
    {"rank2", "bulk tensor copies of two dimensions"},
    {"rank3", "bulk tensor copies of three dimensions"},
    {"rank4", "bulk tensor copies of four dimensions"},
    {"rank5", "bulk tensor copies of five dimensions"},

    {"bytes1", "an element has one byte"},
    {"bytes2", "an element has two bytes"},
    {"bytes4", "an element has four bytes"},
    {"bytes8", "an element has eight bytes"},
    {"words", "an element has four bytes or more"},
    {"narrow", "an element is an integer of one or two bytes"},
    {"paired", "an element is f16, bf16, e4m3 or e5m2, which are converted in pairs"},
    {"tf32", "an element is tf32"},
    {"integer_result", "an expression's result, or a padding's value, becomes an integer"},

    {"reads_g", "the expression reads g, an element's coordinates"},

    {"row_tail", "rows of the output may end within 16 bytes; threads then store their ends"},
    {"combines", "what a tile holds is combined with the destination (reduce_into)"},
    {"reloads", "a CTA may have more tiles than stages (copy, snapshot, map)"},

    {"cut", "a vector, block or chunk may be cut by an edge"},
    {"staggered", "the destination's rows begin between boundaries of vectors"},
    {"wraps", "a word of the destination may reach beyond the end of its last dimension"},
    {"vector8", "a transpose's vectors have eight bytes"},
    {"vector16", "a transpose's vectors have sixteen bytes"},
    {"padded", "a source does not reach all of the destination"},
    {"computes", "an expression is computed"},
    {"contiguous", "the destination's last dimension is contiguous"},
    {"elements", "a source's elements, or some tensors', are moved one by one"},
    {"columns",
     "threads side by side reduce items side by side in what is kept (reduce), or own columns (scan)"},
    {"ended", "what is reduced is one row, whose elements in no whole vector are taken one by one (reduce)"},
    {"ranged", "a row that is loaded as vectors may have part of one (reduce)"},
    {"split", "several CTAs share what comes together (reduce), or a row (scan)"},
    {"packed", "a tile has whole rows (scan)"},
    {"dense", "rows of a tile are neighbours in memory (scan)"},
    {"crosses", "a vector may have elements of two of them (scan)"},
    {"short_rows", "a row is shorter than a vector (scan)"},
    {"alone", "one thread walks a column from its first row to its last (scan)"},
    {"image", "a source comes through an image in shared memory"},

    {"engine", "the copy engine loads the planes of a stencil, or windows (im2col, convolution)"},
    {"edges", "threads write what lies beyond an edge of a stencil's source"},
};

void require_known(std::string_view name) {
  if (std::ranges::find(known_flags, name, &KnownFlag::name) != std::ranges::end(known_flags)) return;
  throw Error(ErrorCode::internal, fmt::format("there is no flag \"{}\"", name));
}

}  // namespace

Flags Flags::everything() {
  Flags all;
  all.keeps_all_ = true;
  for (const KnownFlag& flag : known_flags) all.set_.emplace(flag.name);
  return all;
}

void Flags::set(std::string_view name, bool on) {
  require_known(name);
  if (on) set_.emplace(name);
}

void Flags::set_size(std::uint32_t bytes) {
  if (bytes <= 8) set(fmt::format("bytes{}", bytes));
  if (bytes >= 4) set("words");
}

void Flags::set_element(ElementType type) {
  const bool paired = type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::e4m3 ||
                      type == ElementType::e5m2;
  const std::uint32_t bytes = size_of(type);
  set_size(bytes);
  if (type == ElementType::tf32 || type == ElementType::tf32_ftz) set("tf32");
  if (paired) set("paired");
  if (bytes < 4 && !paired) set("narrow");
}

bool Flags::has(std::string_view name) const {
  require_known(name);
  return set_.contains(name);
}

TMAJIT_END
