#include "lint/checks.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// The most shared memory that a CTA can have on Hopper (CUDA C++ Programming Guide, compute capabilities).
constexpr std::uint64_t most_shared_bytes = 227 * 1024;

void check_size(const Kernel& kernel, const Event& event, Findings& findings) {
  const auto bytes = event.bytes.number();
  if (bytes == 0U) {
    findings.add(kernel, event.instruction, "copy.empty", "a bulk copy of 0 bytes", "at least 16 bytes",
                 "check how the size is computed");
    return;
  }
  if (kernel.values.misaligned(event.bytes, 4)) {
    const Residue residue = kernel.values.residue(event.bytes);
    findings.add(kernel, event.instruction, "copy.global-alignment",
                 bytes ? fmt::format("a bulk copy of {} bytes", *bytes)
                       : fmt::format("a bulk copy of {} bytes more than a multiple of {}",
                                     residue.remainder % 16, 1U << std::min<std::uint32_t>(residue.bits, 4)),
                 "a multiple of 16 bytes", "copy the ends of the range with threads");
  }
  if (event.kind == Kind::prefetch) return;
  std::uint64_t room = most_shared_bytes;
  std::string where = "a CTA's shared memory";
  // Past a variable of known size, if the copy surely starts within it.
  const ptx::Variable* variable = kernel.values.variable_of(event.shared);
  if (variable != nullptr && event.shared.known >= 32 && event.shared.terms.size() == 1 &&
      event.shared.terms[0].factor == 1 && variable->extents.size() == 1 && variable->extents[0] &&
      variable->linkage != ptx::Linkage::extern_) {
    const std::uint64_t size = *variable->extents[0] * bits_of(variable->type) / 8;
    const std::uint64_t offset = event.shared.constant & low_bits(32);
    room = offset < size ? size - offset : 0;
    where = fmt::format("\"{}\" from there", variable->name);
  }
  if (bytes && *bytes > room) {
    findings.add(kernel, event.instruction, "shared.out-of-bounds",
                 fmt::format("a bulk copy of {} bytes", *bytes),
                 fmt::format("no more than the {} bytes of {}", room, where),
                 "check the stage's offset and the size of the buffer");
  }
}

void check_tensor(const Kernel& kernel, const Event& event, Findings& findings) {
  if (event.map == nullptr) return;
  const MapFacts& map = *event.map;
  if (map.rank != 0 && event.coordinates.size() != map.rank) {
    findings.add(
        kernel, event.instruction, "tensormap.rank",
        fmt::format("an instruction of {} dimensions on a map of {}", event.coordinates.size(), map.rank),
        "the same number", "use the instruction of the map's rank");
    return;
  }
  if (map.element_bytes == 0 || event.coordinates.empty()) return;
  const Value inner = kernel.values.multiply(event.coordinates.front(), map.element_bytes);
  if (kernel.values.misaligned(inner, 4)) {
    const Residue residue = kernel.values.residue(inner);
    const std::uint32_t modulus = 1U << std::min<std::uint32_t>(residue.bits, 4);
    findings.add(
        kernel, event.instruction, "copy.inner-coordinate",
        fmt::format("an innermost coordinate of {}-byte elements that is {} bytes off a multiple of {}",
                    map.element_bytes, residue.remainder % modulus, modulus),
        "a multiple of 16 bytes (else the instruction is illegal)", "round the coordinate down");
  }
}

void check_coordinates(const Kernel& kernel, const Event& event, Findings& findings) {
  for (std::size_t d = 0; d < event.coordinates.size(); ++d) {
    const auto number = event.coordinates[d].number();
    if (!number || static_cast<std::int32_t>(*number) >= 0) continue;
    findings.add(kernel, event.instruction, "store.negative-coordinate",
                 fmt::format("a tensor store at coordinate {} in dimension {} from the innermost",
                             static_cast<std::int32_t>(*number), d),
                 "coordinates that are not negative", "clip the tile on the kernel's side");
    return;
  }
}

}  // namespace

void check_copies(const Kernel& kernel, Findings& findings) {
  for (const Event& event : kernel.events) {
    if (event.kind != Kind::bulk_load && event.kind != Kind::bulk_store && event.kind != Kind::prefetch)
      continue;
    if (event.is_tensor) {
      check_tensor(kernel, event, findings);
      if (event.kind == Kind::bulk_store) check_coordinates(kernel, event, findings);
    } else {
      check_size(kernel, event, findings);
    }
  }
}

}  // namespace lint
TMAJIT_END
