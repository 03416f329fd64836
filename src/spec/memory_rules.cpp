#include "spec/memory_rules.hpp"

#include "spec/counted.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr auto memory_source = "tmajit, tensors in memory";

std::string text_of(const PlacedOperand& operand, const std::string& name, const ByteRange& bytes) {
  return fmt::format("{} ({}, bytes {:#x} to {:#x})", name, view_text(*operand.view), bytes.first,
                     bytes.last);
}

/// Whether both operands have the same elements at the same indices.
bool identical(const PlacedOperand& a, const PlacedOperand& b) noexcept {
  if (a.address != b.address || size_of(a.view->type) != size_of(b.view->type)) return false;
  if (a.view->rank != b.view->rank) return false;
  for (std::uint32_t d = 0; d < a.view->rank; ++d) {
    if (a.view->shape[d] != b.view->shape[d]) return false;
    if (a.view->shape[d] != 1 && a.view->strides[d] != b.view->strides[d]) return false;
  }
  return true;
}

bool may_be_in_place(const PlacedOperand& a, const PlacedOperand& b) noexcept {
  return a.group == b.group && a.written != b.written && a.in_place && b.in_place && identical(a, b);
}

}  // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  return shape.empty() ? std::string("one element") : fmt::format("{}", fmt::join(shape, "x"));
}

std::string view_text(const TensorView& view) {
  const auto type = is_known(view.type) ? name(view.type) : std::string_view("unknown type");
  const std::uint32_t rank = std::min(view.rank, max_view_rank);
  std::string text = fmt::format("{} {}", type, shape_text(std::span(view.shape).first(rank)));
  if (rank == 0) return text;
  return text + fmt::format(" with strides {}", fmt::join(std::span(view.strides).first(rank), ","));
}

void check_view_limits(const TensorView& view, const std::function<std::string()>& name,
                       Violations& violations) {
  if (!is_known(view.type)) {
    violations.add({.rule = "type.known",
                    .subject = fmt::format("{}: type", name()),
                    .found = fmt::format("number {}", static_cast<unsigned>(view.type)),
                    .need = "one of the element types",
                    .legal = "f32, bf16, u8 … (docs/move.md)",
                    .source = "tmajit, ElementType"});
    return;
  }
  if (view.rank > max_view_rank) {
    violations.add({.rule = "rank.range",
                    .subject = fmt::format("{}: rank", name()),
                    .found = fmt::format("{} dimensions", view.rank),
                    .need = fmt::format("at most {} dimensions", max_view_rank),
                    .legal = "neighbouring dimensions merged, or several calls",
                    .source = "tmajit, TensorView"});
    return;
  }
  // Extents and the sum of all steps are limited, so that offsets never overflow 64 bits. Real addresses have
  // far fewer bits.
  std::uint64_t bytes = size_of(view.type);
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t stride = view.strides[d];
    const auto step = static_cast<std::uint64_t>(stride);
    const std::uint64_t steps = std::max<std::uint64_t>(view.shape[d], 2) - 1;
    bytes = sat_add(bytes, sat_mul(sat_mul(stride < 0 ? 0 - step : step, steps), size_of(view.type)));
    if (view.shape[d] <= max_span_bytes && bytes <= max_span_bytes) continue;
    violations.add({.rule = "view.bytes",
                    .subject = fmt::format("{}: dimension {}", name(), d),
                    .found = fmt::format("{} with stride {}", counted(view.shape[d], "element"), stride),
                    .need = "at most 2^62 elements, and 2^62 bytes from the first to the last of the tensor",
                    .legal = "a smaller shape or smaller strides",
                    .source = memory_source});
    return;
  }
}

