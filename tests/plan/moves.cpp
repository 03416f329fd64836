#include "plan/moves.hpp"

#include "families/general/general_facts.hpp"
#include "plan/cost_model.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace tests {

Tensor dense(ElementType type, const Shape& shape, DevicePtr address) {
  return {TensorView::contiguous(type, shape), address};
}

Tensor strided(ElementType type, const Shape& shape, const Strides& strides, DevicePtr address) {
  return {TensorView::strided(type, shape, strides), address};
}

Move permutation(ElementType type, const Shape& source, const std::vector<std::uint32_t>& axes) {
  const Tensor from = permuted(dense(type, source), axes);
  const Shape shape(from.view.shape.begin(), from.view.shape.begin() + from.view.rank);
  return {.destination = dense(type, shape, destination_address), .sources = {from}};
}

std::optional<std::uint64_t> number_of(const std::string& facts, std::string_view name) {
  const std::string declared = fmt::format("constexpr u32 {} = ", name);
  const std::size_t at = facts.find(declared);
  if (at == std::string::npos) return std::nullopt;
  return std::stoull(facts.substr(at + declared.size()));
}

std::string facts_text(const Candidate& candidate, const Problem& problem) {
  return candidate.family->source(candidate, problem.expression()).facts;
}

Candidate default_candidate(const Problem& problem) {
  const std::vector<Candidate> candidates = candidates_of(problem);
  return candidates.at(default_of(candidates));
}
Candidate default_candidate(const Move& move) {
  return default_candidate(make_problem(move));
}

std::string traits(const Candidate& candidate, const Problem& problem) {
  // Traits are derived from the source parts that every family has.
  const SourceParts parts = candidate.family->source(candidate, problem.expression());
  const std::string& facts = parts.facts;
  const auto is_set = [&](std::string_view flag) {
    return std::ranges::any_of(parts.flags,
                               [&](const TemplateFlag& one) { return one.is_set && one.name == flag; });
  };
  std::string text(candidate.family->name());
  if (!is_set("cut")) text += " whole";
  if (is_set("staggered")) text += " staggered";
  if (parts.pads) text += " padded";
  if (facts.find("using Offset = i64") != std::string::npos) text += " wide";
  if (const auto column = number_of(facts, "column")) text += fmt::format(" column {}", *column);
  if (!is_of_family(candidate, "general")) return text;
  const auto kernel = facts_of<GeneralFacts>(candidate);
  if (kernel.contiguous == 0) text += " strided";
  if (kernel.coordinates > 0)
    text += fmt::format(" g{}{}", kernel.coordinates, kernel.wide_coordinates != 0 ? ":64" : "");
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    const SourceFacts& source = kernel.source[i];
    text += fmt::format(" {}", tmajit::name(source.access));
    if (source.access == Access::run) text += fmt::format(":{}", source.stride);
    if (source.access == Access::image && source.row_in_line != 0) text += ":row";
  }
  return text;
}

