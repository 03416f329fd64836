// How threads and CTAs share the elements of a reduction.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

struct ReductionTeam {
  u64 partials;   // address in scratch memory of the partial results of CTAs that share result items
  Divider lanes;  // extent of the fastest varying part of thread numbers
  u32 phases;     // threads that share a result item
  u32 owners;     // result items that the CTA processes at a time
  u32 parts;      // CTAs that share result items
  u32 group;      // CTAs of one group, whose partial results are combined first
  u32 groups;
};
//@ if host
static_assert(sizeof(ReductionTeam) == 40 && alignof(ReductionTeam) == 8);
static_assert(TMAJIT_OFFSET(ReductionTeam, lanes) == 8 && TMAJIT_OFFSET(ReductionTeam, phases) == 20);
//@ end

}  // namespace tmajit::params
