#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::permute_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder, bench::GiB, bench::KiB, bench::MiB, bench::Peers;

namespace {

/// A shape with few elements in the last dimension, for permutations that keep it last: kernels may move
/// these elements as one.
Shape shape_with_short_rows(TestCaseDraw& draw) {
  draw.aligned = false;
  Shape shape(between(draw.kernel_property_random, 3, 4));
  std::uint64_t left = draw.limits.elements;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::uint64_t about =
        std::min(between(draw.kernel_property_random, 2, 90), std::max<std::uint64_t>(left, 2));
    shape[d] = d + 1 < shape.size()
                   ? draw.extent(about)
                   : one_of(draw.kernel_property_random, std::array<std::uint64_t, 7>{2, 2, 4, 4, 8, 16, 3});
    left /= shape[d];
  }
  return shape;
}

void draw_test_case(TestCaseDraw& draw) {
  const bool keeps_last = one_in(draw.kernel_property_random, 3);
  const Shape shape = keeps_last ? shape_with_short_rows(draw) : draw.shape();
  std::vector<std::uint32_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end() - (keeps_last ? 1 : 0), draw.kernel_property_random);
  draw.test_case.arguments.set("axes", Dims(axes));
  draw.add_destination(draw.view(draw.type, shape, false));
  Shape source(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) source[axes[d]] = shape[d];
  draw.add_source(draw.view(draw.same_size_type(), source, true));
}

// Types of the table of permutations, and the types with which other libraries were measured.
constexpr std::array table_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};
constexpr std::array common_types{ElementType::f32, ElementType::bf16, ElementType::u8};

struct Permutation {
  Shape shape;
  std::vector<std::uint32_t> axes;
};

/// Adds a permutation; without a name its shape and axes name it.
Case& permute(CaseBuilder& list, const char* group, const Permutation& permutation, ElementType type,
              const std::string& name = {}) {
  Shape from;
  for (const std::uint64_t n : permutation.shape) from.push_back(list.scaled_extent(n));
  const std::string title =
      fmt::format("({})->({})", fmt::join(permutation.shape, ","), fmt::join(permutation.axes, ","));
  return list.add(group, name.empty() ? title : name, "permute", {{type, from}},
                  {{"axes", Dims(permutation.axes)}});
}

/// Adds a copy, a transpose and an exchange of the middle dimensions, each of `bytes`, with the size in its
/// name.
template <class Finish>
void add_series(CaseBuilder& list, const char* group, std::uint64_t bytes, ElementType type,
                const Finish& finish) {
  const std::string size = bench::human_bytes(bytes);
  const std::uint64_t elements = bytes / size_of(type);
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
  finish(list.add(group, size + " copy", "copy", {{type, {list.scaled_length(elements)}}}));
  finish(permute(list, group, {{1ULL << (bits / 2), 1ULL << (bits - bits / 2)}, {1, 0}}, type,
                 size + " transpose"));
  finish(permute(list, group, {{2, elements >> 10, 8, 64}, {0, 2, 1, 3}}, type, size + " heads"));
}

/// The table of permutations that other libraries were measured with.
const std::vector<Permutation>& table() {
  static const std::vector<Permutation> rows{
      {{16384, 16384}, {1, 0}},
      {{32768, 32768}, {1, 0}},
      {{8191, 8209}, {1, 0}},
      {{64, 128, 256, 512}, {0, 2, 1, 3}},
      {{64, 128, 256, 512}, {3, 2, 1, 0}},
      {{64, 128, 256, 512}, {0, 3, 1, 2}},
      {{64, 256, 512, 128}, {0, 3, 1, 2}},
      {{32, 64, 32, 64, 64}, {4, 2, 0, 3, 1}},
      {{512, 512, 1024}, {2, 0, 1}},
      {{32, 2048, 32, 128}, {0, 2, 1, 3}},
  };
  return rows;
}

/// The fraction of the driver's copy's speed that a permutation of 1 GiB must reach.
double min_ratio_of_permute(ElementType type) {
  switch (size_of(type)) {
    case 1: return 0.85;
    case 2: return 0.93;
    default: return 0.95;
  }
}

void add_table_of_peers(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      Case& added = permute(list, "peers", table()[row], type);
      added.odd = row == 2;
      // f64 is not compared with other libraries, which have no fast kernels for it.
      added.peers = type == ElementType::f64 ? Peers::none : Peers::all;
      added.quick = type != ElementType::f64 && (row == 0 || row == 2 || row == 3 || row == 4 || row == 7);
    }
  }
}