std::vector<KnownMove> known_moves() {
  constexpr auto u8 = ElementType::u8;
  constexpr auto f16 = ElementType::f16;
  constexpr auto f32 = ElementType::f32;
  constexpr auto f64 = ElementType::f64;
  const auto to = [](ElementType type, const Shape& shape, DevicePtr shift = 0) {
    return dense(type, shape, destination_address + shift);
  };
  const Tensor square = dense(f32, {4096, 4096});
  const Tensor turned = permuted(square, std::vector<std::uint32_t>{1, 0});
  const auto pad = [](const std::vector<std::int64_t>& before) { return Padding{before, 1.5}; };
  return {
      // Both tensors are contiguous in the last dimension and aligned to 16 bytes.
      {"dense copy", {to(f32, {4096, 4096}), {square}}, "rows whole"},
      {"rows of a wider matrix", {to(f32, {100, 512}), {strided(f32, {100, 512}, {1024, 1})}}, "rows whole"},
      {"tokens and heads exchanged", permutation(f16, {8, 512, 16, 64}, {0, 2, 1, 3}), "rows whole"},
      {"a row repeated", {to(f32, {512, 1024}), {strided(f32, {512, 1024}, {0, 1})}}, "rows whole"},
      {"rows 2 GiB apart",
       {to(u8, {8, 64}), {strided(u8, {8, 64}, {std::int64_t{1} << 31, 1})}},
       "rows whole wide"},

      // The tensors are contiguous in different dimensions.
      {"transpose", permutation(f32, {4096, 4096}, {1, 0}), "transpose whole column 0"},
      {"transpose, cut blocks", permutation(f16, {1000, 1004}, {1, 0}), "direct_transpose whole column 0"},
      {"transpose, odd rows", permutation(u8, {1001, 1003}, {1, 0}), "transpose staggered column 0"},
      {"transpose of 8 bytes", permutation(f64, {512, 256}, {1, 0}), "direct_transpose whole column 0"},
      {"NCHW to NHWC", permutation(f16, {8, 64, 56, 56}, {0, 2, 3, 1}), "transpose whole column 1"},
      {"three dimensions reversed", permutation(f32, {64, 96, 128}, {2, 1, 0}), "transpose whole column 0"},
      {"a column repeated",
       {to(f32, {512, 1024}), {strided(f32, {512, 1024}, {1, 0})}},
       "general whole repeat"},
      // Elements that stay together move as one.
      {"complex numbers", permutation(f64, {512, 256, 2}, {1, 0, 2}), "direct_transpose whole column 0"},
      {"pixels of four bytes", permutation(u8, {501, 255, 4}, {1, 0, 2}), "transpose staggered column 0"},
      {"pixels of three bytes", permutation(u8, {501, 255, 3}, {1, 0, 2}), "general staggered run:1"},

      // Other views.
      {"source 4 bytes off",
       {to(f32, {4096, 64}), {dense(f32, {4096, 64}, source_address + 4)}},
       "general whole run:1"},
      {"destination 4 bytes off",
       {to(f32, {4096, 64}, 4), {dense(f32, {4096, 64})}},
       "general staggered run:1"},
      {"odd bytes", {to(u8, {999}, 1), {dense(u8, {999})}}, "general staggered run:1"},
      {"single element", {to(f32, {1, 1}), {dense(f32, {1, 1})}}, "general run:1"},
      {"one element everywhere",
       {to(f32, {256, 1024}), {strided(f32, {256, 1024}, {0, 0})}},
       "general whole repeat"},
      {"rows backwards",
       {to(f32, {64, 1024}), {strided(f32, {64, 1024}, {1024, -1}, source_address + 4092)}},
       "general whole run:-1"},
      {"every second f32",
       {to(f32, {64, 512}), {strided(f32, {64, 512}, {1024, 2})}},
       "general whole elements"},
      {"elements 4 GiB apart",
       {to(f32, {4, 64}), {strided(f32, {4, 64}, {std::int64_t{1} << 30, 2})}},
       "general whole wide elements"},
      {"every third byte", {to(u8, {64, 512}), {strided(u8, {64, 512}, {1600, 3})}}, "general whole run:3"},
      {"every ninth byte",
       {to(u8, {64, 512}), {strided(u8, {64, 512}, {4608, 9})}},
       "general whole elements"},
      {"into every second byte",
       {strided(u8, {64, 512}, {1024, 2}, destination_address), {dense(u8, {64, 512})}},
       "general whole strided run:1"},
      {"two columns of bytes", permutation(u8, {1000, 2}, {1, 0}), "general whole run:2"},
      {"two columns of a wide matrix",
       {to(u8, {2, 1008}), {strided(u8, {2, 1008}, {1, 64})}},
       "general whole elements"},
      {"columns backwards",
       {to(f32, {512, 512}), {strided(f32, {512, 512}, {-1, 512}, source_address + 511ULL * 4)}},
       "general whole image"},
      {"padded", {to(f16, {130, 136}), {dense(f16, {128, 128})}, pad({1, 2})}, "general padded run:1"},
      {"padded transpose",
       {to(f32, {128, 132}), {permuted(dense(f32, {128, 128}), std::vector{1U, 0U})}, pad({0, 1})},
       "general padded elements"},
      {"padded repeats",
       {to(u8, {4, 20}), {strided(u8, {4, 5}, {5, 0})}, pad({0, 3})},
       "general staggered padded repeat"},

      // Computing moves.
      {"sum", {to(f32, {4096, 4096}), {square, square}, Map{"x0 + x1"}}, "general whole run:1 run:1"},
      {"sum with a transpose",
       {to(f32, {4096, 4096}), {square, turned}, Map{"x0 + x1"}},
       "general whole run:1 image"},
      {"sum of transposes, one backwards",
       {to(f32, {512, 512}),
        {strided(f32, {512, 512}, {1, 512}),
         strided(f32, {512, 512}, {-1, 512}, source_address + 511ULL * 4)},
        Map{"x0 - x1"}},
       "general whole image elements"},
      {"sum with a staggered transpose",
       {to(f32, {512, 510}, 4), {permuted(dense(f32, {510, 512}), std::vector{1U, 0U})}, Map{"x * 2"}},
       "general staggered image"},
      {"lines through the row",
       {to(f16, {64, 8, 16}), {strided(f16, {64, 8, 16}, {128, 1, 8})}, Map{"x + x"}},
       "general whole image:row"},
      {"bias",
       {to(f16, {512, 1024}), {dense(f16, {512, 1024}), strided(f16, {512, 1024}, {0, 1})}, Map{"x0 + x1"}},
       "general whole run:1 run:1"},
      {"scale of rows",
       {to(f16, {512, 1024}), {dense(f16, {512, 1024}), strided(f32, {512, 1024}, {1, 0})}, Map{"x0 * x1"}},
       "general whole run:1 repeat"},
      {"cast", {to(f32, {512, 1024}), {dense(f16, {512, 1024})}, Map{"x"}}, "general whole run:1"},
      {"coordinates",
       {to(f32, {3, 512, 1024}), {dense(f32, {3, 512, 1024})}, Map{"x + g[0] * 2 + g[2]"}},
       "general whole g3 run:1"},
      {"coordinates beyond 32 bits",
       {to(u8, {1ULL << 33}), {dense(u8, {1ULL << 33})}, Map{"g[0] % 251"}},
       "general whole g1:64 run:1"},
      {"coordinates of a staggered row",
       {to(u8, {31, 33}), {dense(f64, {31, 33})}, Map{"x + g[1]"}},
       "general staggered g2 run:1"},
  };
}

