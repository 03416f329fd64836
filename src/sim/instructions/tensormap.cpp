/// Changes of tensor maps by a kernel: tensormap.replace (PTX ISA 9.7.9.28), tensormap.cp_fenceproxy
/// (9.7.13.16), and the fences between the generic proxy and the tensormap proxy (9.7.13.4).
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
constexpr const char* field_names[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                       "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                       "swizzle_mode",   "fill_mode"};

/// Element types by the PTX ISA's numbers, which differ from the driver's.
constexpr ElementType element_types[] = {
    ElementType::u8,   ElementType::u16,  ElementType::u32,     ElementType::i32,     ElementType::u64,
    ElementType::i64,  ElementType::f16,  ElementType::f32,     ElementType::f32_ftz, ElementType::f64,
    ElementType::bf16, ElementType::tf32, ElementType::tf32_ftz};

/// The number of legal values of a field, which are 0, 1, …; 0: any value is legal.
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

/// The highest ordinal of a field (PTX ISA 9.7.9.28). It is one less for strides: the innermost dimension has
/// no stride.
std::uint32_t last_ordinal(Field field) {
  return field == Field::global_stride ? max_map_rank - 2 : max_map_rank - 1;
}

void set_field(TensorMap& map, Field field, std::uint32_t ord, std::uint64_t value) {
  TensorMapSpec& spec = map.spec;
  const std::size_t d = index_of_ordinal(spec.rank, ord);
  const auto word = static_cast<std::uint32_t>(value);
  switch (field) {
    case Field::global_address: map.address = value; break;
    case Field::rank: spec = with_rank(spec, static_cast<std::uint8_t>(value + 1)); break;
    case Field::box_dim: spec.box[d] = word; break;
    case Field::global_dim: spec.shape[d] = word; break;
    // The innermost dimension has no stride, so ordinal 0 belongs to dimension 1.
    case Field::global_stride: spec.strides[index_of_ordinal(spec.rank, ord + 1)] = value; break;
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

/// Reports a change of the element type from tf32 to a type other than tf32. On an H200, a map changed to f32
/// still rounds to tf32: then returns true, and the map must keep its type. Copies by a map changed to any
/// other type are illegal: calls Warp::fail() (docs/tma.md).
bool stays_tf32(Warp& warp, std::uint32_t lane, ElementType from, ElementType to) {
  if (!is_tf32(from) || is_tf32(to)) return false;
  const bool rounds = to == ElementType::f32 || to == ElementType::f32_ftz;
  std::string found =
      fmt::format("tensormap.replace makes a tensor map of {} one of {}, {}", name(from), name(to),
                  rounds ? "whose loads go on rounding to tf32" : "by which every copy is illegal");
  constexpr auto legal = "tf32 or tf32_ftz, or a map that the driver encoded with another type";
  if (!rounds) warp.fail(lane, "tensormap.field", std::move(found), legal);
  warp.report(lane, "tensormap.field", std::move(found), legal);
  return true;
}

/// Records an access of one lane to all bytes of a map, for the race detector.
void trace(Warp& warp, std::uint32_t lane, const Target& at, std::uint64_t address, bool write) {
  if (!warp.cta->races || (!at.shared && !at.global)) return;
  constexpr std::uint32_t half = map_bytes / 2;  // an access must not cross a line of the shadow
  std::array<std::uint64_t, lanes> addresses{};
  for (std::uint32_t i = 0; i < 2; ++i) {
    addresses[lane] = (at.shared ? at.owner->in_cluster(at.offset) : address) + std::uint64_t{i} * half;
    warp.cta->races->access(warp, {at.shared ? Memory::shared : Memory::global, half, write, {}}, addresses,
                            1U << lane);
  }
}

/// Reports a change of a map that a copy in flight uses. Only copies of the thread's own cluster are checked.
void check_unused(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  Cluster& cluster = warp.cta->cluster;
  for (std::uint32_t rank = 0; rank < cluster.size(); ++rank) {
    if (!cluster.cta(rank).engine.uses_map(address)) continue;
    warp.report(lane, "tensormap.in-use",
                fmt::format("a change of the tensor map at {:#x}, which a copy in flight uses", address));
    return;
  }
}

/// Returns a map without extents if all 128 bytes are zero: compilers start with zeros and then set every
/// field. A copy by a map with missing fields is reported as a copy by an illegal map.
std::optional<TensorMap> blank_map(const std::byte* bytes) {
  if (!std::all_of(bytes, bytes + map_bytes, [](std::byte each) { return each == std::byte{}; }))
    return std::nullopt;
  TensorMap blank;
  blank.spec.type = element_types[0];
  blank.spec.rank = 1;
  return blank;
}

/// tensormap.replace. accesses[aux]: the map; a: the new value; b: the ordinal; c: the Field.
void replace(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  const auto field = static_cast<Field>(op.c);
  const bool wide = field == Field::global_address || field == Field::global_stride;
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
    const std::uint64_t value = wide ? get<std::uint64_t>(warp.registers + op.a, lane)
                                     : get<std::uint32_t>(warp.registers + op.a, lane);
    if (count_of_values(field) != 0 && value >= count_of_values(field)) {
      warp.fail(lane, "tensormap.field",
                fmt::format("tensormap.replace gives .{} the value {}", field_names[op.c], value),
                fmt::format("0 to {}", count_of_values(field) - 1));
    }
    if (field != Field::elemtype || !stays_tf32(warp, lane, map->spec.type, element_types[value]))
      set_field(*map, field, op.b, value);
    check_shadow(warp, lane, at, map_bytes, true);
    const EncodedTensorMap changed =
        cta.launch.tensor_maps.encode(map->spec, map->address, cta.launch.number);
    std::memcpy(at.memory, changed.opaque.data(), map_bytes);
    trace(warp, lane, at, address, true);
    if (at.global) check_unused(warp, lane, address);
    if (at.global) cta.launch.map_changes.change(address, warp.cta->number());
  });
}

/// tensormap.cp_fenceproxy from accesses[a] to accesses[aux]; c: 1 at CTA scope. It is one copy for the whole
/// warp, with the addresses of the first lane.
void copy_and_fence(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const std::uint32_t lane = first_lane(mask);
  const MemoryAccess& to = warp.program->accesses[op.aux];
  const MemoryAccess& from = warp.program->accesses[op.a];
  const std::uint64_t address = address_of(warp, to, lane);
  const std::uint64_t source = address_of(warp, from, lane);
  const Target into = resolve(warp, lane, Space::global, address, map_bytes, map_alignment, true);
  const Target map = resolve(warp, lane, Space::shared, source, map_bytes, map_alignment, false);
  if (!check_shadow(warp, lane, map, map_bytes, false)) return;
  check_unused(warp, lane, address);
  trace(warp, lane, map, source, false);
  std::memcpy(into.memory, map.memory, map_bytes);
  trace(warp, lane, into, address, true);
  ++warp.cta->changes;
  warp.cta->launch.map_changes.publish(address, warp.cta->number(), op.c == 1);
}

/// fence.proxy.tensormap::generic.release. c: 1 at CTA scope.
void release(Warp& warp, const MicroOp& op, Mask) {
  warp.cta->launch.map_changes.release(warp.cta->number(), op.c == 1);
}

/// fence.proxy.tensormap::generic.acquire. accesses[aux]: the map.
void acquire(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, warp.program->accesses[op.aux], lane);
    warp.cta->launch.map_changes.acquire(address, warp.cta->number());
  });
}

void require_map_size(const Decoder& d, std::size_t i) {
  if (d.literal(d.arg(i)) != map_bytes) d.unsupported("a size other than 128");
}

void select_replace(Decoder& d) {
  const auto* const found =
      std::ranges::find_if(field_names, [&](const char* field) { return d.has(field); });
  if (found == std::end(field_names)) d.unsupported();
  const auto field = static_cast<Field>(found - field_names);
  const bool wide = field == Field::global_address || field == Field::global_stride;
  if ((d.type() == ScalarType::b64) != wide) d.unsupported("this type of the new value");
  const bool has_ordinal = d.args().size() == 3;
  std::uint64_t ord = 0;
  if (has_ordinal) ord = d.literal(d.arg(1));
  const Slot value = d.read(has_ordinal ? 2 : 1, wide ? ScalarType::b64 : ScalarType::b32);
  MemoryAccess access = d.address(d.arg(0), d.space());
  access.peers = false;
  d.emit(&replace, 0, value, static_cast<Slot>(ord), static_cast<Slot>(field), d.add(std::move(access)));
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
