#include "lint/checks.hpp"

#include <tmajit/combine.hpp>

#include <algorithm>
#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// The most shared memory that a CTA can have on Hopper (CUDA C++ Programming Guide, compute capabilities).
constexpr std::uint64_t max_shared_bytes = 227ULL * 1024;
/// The alignment of a tensor map in bytes. At other addresses, copies by it fail on an H100 with
/// CUDA_ERROR_MISALIGNED_ADDRESS (716).
constexpr std::uint32_t map_alignment = 64;

/// The alignment with which the module declares a variable, in bytes.
std::uint64_t declared_alignment(const ptx::Variable& variable) {
  const std::uint32_t natural = std::max(bits_of(variable.type) / 8, 1U) * variable.vector_width;
  return variable.alignment.value_or(natural);
}

/// The checks of one event.
struct Check {
  const Kernel& kernel;
  const Event& event;
  Findings& findings;

  void add(check::RuleId rule, std::string found, std::string expected = {}) const {
    findings.add(event.instruction, rule, std::move(found), std::move(expected));
  }
  [[nodiscard]] bool is_misaligned(const Value& value, std::uint32_t alignment) const {
    return kernel.values.misaligned(value, static_cast<std::uint32_t>(std::countr_zero(alignment)));
  }
  /// The value's remainder and its modulus: the largest known power of two up to `alignment`.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> excess(const Value& value,
                                                               std::uint32_t alignment) const {
    const Residue residue = kernel.values.residue(value);
    const std::uint64_t modulus =
        std::min<std::uint64_t>(alignment, 1ULL << std::min<std::uint32_t>(residue.bits, 62));
    return {residue.remainder % modulus, modulus};
  }
  void require(const Value& address, std::uint32_t alignment, check::RuleId rule,
               std::string_view what) const {
    if (!is_misaligned(address, alignment)) return;
    const auto [more, multiple] = excess(address, alignment);
    const auto number = address.number();
    add(rule,
        number ? fmt::format("{} at address {:#x}", what, *number)
               : fmt::format("{} at an address that is {} more than a multiple of {}", what, more, multiple),
        fmt::format("a multiple of {}", alignment));
  }

  void access() const {
    if (!std::has_single_bit(event.access_bytes)) return;
    require(event.shared, event.access_bytes, "address.misaligned",
            fmt::format("an access of {} bytes", event.access_bytes));
  }
  void barrier() const { require(event.barrier, 8, "mbarrier.address", "an mbarrier"); }
  void copy() const {
    if (!event.is_tensor) require(event.global, 16, "copy.global-alignment", "a bulk copy of global memory");
    if (event.kind == Kind::bulk_load) barrier();
    if (event.kind != Kind::prefetch) shared_address();
    if (!event.is_tensor) return size();
    map_address();
    offsets();
    if (event.map != nullptr) tensor(*event.map);
    if (event.kind == Kind::bulk_store) coordinates();
  }

  void shared_address() const {
    const std::uint32_t needed = event.is_tensor ? 128 : 16;
    if (is_misaligned(event.shared, needed)) {
      require(event.shared, needed, "copy.shared-alignment",
              event.is_tensor ? "a tile in shared memory" : "a bulk copy's shared memory");
    } else if (event.map != nullptr && event.map->alignment > needed) {
      require(event.shared, event.map->alignment, "copy.swizzle-base", "a swizzled tile");
    }
    report_chance(needed);
  }

  /// Reports an address that is aligned by chance: it is a multiple of `needed` if the address of its
  /// variable is one, but the variable is declared with a smaller alignment.
  void report_chance(std::uint32_t needed) const {
    const ptx::Variable* const variable = kernel.values.variable_of(event.shared);
    // The launch decides where dynamic shared memory begins.
    if (variable == nullptr || variable->linkage == ptx::Linkage::extern_ || !event.shared.exact()) return;
    const std::uint64_t declared = declared_alignment(*variable);
    if (declared >= needed || event.shared.constant % needed != 0) return;
    const auto is_aligned = [&](const Term& term) {
      const int alignment = kernel.values.symbol(term.symbol).alignment;
      return std::countr_zero(term.factor) + alignment >= std::countr_zero(needed);
    };
    const auto& terms = event.shared.terms;
    const auto unaligned = std::ranges::find_if_not(terms, is_aligned);
    if (unaligned == terms.end() || !std::all_of(unaligned + 1, terms.end(), is_aligned)) return;
    if (unaligned->factor != 1 || kernel.values.symbol(unaligned->symbol).variable != variable) return;
    add("copy.alignment-by-chance",
        fmt::format("a bulk copy needs a multiple of {} in shared memory, and \"{}\" is declared with an "
                    "alignment of {}",
                    needed, variable->name, declared));
  }

  /// Reports a map that is misaligned, or whose parameter or variable is not declared with the alignment that
  /// a map needs.
  void map_address() const {
    if (is_misaligned(event.map_address, map_alignment))
      return require(event.map_address, map_alignment, "tensormap.alignment", "a tensor map");
    constexpr int bits = std::countr_zero(map_alignment);
    const Value& address = event.map_address;
    const ptx::Variable* const variable = kernel.values.variable_of(address);
    if (variable == nullptr || variable->linkage == ptx::Linkage::extern_ || address.known < bits) return;
    // The parameters of functions, and variables in local or shared memory, cannot hold maps for copies.
    const bool can_hold_maps =
        variable->space == ptx::StateSpace::global || variable->space == ptx::StateSpace::constant ||
        (variable->space == ptx::StateSpace::param && kernel.function.function->is_entry);
    const std::uint64_t declared = declared_alignment(*variable);
    if (!can_hold_maps || declared >= map_alignment) return;
    const bool is_unaligned = std::ranges::any_of(address.terms, [&](const Term& term) {
      const auto& symbol = kernel.values.symbol(term.symbol);
      return symbol.variable == variable && term.factor == 1 && symbol.alignment < bits;
    });
    if (!is_unaligned) return;
    add("tensormap.alignment",
        fmt::format("a tensor map in \"{}\", which is declared with an alignment of {}", variable->name,
                    declared),
        fmt::format("an alignment of {}", map_alignment));
  }

  void size() const {
    const auto bytes = event.bytes.number();
    if (bytes == 0U) return add("copy.empty", "a bulk copy of 0 bytes");
    if (is_misaligned(event.bytes, 16)) {
      const auto [more, multiple] = excess(event.bytes, 16);
      add("copy.global-alignment",
          bytes ? fmt::format("a bulk copy of {} bytes", *bytes)
                : fmt::format("a bulk copy of {} bytes more than a multiple of {}", more, multiple));
    }
    if (event.kind == Kind::prefetch || !bytes) return;
    std::uint64_t room = max_shared_bytes;
    std::string where = "a CTA's shared memory";
    // The limit is the end of the variable, if its size is known and the copy surely starts within it.
    const ptx::Variable* variable = kernel.values.variable_of(event.shared);
    if (variable != nullptr && event.shared.known >= 32 && event.shared.terms.size() == 1 &&
        event.shared.terms[0].factor == 1 && variable->extents.size() == 1 && variable->extents[0] &&
        variable->linkage != ptx::Linkage::extern_) {
      const std::uint64_t size = *variable->extents[0] * bits_of(variable->type) / 8;
      const std::uint64_t offset = event.shared.constant & low_bits(32);
      room = offset < size ? size - offset : 0;
      where = fmt::format("\"{}\" from there", variable->name);
    }
    if (*bytes <= room) return;
    add("shared.out-of-bounds", fmt::format("a bulk copy of {} bytes", *bytes),
        fmt::format("no more than the {} bytes of {}", room, where));
  }

  void offsets() const {
    const std::uint64_t limit =
        1ULL << pixel_offset_bits(static_cast<std::uint32_t>(event.coordinates.size()));
    for (const Value& offset : event.offsets) {
      const auto number = offset.number();
      if (!number || *number < limit) continue;
      return add("im2col.offset",
                 fmt::format("an offset of {} at {} coordinates", *number, event.coordinates.size()),
                 fmt::format("0 to {}", limit - 1));
    }
  }

  void tensor(const MapFacts& map) const {
    const std::size_t rank = event.coordinates.size();
    if (map.mode && *map.mode != event.mode)
      return add("tensormap.mode", fmt::format("an instruction of mode {} on a map of mode {}",
                                               name(event.mode), name(*map.mode)));
    if (map.rank != 0 && rank != map.rank)
      return add("tensormap.rank",
                 fmt::format("an instruction of {} dimensions on a map of {}", rank, map.rank));
    if (event.reduction && map.type) reduction(*event.reduction, *map.type);
    if (map.element_bytes == 0 || rank == 0) return;
    const Value inner = kernel.values.multiply(event.coordinates.front(), map.element_bytes);
    if (!is_misaligned(inner, 16)) return;
    const auto [more, multiple] = excess(inner, 16);
    add("copy.inner-coordinate",
        fmt::format("an innermost coordinate of {}-byte elements that is {} bytes off a multiple of {}",
                    map.element_bytes, more, multiple));
  }

  void reduction(CombineOp op, ElementType type) const {
    // The engine treats f32_ftz as f32.
    const ElementType reduced = type == ElementType::f32_ftz ? ElementType::f32 : type;
    const auto as = combined_as(op, reduced);
    // The engine has all reductions of u32 for i32, too, except inc and dec.
    if (as && (*as == reduced || reduced == ElementType::i32)) return;
    add("reduce.type", fmt::format("a reduction by {} into a tensor of {}", name(op), name(type)),
        as ? fmt::format("a map of {}, which gives the same bits", name(*as)) : "");
  }

  void coordinates() const {
    for (std::size_t d = 0; d < event.coordinates.size(); ++d) {
      const auto number = event.coordinates[d].number();
      if (!number || static_cast<std::int32_t>(*number) >= 0) continue;
      return add("store.negative-coordinate",
                 fmt::format("a tensor store at coordinate {} in dimension {} from the innermost",
                             static_cast<std::int32_t>(*number), d));
    }
  }
};

}  // namespace

void check_accesses(const Kernel& kernel, Findings& findings) {
  for (const Event& event : kernel.events) {
    const Check check{kernel, event, findings};
    switch (event.kind) {
      case Kind::access:
      case Kind::write: check.access(); break;
      case Kind::bulk_load:
      case Kind::bulk_store:
      case Kind::prefetch: check.copy(); break;
      case Kind::init:
      case Kind::invalidate:
      case Kind::expect:
      case Kind::arrive_expect:
      case Kind::arrive:
      case Kind::wait: check.barrier(); break;
      default: break;
    }
  }
}

}  // namespace lint
TMAJIT_END
