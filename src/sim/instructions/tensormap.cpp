/// Instructions by which a kernel changes tensor maps: tensormap.replace (PTX ISA 9.7.9.28),
/// tensormap.cp_fenceproxy (9.7.13.16), and the fences between the generic proxy and the tensormap proxy
/// (9.7.13.4). A selector (select_…) decodes an instruction into a micro-operation, whose handler executes it
/// for the lanes of a warp.
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The fields of a map that tensormap.replace can change.
enum class Field : std::uint32_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
};
/// PTX's names of the fields, in the order of Field.
constexpr const char* field_names[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                       "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                       "swizzle_mode",   "fill_mode"};

/// Element types by the PTX ISA's numbers, which differ from the driver's.
constexpr ElementType element_types[] = {
    ElementType::u8,   ElementType::u16,  ElementType::u32,     ElementType::i32,     ElementType::u64,
    ElementType::i64,  ElementType::f16,  ElementType::f32,     ElementType::f32_ftz, ElementType::f64,
    ElementType::bf16, ElementType::tf32, ElementType::tf32_ftz};

/// The fields whose new value has 64 bits. Other fields take 32 bits.
constexpr bool has_64_bits(Field field) {
  return field == Field::global_address || field == Field::global_stride;
}

/// The number n of legal values of a field: 0 to n − 1 are legal. Returns 0 if any value is legal.
constexpr std::uint64_t count_of_values(Field field) {
  switch (field) {
    case Field::rank: return max_map_rank;
    case Field::elemtype: return std::size(element_types);
    case Field::interleave_layout: return 3;
    case Field::swizzle_mode: return 4;
    case Field::fill_mode: return 2;
    default: return 0;
  }
}

/// The highest legal ordinal of a field. The ordinal selects the dimension, counted from the innermost. It is
/// one less for strides, because the innermost dimension has none.
std::uint32_t last_ordinal(Field field) {
  return field == Field::global_stride ? max_map_rank - 2 : max_map_rank - 1;
}

/// Sets a field, of the dimension that `ordinal` selects if the field has several. The values must be legal.
void set_field(TensorMap& map, Field field, std::uint32_t ordinal, std::uint64_t value) {
  TensorMapSpec& spec = map.spec;
  const std::size_t d = index_of_ordinal(spec.rank, ordinal);
  const auto word = static_cast<std::uint32_t>(value);
  switch (field) {
    case Field::global_address: map.address = value; break;
    case Field::rank: spec = with_rank(spec, static_cast<std::uint8_t>(value + 1)); break;  // 0 means rank 1
    case Field::box_dim: spec.box[d] = word; break;
    case Field::global_dim: spec.shape[d] = word; break;
    // The innermost dimension has no stride, so ordinal 0 selects the next dimension.
    case Field::global_stride: spec.strides[index_of_ordinal(spec.rank, ordinal + 1)] = value; break;
    case Field::element_stride: spec.element_strides[d] = word; break;
    case Field::elemtype: spec.type = element_types[value]; break;
    case Field::interleave_layout: spec.interleave = static_cast<Interleave>(value); break;
    case Field::swizzle_mode: spec.swizzle = static_cast<Swizzle>(value); break;
    case Field::fill_mode: spec.oob_fill = static_cast<OobFill>(value); break;
  }
}

bool is_tf32(ElementType type) {
  return type == ElementType::tf32 || type == ElementType::tf32_ftz;
}

/// Reports a change of the element type from tf32 to another type. On an H200 (docs/tma.md), after a change
/// to f32, loads still round to tf32: returns true, and the map must keep its type. After a change to any
/// other type, every copy is illegal: calls Warp::fail(), which throws. Returns false for a legal change.
bool check_change_from_tf32(Warp& warp, std::uint32_t lane, ElementType from, ElementType to) {
  if (!is_tf32(from) || is_tf32(to)) return false;
  const bool still_rounds = to == ElementType::f32 || to == ElementType::f32_ftz;
  std::string found = fmt::format(
      "tensormap.replace changes a tensor map's type from {} to {}, {}", name(from), name(to),
      still_rounds ? "but its loads go on rounding to tf32" : "after which every copy by it is illegal");
  constexpr auto legal = "tf32 or tf32_ftz, or a map that the driver encoded with another type";
  if (!still_rounds) warp.fail(lane, "tensormap.field", std::move(found), legal);
  warp.report(lane, "tensormap.field", std::move(found), legal);
  return true;
}

/// Tells the race detector that a lane reads or writes all bytes of the map at `address`.
void record_access(Warp& warp, std::uint32_t lane, const Target& at, std::uint64_t address, bool write) {
  if (!warp.cta->races || (!at.shared && !at.global)) return;
  // Two accesses of half a map: one access must not cross a line (128 bytes) of the race detector's shadow,
  // and a map is aligned to only 64.
  constexpr std::uint32_t half = map_bytes / 2;
  std::array<std::uint64_t, lanes> addresses{};
  const std::uint64_t begin = at.shared ? at.owner->in_cluster(at.offset) : address;
  for (std::uint32_t i = 0; i < 2; ++i) {
    addresses[lane] = begin + std::uint64_t{i} * half;
    warp.cta->races->access(warp, {at.shared ? Memory::shared : Memory::global, half, write, {}}, addresses,
                            1U << lane);
  }
}

/// Reports a change of the map at `address` if a copy in flight uses the map. Checks only copies of the
/// thread's own cluster.
void check_map_not_in_use(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  Cluster& cluster = warp.cta->cluster;
  for (std::uint32_t rank = 0; rank < cluster.size(); ++rank) {
    if (!cluster.cta(rank).engine.uses_map(address)) continue;
    warp.report(lane, "tensormap.in-use",
                fmt::format("a change of the tensor map at {:#x}, which a copy in flight uses", address));
    return;
  }
}

/// If all 128 bytes are zero, returns a map of u8, of rank 1 and without extents; else nullopt. Compilers
/// build maps from zeros by setting every field. If a field is still missing when a copy uses the map, the
/// copy is reported as one by an illegal map.
std::optional<TensorMap> blank_map(const std::byte* bytes) {
  if (!std::all_of(bytes, bytes + map_bytes, [](std::byte each) { return each == std::byte{}; }))
    return std::nullopt;
  TensorMap blank;
  blank.spec.type = element_types[0];
  blank.spec.rank = 1;
  return blank;
}

/// Executes tensormap.replace. op.aux: index of the map's MemoryAccess; op.a: slot of the new value; op.b:
/// the ordinal; op.c: the Field.
void replace(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  const auto field = static_cast<Field>(op.c);
  Cta& cta = *warp.cta;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target at = resolve(warp, lane, access.space, address, map_bytes, map_alignment, true);
    if (!at.shared && !at.global)
      warp.fail(lane, "tensormap.space", fmt::format("tensormap.replace at {:#x}, in local memory", address),
                "a tensor map in shared or global memory");
    if (!check_shadow(warp, lane, at, map_bytes, false)) return;
    std::optional<TensorMap> map = cta.launch.tensor_maps.decode(at.memory);
    if (!map) map = blank_map(at.memory);
    if (!map) {
      warp.fail(lane, "tensormap.invalid",
                fmt::format("tensormap.replace at {:#x}, where no tensor map of this device is", address),
                "a map that the host encoded, or 128 zeros");
    }
    if (map->spec.mode != MapMode::tiled) {
      warp.fail(lane, "tensormap.mode",
                fmt::format("tensormap.replace.tile of a tensor map of mode {}", name(map->spec.mode)));
    }
    if (op.b > last_ordinal(field)) {
      warp.fail(lane, "tensormap.field", fmt::format("tensormap.replace at the ordinal {}", op.b),
                fmt::format("0 to {}", last_ordinal(field)));
    }
    const std::uint64_t value = has_64_bits(field) ? get<std::uint64_t>(warp.registers + op.a, lane)
                                                   : get<std::uint32_t>(warp.registers + op.a, lane);
    if (count_of_values(field) != 0 && value >= count_of_values(field)) {
      warp.fail(lane, "tensormap.field",
                fmt::format("tensormap.replace gives .{} the value {}", field_names[op.c], value),
                fmt::format("0 to {}", count_of_values(field) - 1));
    }
    if (field != Field::elemtype || !check_change_from_tf32(warp, lane, map->spec.type, element_types[value]))
      set_field(*map, field, op.b, value);
    check_shadow(warp, lane, at, map_bytes, true);
    const EncodedTensorMap changed =
        cta.launch.tensor_maps.encode(map->spec, map->address, cta.launch.number);
    std::memcpy(at.memory, changed.opaque.data(), map_bytes);
    record_access(warp, lane, at, address, true);
    if (at.global) check_map_not_in_use(warp, lane, address);
    if (at.global) cta.launch.map_changes.change(address, warp.cta->number());
  });
}

