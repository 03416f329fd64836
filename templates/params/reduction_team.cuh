// Which threads and CTAs share what comes together in a reduction.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

struct ReductionTeam {
  u64 partials;   // where what CTAs have that share items of what is kept stands in scratch memory
  Divider lanes;  // threads side by side in what stands first in their numbers
  u32 phases;     // threads that share an item of what is kept
  u32 owners;     // items of what is kept that threads side by side, or behind each other, have at a time
  u32 parts;      // CTAs that share them
  u32 group;      // of these that put theirs together first
  u32 groups;
};
//@ if host
static_assert(sizeof(ReductionTeam) == 40 && alignof(ReductionTeam) == 8);
static_assert(TMAJIT_OFFSET(ReductionTeam, lanes) == 8 && TMAJIT_OFFSET(ReductionTeam, phases) == 20);
//@ end

}  // namespace tmajit::params
