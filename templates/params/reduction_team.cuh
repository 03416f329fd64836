// How threads and CTAs share the elements of a reduction. The result items are cut into tiles. Each CTA of a tile reduces a part
// of its elements, and several threads of a CTA may share a result item.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

struct ReductionTeam {
  u64 partials;           // offset in scratch memory of the CTAs' partial results
  Divider inner_threads;  // tile_items if neighbouring threads take neighbouring result items, else threads_per_item
  u32 threads_per_item;   // threads of a CTA that share a result item
  u32 tile_items;         // result items of a tile
  u32 parts;              // CTAs that share a tile
  u32 group;              // CTAs of one group, whose partial results are combined first
  u32 groups;             // groups of a tile
};
//@ if host
static_assert(sizeof(ReductionTeam) == 40 && alignof(ReductionTeam) == 8);
static_assert(TMAJIT_OFFSET(ReductionTeam, inner_threads) == 8 && TMAJIT_OFFSET(ReductionTeam, threads_per_item) == 20);
//@ end

}  // namespace tmajit::params