/// Executes tensormap.cp_fenceproxy once for the whole warp, with the addresses of its first lane. op.a,
/// op.aux: indices of the source's and the destination's MemoryAccess; op.c: 1 at CTA scope, 0 at a wider
/// scope.
void copy_and_fence(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const std::uint32_t lane = first_lane(mask);
  const std::uint64_t destination_address = address_of(warp, warp.program->accesses[op.aux], lane);
  const std::uint64_t source_address = address_of(warp, warp.program->accesses[op.a], lane);
  const Target destination =
      resolve(warp, lane, Space::global, destination_address, map_bytes, map_alignment, true);
  const Target source = resolve(warp, lane, Space::shared, source_address, map_bytes, map_alignment, false);
  if (!check_shadow(warp, lane, source, map_bytes, false)) return;
  check_map_not_in_use(warp, lane, destination_address);
  record_access(warp, lane, source, source_address, false);
  std::memcpy(destination.memory, source.memory, map_bytes);
  record_access(warp, lane, destination, destination_address, true);
  ++warp.cta->changes;
  warp.cta->launch.map_changes.publish(destination_address, warp.cta->number(), op.c == 1);
}

/// Executes fence.proxy.tensormap::generic.release. op.c: 1 at CTA scope, 0 at a wider scope.
void release(Warp& warp, const MicroOp& op, Mask) {
  warp.cta->launch.map_changes.release(warp.cta->number(), op.c == 1);
}

