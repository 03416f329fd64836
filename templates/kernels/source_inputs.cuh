// Elements of the sources, as a thread loaded them.
//@ # Facts of the kernel: Source<i>, AllSources.
#pragma once
#include "tmajit/values.cuh"

namespace tmajit {

constexpr u32 sources = AllSources::count;

template <u32 i>
using SourceBits = typename Bits<sizeof(typename Source<i>::Element)>::Type;

// `count` neighbouring elements of source i.
template <u32 i, u32 count>
struct SourceInput {
  Raw<sizeof(typename Source<i>::Element), count> bits;
};
template <u32 count, u32... i>
struct SourceInputs : SourceInput<i, count>... {};

}  // namespace tmajit
