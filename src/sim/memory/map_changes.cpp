#include "sim/memory/map_changes.hpp"

TMAJIT_BEGIN
namespace sim {

void MapChanges::change(std::uint64_t address, std::uint64_t cta) {
  const std::lock_guard lock(mutex_);
  Change& change = changes_[address];
  change.cta = cta;
  change.changed = ++time_;
}

void MapChanges::publish(std::uint64_t address, std::uint64_t cta, bool cta_scope) {
  const std::lock_guard lock(mutex_);
  changes_[address] = {cta, time_ + 1, time_ + 2, cta_scope};
  time_ += 2;
}

void MapChanges::release(std::uint64_t cta, bool cta_scope) {
  const std::lock_guard lock(mutex_);
  last_release_ = ++time_;
  for (auto& [address, change] : changes_) {
    if (change.cta != cta || change.released > change.changed) continue;
    change.released = time_;
    change.cta_scope = cta_scope;
  }
}

void MapChanges::acquire(std::uint64_t address, std::uint64_t cta) {
  const std::lock_guard lock(mutex_);
  acquired_[{address, cta}] = ++time_;
}

MapChanges::Missing MapChanges::missing(std::uint64_t address, std::uint64_t cta) const {
  const std::lock_guard lock(mutex_);
  const auto change = changes_.find(address);
  std::uint64_t released = 0;
  if (change == changes_.end()) {
    if (last_release_ == 0) return Missing::release;
  } else {
    released = change->second.released;
    const bool reaches = !change->second.cta_scope || change->second.cta == cta;
    if (released < change->second.changed || !reaches) return Missing::release;
  }
  const auto acquired = acquired_.find({address, cta});
  return acquired == acquired_.end() || acquired->second < released ? Missing::acquire : Missing::nothing;
}

TensorMapSpec with_rank(const TensorMapSpec& spec, std::uint8_t rank) {
  TensorMapSpec changed = spec;
  changed.rank = rank;
  for (std::uint32_t ord = 0; ord < max_map_rank; ++ord) {
    const std::size_t from = index_of_ordinal(spec.rank, ord);
    const std::size_t to = index_of_ordinal(rank, ord);
    changed.shape[to] = spec.shape[from];
    changed.strides[to] = spec.strides[from];
    changed.box[to] = spec.box[from];
    changed.element_strides[to] = spec.element_strides[from];
  }
  return changed;
}

TensorMapSpec as_used(TensorMapSpec spec) {
  for (std::size_t d = spec.rank; d < max_map_rank; ++d) {
    spec.shape[d] = spec.strides[d] = 0;
    spec.box[d] = spec.element_strides[d] = 0;
  }
  // A map has no field for the stride of the innermost dimension.
  const std::uint32_t slice = 8U << static_cast<std::uint32_t>(spec.interleave);
  if (spec.rank != 0)
    spec.strides[spec.rank - 1U] = spec.interleave == Interleave::none ? size_of(spec.type) : slice;
  return spec;
}

}  // namespace sim
TMAJIT_END