Move random_permutation(Random& random) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  const auto rank = static_cast<std::uint32_t>(between(random, 2, 6));
  Shape shape;
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < rank; ++d) {
    shape.push_back(between(random, 2, rank < 4 ? 2000 : 90));
    axes.push_back(d);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  return permutation(one_of(random, types), shape, axes);
}

Move random_move(std::uint64_t seed, std::uint64_t max_drawn_extent) {
  Random random(seed);
  const auto rank = static_cast<std::uint32_t>(between(random, 1, 5));
  Shape shape(rank);
  for (std::uint64_t& extent : shape) {
    extent = one_in(random, 3) ? between(random, 1, 9) : between(random, 1, max_drawn_extent);
  }
  const std::uint64_t kind = between(random, 0, 2);  // bits, padded bits, computed

  const auto tensor = [&](ElementType type, DevicePtr address, bool repeatable) {
    std::vector<std::uint32_t> order(rank);
    std::iota(order.begin(), order.end(), 0U);
    if (!one_in(random, 3)) std::ranges::shuffle(order, random);
    Strides strides(rank);
    std::int64_t next = one_in(random, 4) ? static_cast<std::int64_t>(between(random, 2, 9)) : 1;
    std::int64_t first = 0;
    for (std::uint32_t k = rank; k-- > 0;) {
      const std::uint32_t d = order[k];
      strides[d] = next;
      next *= static_cast<std::int64_t>(shape[d] + (one_in(random, 4) ? between(random, 1, 9) : 0));
      if (repeatable && one_in(random, 5)) strides[d] = 0;
      if (one_in(random, 5)) strides[d] = -strides[d];
      if (strides[d] < 0) first -= strides[d] * static_cast<std::int64_t>(shape[d] - 1);
    }
    const std::uint64_t shift = one_in(random, 2) ? 0 : between(random, 0, 15);
    return strided(type, shape, strides, address + (static_cast<DevicePtr>(first) + shift) * size_of(type));
  };

  Move move{.destination = tensor(one_of(random, all_element_types), destination_address, false),
            .sources = {}};
  const ElementType type = move.destination.view.type;
  if (kind == 2) {
    const std::uint64_t sources = between(random, 1, max_inputs);
    for (std::uint64_t i = 0; i < sources; ++i) {
      move.sources.push_back(tensor(one_of(random, all_element_types), source_address, true));
    }
    move.body = Map{one_in(random, 3) ? "x0 + g[0]" : "x0"};
  } else {
    move.sources.push_back(tensor(type, source_address, true));
    if (kind == 1) {
      std::vector<std::int64_t> before(rank);
      for (std::int64_t& width : before) width = static_cast<std::int64_t>(between(random, 0, 8)) - 4;
      move.body = Padding{.before = before, .value = 1};
    }
  }
  return move;
}

}  // namespace tests