void add_one_gibibyte(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      if (row == 1 || row == 2) continue;  // row 1 equals row 0 at this size; row 2 has odd extents
      Permutation permutation = table()[row];
      const std::uint64_t elements = GiB / size_of(type);
      if (permutation.shape.size() == 2) {
        const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
        permutation.shape = {1ULL << (bits / 2), 1ULL << (bits - bits / 2)};
      } else {
        const auto rest = std::accumulate(permutation.shape.begin() + 1, permutation.shape.end(),
                                          std::uint64_t{1}, std::multiplies<>());
        permutation.shape[0] = elements / rest;
      }
      Case& added = permute(list, "1 GiB", permutation, type);
      added.peers = Peers::none;
      added.min_ratio = min_ratio_of_permute(type);
      added.quick = row == 0 || row == 7;
    }
  }
}

void add_odd_extents(CaseBuilder& list) {
  const std::vector<Permutation> permutations{
      {{16381, 16411}, {1, 0}},
      {{63, 127, 255, 129}, {0, 3, 1, 2}},
      {{63, 127, 255, 129}, {3, 2, 1, 0}},
      {{31, 2047, 33, 127}, {0, 2, 1, 3}},
  };
  for (const ElementType type : common_types) {
    for (const Permutation& p : permutations) permute(list, "odd", p, type).odd = true;
  }
}

void add_layouts(CaseBuilder& list) {
  const std::vector<std::pair<const char*, Permutation>> layouts{
      {"NCHW->NHWC", {{64, 256, 112, 112}, {0, 2, 3, 1}}},
      {"NHWC->NCHW", {{64, 112, 112, 256}, {0, 3, 1, 2}}},
      {"BSHD->BHSD", {{8, 4096, 32, 128}, {0, 2, 1, 3}}},
      {"BHSD->BSHD", {{8, 32, 4096, 128}, {0, 2, 1, 3}}},
      {"heads BS3HD->3BHSD", {{8, 4096, 3, 16, 128}, {2, 0, 3, 1, 4}}},
      {"quads kept", {{4096, 4096, 4}, {1, 0, 2}}},
      {"reversal of rank 5", {{32, 48, 40, 64, 36}, {4, 3, 2, 1, 0}}},
      {"reversal of rank 6", {{16, 24, 20, 32, 28, 18}, {5, 4, 3, 2, 1, 0}}},
  };
  for (const ElementType type : common_types) {
    for (const auto& [name, permutation] : layouts) permute(list, "layout", permutation, type, name);
  }
}

void add_random_permutations(CaseBuilder& list) {
  constexpr std::size_t permutations = 8;
  std::mt19937_64 random(list.seed());
  // The standard's distributions differ between libraries; remainders do not.
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (std::size_t k = 0; k < permutations; ++k) {
    const std::size_t rank = 3 + k % 4;
    const std::uint64_t middle = 1ULL << (27 / rank);
    Permutation permutation;
    for (std::uint32_t d = 0; d < rank; ++d) {
      permutation.shape.push_back(middle / 2 + below(middle + 1));
      permutation.axes.push_back(d);
    }
    do {
      for (std::size_t d = rank; d-- > 1;) std::swap(permutation.axes[d], permutation.axes[below(d + 1)]);
    } while (std::is_sorted(permutation.axes.begin(), permutation.axes.end()));
    permute(list, "random", permutation, common_types.at(k % common_types.size()));
  }
}

void add_small(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB}) {
    for (const ElementType type : common_types) {
      add_series(list, "small", bytes, type, [&](Case& added) {
        added.peers = Peers::eager;
        added.quick = type == ElementType::f32;
        if (bytes <= 4 * MiB) added.max_extra_us = 0.3;
      });
    }
  }
}

void add_sizes(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * MiB, 256 * MiB, 4 * GiB, 8 * GiB}) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      add_series(list, "size", bytes, type, [](Case& added) { added.peers = Peers::eager; });
    }
  }
}

void add_benchmark_cases(CaseBuilder& list) {
  add_table_of_peers(list);
  add_one_gibibyte(list);
  add_small(list);
  add_odd_extents(list);
  add_layouts(list);
  add_random_permutations(list);
  add_sizes(list);
}

Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const std::size_t rank = draw.random.between(2, 6);
  const Shape from = draw.shape(rank, 8 * bench::Mi, 256 * bench::Mi);
  const std::vector<std::uint32_t> axes = random_axes(draw.random, rank);
  return bench::make_case("random permutation",
                          fmt::format("({})->({})", fmt::join(from, ","), fmt::join(axes, ",")), "permute",
                          {{draw.type, from}}, {{"axes", Dims(axes)}});
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::permute_operation
