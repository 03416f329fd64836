#include "cache/nearby_kernels.hpp"

#include <algorithm>
#include <utility>

TMAJIT_BEGIN

NearbyKernels::NearbyKernels(const Levels& levels, bool any_compiler) {
  for (const auto& level : levels.all()) {
    if (level->kind() == CacheLevel::fleet) continue;
    for (CompilerIdentity& compiler : any_compiler ? level->all_compilers() : level->usable_compilers())
      compilers_.emplace_back(level.get(), std::move(compiler));
  }
}

bool NearbyKernels::has(const KeyFor& key_for) const {
  return std::ranges::any_of(compilers_, [&](const auto& of_level) {
    const auto& [level, compiler] = of_level;
    return level->has(key_for(compiler));
  });
}

CacheKey NearbyKernels::first_key(const KeyFor& key_for) const {
  return compilers_.empty() ? CacheKey{} : key_for(compilers_.front().second);
}

TMAJIT_END