void check_placed_address(const TensorView& view, DevicePtr address, std::uint64_t unit,
                          const std::function<std::string()>& name, Violations& violations) {
  if ((address != 0 && address % unit == 0) || view.elements() == 0) return;
  if (address == 0) {
    violations.add({.rule = "address.null",
                    .subject = fmt::format("{}: address", name()),
                    .found = "0",
                    .need = "an address of the device's memory",
                    .legal = "what DeviceMemory::allocate() returned, or any other pointer to device memory",
                    .source = memory_source});
    return;
  }
  violations.add({.rule = "address.alignment",
                  .subject = fmt::format("{}: address", name()),
                  .found = fmt::format("{:#x}", address),
                  .need = fmt::format("a multiple of {}", counted(unit, "byte")),
                  .legal = fmt::format("{:#x}", nearest_aligned(address, unit)),
                  .source = memory_source});
}

void check_written_once(const TensorView& view, DevicePtr address, const std::function<std::string()>& name,
                        Violations& violations) {
  const Overlap answer = self_overlap({view, address});
  if (answer == Overlap::none) return;
  const auto dense = dense_view(view.type, std::span(view.shape).first(view.rank));
  violations.add(
      {.rule = "view.overlap",
       .subject = fmt::format("{}: strides", name()),
       .found =
           fmt::format("{} for a shape of {}{}", fmt::join(std::span(view.strides).first(view.rank), ","),
                       shape_text(std::span(view.shape).first(view.rank)),
                       answer == Overlap::some ? ", which make several indices one element"
                                               : ", which may make several indices one element"),
       .need = "strides that give each index an element of its own, since each is written once",
       .legal = dense.span_bytes() > max_span_bytes
                    ? "a smaller shape"  // no strides would hold that many elements
                    : fmt::format("strides {}", fmt::join(std::span(dense.strides).first(dense.rank), ",")),
       .source = memory_source});
}

void check_disjoint(std::span<const PlacedOperand> operands, const OperandName& name,
                    Violations& violations) {
  struct Placed {
    std::size_t operand;
    ByteRange bytes;
  };
  std::vector<Placed> placed;
  placed.reserve(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const auto bytes = byte_range({*operands[i].view, operands[i].address})) {
      placed.push_back({i, *bytes});
    } else if (operands[i].view->elements() != 0) {
      violations.add({.rule = "address.range",
                      .subject = fmt::format("{}: address", name(i)),
                      .found = fmt::format("{:#x} for {}", operands[i].address, view_text(*operands[i].view)),
                      .need = "an address at which the whole tensor lies in the address space",
                      .legal = "the address of the element with all indices 0",
                      .source = memory_source});
    }
  }
  // Sorted by first byte, so that each operand is compared only with operands that begin before it ends.
  std::ranges::sort(placed, {}, [](const Placed& one) { return one.bytes.first; });
  for (std::size_t i = 0; i < placed.size(); ++i) {
    for (std::size_t j = i + 1; j < placed.size() && placed[j].bytes.first <= placed[i].bytes.last; ++j) {
      const PlacedOperand& a = operands[placed[i].operand];
      const PlacedOperand& b = operands[placed[j].operand];
      if ((!a.written && !b.written) || may_be_in_place(a, b)) continue;
      const Overlap answer =
          overlap({*a.view, a.address}, placed[i].bytes, {*b.view, b.address}, placed[j].bytes);
      if (answer == Overlap::none) continue;
      const bool may_be_destination = (a.written ? b : a).in_place;
      violations.add(
          {.rule = "memory.overlap",
           .subject = fmt::format("{} and {}", text_of(a, name(placed[i].operand), placed[i].bytes),
                                  text_of(b, name(placed[j].operand), placed[j].bytes)),
           .found = answer == Overlap::some ? "memory that they share"
                                            : "strides with which they may share memory",
           .need =
               "memory that they do not share: elements are moved in any order, so nothing may be written "
               "where another tensor is read or written",
           .legal = a.written && b.written
                        ? "memory of its own for each destination"
                        : fmt::format("memory of its own for the destination, or a third tensor in between{}",
                                      may_be_destination
                                          ? "; in place, the source must be exactly the destination's view"
                                          : ""),
           .source = memory_source});
    }
  }
}

TMAJIT_END
