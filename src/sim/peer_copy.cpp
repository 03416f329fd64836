/// Copies that one CTA of a cluster sends to another: the engine of the destination's CTA holds them.
#include "sim/cta.hpp"

#include <algorithm>
#include <cstring>

TMAJIT_BEGIN
namespace sim {

void Engine::begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  Copy range = copy;
  range.shared = copy.source_offset;
  check_source(range, warp, lane);
  reads_.push_back(copy);
  mark_unread();
}

void Engine::end_read(const Copy& copy) {
  const auto same = [&](const Copy& other) {
    return other.thread == copy.thread && other.place == copy.place &&
           other.source_offset == copy.source_offset && other.shared == copy.shared &&
           other.bytes == copy.bytes;
  };
  const auto found = std::ranges::find_if(reads_, same);
  if (found == reads_.end()) return;  // the CTA has ended, and has said so
  reads_.erase(found);
  for (std::uint32_t i = 0; i < copy.bytes; ++i)
    cta_.shadow()[copy.source_offset + i] &= static_cast<std::uint8_t>(~storing);
  mark_unread();
}

void Engine::complete_from_peer(const Copy& copy) {
  std::byte* const to = cta_.shared() + copy.shared;
  if (copy.deposit != nullptr) {
    copy.deposit(to, copy);
  } else {
    std::memcpy(to, copy.source->shared() + copy.source_offset, copy.bytes);
    copy.source->engine.end_read(copy);
  }
  if (!copy.reduces) std::memset(cta_.shadow() + copy.shared, initialised, copy.bytes);
}

}  // namespace sim
TMAJIT_END
