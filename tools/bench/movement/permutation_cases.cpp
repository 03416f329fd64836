#include "case_groups.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <random>

namespace movement {

using tmajit::ElementType;

namespace {

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

/// Of the driver's copy, for transposes and permutes of 1 GiB.
double least_ratio_of_permute(ElementType type) {
  switch (tmajit::size_of(type)) {
    case 1: return 0.85;
    case 2: return 0.93;
    default: return 0.95;
  }
}

}  // namespace

void add_table_of_peers(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      Case& c = list.permute("peers", table()[row], type);
      c.odd = row == 2;
      // The table has no f64, and its peers nothing that is fast there.
      c.peers = type == ElementType::f64 ? Peers::none : Peers::all;
      c.quick = type != ElementType::f64 && (row == 0 || row == 2 || row == 3 || row == 4 || row == 7);
    }
  }
}

void add_one_gibibyte(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      if (row == 1 || row == 2) continue;  // the first again at this size; the odd one
      Permutation p = table()[row];
      const std::uint64_t elements = GiB / tmajit::size_of(type);
      if (p.shape.size() == 2) {
        const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
        p.shape = {1ULL << (bits / 2), 1ULL << (bits - bits / 2)};
      } else {
        const auto rest =
            std::accumulate(p.shape.begin() + 1, p.shape.end(), std::uint64_t{1}, std::multiplies<>());
        p.shape[0] = elements / rest;
      }
      Case& c = list.permute("1 GiB", p, type);
      c.peers = Peers::none;
      c.least_ratio = least_ratio_of_permute(type);
      c.quick = row == 0 || row == 7;
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
    for (const Permutation& p : permutations) list.permute("odd", p, type).odd = true;
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
    for (const auto& [name, permutation] : layouts) list.permute("layout", permutation, type, name);
  }
}

void add_random_permutations(CaseBuilder& list) {
  constexpr std::size_t permutations = 8;
  std::mt19937_64 random(list.options().seed);
  // The standard's distributions differ between libraries; remainders do not.
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (std::size_t k = 0; k < permutations; ++k) {
    const std::size_t rank = 3 + k % 4;
    const std::uint64_t middle = 1ULL << (27 / rank);
    Permutation p;
    for (std::uint32_t d = 0; d < rank; ++d) {
      p.shape.push_back(middle / 2 + below(middle + 1));
      p.axes.push_back(d);
    }
    do {
      for (std::size_t d = rank; d-- > 1;) std::swap(p.axes[d], p.axes[below(d + 1)]);
    } while (std::is_sorted(p.axes.begin(), p.axes.end()));
    list.permute("random", p, common_types.at(k % common_types.size()));
  }
}

}  // namespace movement