/// Executes fence.proxy.tensormap::generic.acquire. op.aux: index of the map's MemoryAccess.
void acquire(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, warp.program->accesses[op.aux], lane);
    warp.cta->launch.map_changes.acquire(address, warp.cta->number());
  });
}

/// Rejects an instruction whose operand `i`, the size in bytes, is not that of a map.
void require_map_size(const Decoder& d, std::size_t i) {
  if (d.literal(d.arg(i)) != map_bytes) d.unsupported("a size other than 128");
}

void select_replace(Decoder& d) {
  const auto* const found =
      std::ranges::find_if(field_names, [&](const char* field) { return d.has(field); });
  if (found == std::end(field_names)) d.unsupported();
  const auto field = static_cast<Field>(found - field_names);
  const ScalarType type = has_64_bits(field) ? ScalarType::b64 : ScalarType::b32;
  if ((d.type() == ScalarType::b64) != has_64_bits(field)) d.unsupported("this type of the new value");
  const bool has_ordinal = d.args().size() == 3;
  const std::uint64_t ordinal = has_ordinal ? d.literal(d.arg(1)) : 0;
  const Slot value = d.read(has_ordinal ? 2 : 1, type);
  MemoryAccess access = d.address(d.arg(0), d.space());
  access.peers = false;
  d.emit(&replace, 0, value, static_cast<Slot>(ordinal), static_cast<Slot>(field), d.add(std::move(access)));
}

void select_cp_fenceproxy(Decoder& d) {
  require_map_size(d, 2);
  MemoryAccess source = d.address(d.arg(1), Space::shared);
  source.peers = false;
  const std::uint32_t from = d.add(std::move(source));
  d.emit(&copy_and_fence, 0, from, 0, d.has("cta") ? 1 : 0, d.add(d.address(d.arg(0), Space::global)));
}

constexpr Selector tensormap_table[] = {
    {Opcode::tensormap_replace, &select_replace},
    {Opcode::tensormap_cp_fenceproxy, &select_cp_fenceproxy},
};

}  // namespace

void select_map_fence(Decoder& d) {
  if (d.has("release")) {
    d.emit(&release, 0, 0, 0, d.has("cta") ? 1 : 0);
    return;
  }
  require_map_size(d, 1);
  d.emit(&acquire, 0, 0, 0, 0, d.add(d.address(d.arg(0), Space::generic)));
}

constinit const Selectors tensormap_selectors = tensormap_table;

}  // namespace sim
TMAJIT_END
