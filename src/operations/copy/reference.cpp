#include "operations/references.hpp"
#include "reference/walk.hpp"

#include <cstring>

namespace reference {
namespace {

void copy(const tmajit::Move& move, const Part& part) {
  const std::uint32_t size = size_of(move.destination.view.type);
  for_each_pair(part_of(move.destination, part), part_of(move.sources.front(), part),
                [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, size); });
}

constexpr OperationReference copy_reference{.compute = copy};

}  // namespace

const OperationReference& reference_of(const tmajit::Copy& /*copy*/) noexcept {
  return copy_reference;
}

}  // namespace reference
