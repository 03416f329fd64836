/// wgmma.mma_async and its fence and groups (PTX ISA 9.7.15).
#include "sim/cta/warpgroup.hpp"

#include "sim/causes/causes.hpp"
#include "sim/instructions/matrix.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace warpgroup_instructions {
namespace {

constexpr std::uint32_t rows_of_warp = 16;
constexpr std::uint32_t max_n = 256;
constexpr std::uint32_t chunk_bytes = 16;
/// The number of chunks in a row of A, or a column of B, for every shape: K is 32 bytes.
constexpr std::uint32_t k_chunks = 2;

/// Calls visit(shared address, row, row step, k, k step) for each chunk of 16 bytes in the rows [from, from +
/// count) of a matrix; a chunk has `per` elements. `row` (relative to `from`) and `k` are those of its first
/// element; from element to element they grow by the steps.
template <typename Visit>
void for_each_chunk(const MatrixDescriptor& matrix, bool by_columns, std::uint32_t from, std::uint32_t count,
                    std::uint32_t per, const Visit& visit) {
  if (!by_columns) {
    for (std::uint32_t row = from; row < from + count; ++row) {
      for (std::uint32_t chunk = 0; chunk < k_chunks; ++chunk)
        visit(matrix.by_rows(row, chunk), row - from, 0U, chunk * per, 1U);
    }
    return;
  }
  for (std::uint32_t row = from; row < from + count; row += per) {
    for (std::uint32_t k = 0; k < k_chunks * per; ++k)
      visit(matrix.by_columns(row / per, k), row - from, 1U, k, 0U);
  }
}

/// Calls put(row, k, factor · value) for the elements of the rows [from, from + count) of a matrix.
template <ScalarType type, typename Put>
void read_matrix(Cta& cta, const MatrixDescriptor& matrix, bool by_columns, std::uint32_t from,
                 std::uint32_t count, double factor, const Put& put) {
  constexpr std::uint32_t per = per_register(type);
  for_each_chunk(matrix, by_columns, from, count, 4 * per,
                 [&](std::uint32_t address, std::uint32_t row, std::uint32_t row_step, std::uint32_t k,
                     std::uint32_t k_step) {
                   std::array<std::uint32_t, chunk_bytes / 4> words{};
                   std::memcpy(words.data(), cta.shared() + (address - shared_base), chunk_bytes);
                   for (std::uint32_t i = 0; i < 4 * per; ++i)
                     put(row + i * row_step, k + i * k_step, factor * element<type>(words[i / per], i % per));
                 });
}

template <ScalarType a_type, ScalarType b_type, ScalarType d_type>
void multiply(Warp& warp, const WarpgroupProduct& product, const PendingProduct& pending) {
  constexpr std::uint32_t per = per_register(a_type);
  constexpr std::uint32_t k_count = k_chunks * 4 * per;
  std::array<std::array<double, k_count>, rows_of_warp> a{};
  std::array<std::array<double, max_n>, k_count> b{};
  const double a_factor = product.negates_a ? -1 : 1;
  if (product.a.empty()) {
    read_matrix<a_type>(*warp.cta, pending.a, product.a_by_columns,
                        warp.index % warps_of_group * rows_of_warp, rows_of_warp, a_factor,
                        [&](std::uint32_t row, std::uint32_t k, double value) { a[row][k] = value; });
  } else {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      for (std::uint32_t i = 0; i < product.a.size(); ++i) {
        const auto word = get<std::uint32_t>(warp.registers + product.a[i], lane);
        for (std::uint32_t e = 0; e < per; ++e)
          a[lane / 4 + 8 * (i % 2)][lane % 4 * per + e + i / 2 * 4 * per] =
              a_factor * element<a_type>(word, e);
      }
    }
  }
  read_matrix<b_type>(*warp.cta, pending.b, product.b_by_rows, 0, product.n, product.negates_b ? -1 : 1,
                      [&](std::uint32_t column, std::uint32_t k, double value) { b[k][column] = value; });

  // Lane l holds rows l / 4 and l / 4 + 8 of D, and of each 8 columns those with index 2 (l % 4) and 2 (l %
  // 4) + 1.
  using C = std::conditional_t<d_type == ScalarType::s32, std::int32_t, float>;
  constexpr std::uint32_t packed = d_type == ScalarType::f16 ? 2 : 1;
  std::array<double, max_n> sums{};
  for (std::uint32_t row = 0; row < rows_of_warp; ++row) {
    const auto each_result = [&](const auto& visit) {
      for (std::uint32_t column = 0; column < product.n; ++column) {
        const std::uint32_t lane = row % 8 * 4 + column % 8 / 2;
        const std::uint32_t i = column / 8 * 4 + row / 8 * 2 + column % 2;
        visit(column, lane, warp.registers + product.d[i / packed], i % packed);
      }
    };
    sums.fill(0);
    if (pending.keeps_d) {
      each_result([&](std::uint32_t column, std::uint32_t lane, const std::byte* slot, std::uint32_t half) {
        if constexpr (d_type == ScalarType::f16)
          sums[column] = decode_small<f16_format>(get<std::uint32_t>(slot, lane) >> 16 * half & 0xffff);
        else
          sums[column] = get<C>(slot, lane);
      });
    }
    for (std::uint32_t k = 0; k < k_count; ++k) {
      for (std::uint32_t column = 0; column < product.n; ++column) sums[column] += a[row][k] * b[k][column];
    }
    each_result([&](std::uint32_t column, std::uint32_t lane, std::byte* slot, std::uint32_t half) {
      if constexpr (d_type == ScalarType::f16) {
        const std::uint32_t bits = encode_small<f16_format>(sums[column], false);
        const auto word = get<std::uint32_t>(slot, lane);
        put(slot, lane, (word & ~(0xffffU << 16 * half)) | bits << 16 * half);
      } else if constexpr (d_type == ScalarType::s32) {
        // The sum is exact in f64: at most 2^31 plus 32 products of up to 2^16, or 256 products of bits.
        const auto sum = static_cast<std::int64_t>(sums[column]);
        const auto limited = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max());
        put(slot, lane,
            static_cast<std::int32_t>(static_cast<std::uint32_t>(product.saturates ? limited : sum)));
      } else {
        put(slot, lane, canonical(static_cast<float>(sums[column])));
      }
    });
  }
}

// The rest of this file executes and checks the instructions around the arithmetic.

/// Checks the shared memory of a matrix that a product reads, and records the reads for the race detector.
void check_matrix(Warp& warp, const MatrixDescriptor& matrix, bool by_columns, std::uint32_t from,
                  std::uint32_t count, std::uint32_t per) {
  Cta& cta = *warp.cta;
  const std::uint32_t lane = first_lane(warp.live);
  std::uint8_t any = 0;
  bool written = true;
  Copy in_flight;  // `shared` will be the offset of the first byte that a load has not delivered
  std::uint32_t unpublished = 0;
  std::uint32_t at_word = 0;
  std::uint32_t writer = 0;
  std::optional<Cta::Loaded> mismatched_load;  // a load with a swizzle that does not fit the descriptor's
  for_each_chunk(matrix, by_columns, from, count, per,
                 [&](std::uint32_t address, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
                   const auto at = cta.shared_offset(address, chunk_bytes);
                   if (!at) {
                     warp.stop(
                         lane, "wgmma.descriptor",
                         fmt::format("a matrix descriptor that leads to {} bytes at shared address {:#x}: "
                                     "the CTA has {} bytes from {:#x}",
                                     chunk_bytes, address, cta.shared_bytes(), shared_base));
                   }
                   if (const auto load = cta.loaded(*at); load && !matrix.agrees(address, load->swizzle))
                     mismatched_load = load;
                   for (std::uint32_t i = 0; i < chunk_bytes; ++i) {
                     if ((any & loading) == 0) in_flight.shared = *at + i;
                     any |= cta.shadow()[*at + i];
                     written = written && (cta.shadow()[*at + i] & (initialised | loading)) != 0;
                   }
                   for (std::uint32_t i = *at / 4; i < (*at + chunk_bytes) / 4; ++i) {
                     if (unpublished == 0 && !cta.visible(warp, lane, i, writer)) {
                       unpublished = cta.writers()[i];
                       at_word = i;
                     }
                   }
                 });
  const bool legal = written && (any & (loading | in_mbarrier)) == 0;
  if (mismatched_load) {
    warp.report(
        lane, "wgmma.swizzle",
        fmt::format("a wgmma.mma_async reads by swizzle {} what the load at PTX line {} writes by swizzle {}",
                    name(matrix.swizzle()), cta.program.locations[mismatched_load->location].line,
                    name(mismatched_load->swizzle)));
  }
  if (!written)
    warp.report(lane, "shared.uninitialised", "a wgmma.mma_async reads uninitialised shared memory");
  if ((any & loading) != 0) {
    in_flight.bytes = 1;
    const Engine::InFlight load = cta.engine.find_in_flight(in_flight, loading);
    if (!report_read_early(warp, lane, cta, load, "shared.in-flight-read"))
      cta.report(
          warp.thread(lane), warp.location(), "shared.in-flight-read",
          fmt::format("a wgmma.mma_async reads shared memory at {:#x} that an asynchronous load has not "
                      "delivered yet{}",
                      in_flight.shared + shared_base, load.text),
          {}, {}, load.location);
  }
  if ((any & in_mbarrier) != 0)
    warp.report(lane, "wgmma.descriptor", "a matrix descriptor that leads to an mbarrier");
  // If the write is not ordered before the read, the race detector reports it instead.
  if (unpublished != 0 && (!cta.races || cta.races->follows_write(warp, lane, cta.in_cluster(4 * at_word)))) {
    (void)cta.published(unpublished, writer);
    const bool copied = (unpublished & Cta::by_small_copy) != 0;
    warp.report(lane,
                copied ? check::RuleId("wgmma.copy-not-fenced") : check::RuleId("wgmma.missing-proxy-fence"),
                fmt::format("a wgmma.mma_async reads shared memory that {}thread {} wrote with no "
                            "fence.proxy.async since",
                            copied ? "a cp.async of " : "", text_of(cta.thread_index(writer))));
  }
  if (!cta.races) return;
  const WarpgroupState& state = *warp.warpgroup;
  for_each_chunk(matrix, by_columns, from, count, per,
                 [&](std::uint32_t address, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
                   cta.races->product_read(warp, cta.in_cluster(address - shared_base), chunk_bytes,
                                           state.group, !legal);
                 });
}

void complete(Warp& warp, PendingProduct& pending) {
  if (!pending.done) pending.product->multiply(warp, *pending.product, pending);
  pending.done = true;
}

/// Reports a product whose registers other instructions have used since the last wgmma.fence, or whose A is
/// in registers that a product in flight writes. Marks the product's registers as in flight.
void check_registers(Warp& warp, const WarpgroupProduct& product) {
  WarpgroupState& state = warpgroup_of(warp);
  const std::uint32_t lane = first_lane(warp.live);
  bool fenced = state.fenced;
  bool in_flight = false;
  for (std::size_t i = 0; i < product.registers.size(); ++i) {
    const std::uint32_t reg = product.registers[i];
    const bool other_kind = i < product.results && state.kinds[reg] != 0 && state.kinds[reg] != product.kind;
    fenced = fenced && !state.touched[reg] && !other_kind;
    if (i < product.results) {
      state.kinds[reg] = product.kind;
    } else {
      in_flight = in_flight || state.results[reg] != 0;
    }
  }
  for (std::size_t i = 0; i < product.registers.size(); ++i) {
    ++state.in_flight[product.registers[i]];
    if (i < product.results) ++state.results[product.registers[i]];
  }
  if (!fenced) {
    warp.report(lane, "wgmma.missing-fence",
                state.fenced
                    ? "a wgmma.mma_async uses registers that other instructions, or products of another "
                      "shape, have accessed since the last wgmma.fence"
                    : "a wgmma.mma_async with no wgmma.fence before it");
  }
  if (in_flight) {
    warp.report(lane, "wgmma.register-in-flight",
                "a wgmma.mma_async reads A from registers that an earlier one writes");
  }
}

/// Wakes warps of the warpgroup from warp `first` on that wait until another warp has issued `issued`
/// products or fewer.
void wake_waiting(Cta& cta, std::uint32_t first, std::size_t issued) {
  const auto ended = [&](const Wait& wait) {
    return wait.kind == Wait::Kind::products && wait.what <= issued;
  };
  for (std::uint32_t i = first; i < first + warps_of_group; ++i) {
    Warp& other = *cta.warps[i];
    if (std::ranges::none_of(other.groups, ended, &Group::wait)) continue;
    other.wake(ended);
    ++cta.changes;
  }
}

/// wgmma.mma_async. aux: index into Program::products.
void issue(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  Cta& cta = *warp.cta;
  const WarpgroupProduct& product = warp.program->products[op.aux];
  const std::uint32_t lane = first_lane(mask);
  const std::uint32_t first = warp.index / warps_of_group * warps_of_group;
  if (mask != all_lanes || first + warps_of_group > cta.warps.size()) {
    warp.stop(lane, "wgmma.warpgroup",
              "a wgmma.mma_async by threads that are no whole warpgroup of four warps");
  }
  WarpgroupState& state = warpgroup_of(warp);
  for (std::uint32_t i = first; i < first + warps_of_group; ++i) {
    const auto& others = cta.warps[i]->warpgroup;
    const std::size_t number = state.products.size();
    if (!others || others->products.size() <= number || others->products[number] == warp.location()) continue;
    warp.stop(
        lane, "wgmma.warpgroup",
        fmt::format("warp {} executes this wgmma.mma_async, warp {} of its warpgroup that of PTX line {}",
                    warp.index, i, warp.program->locations[others->products[number]].line));
  }
  state.products.push_back(warp.location());
  wake_waiting(cta, first, state.products.size());
  check_registers(warp, product);
  PendingProduct pending{.product = &product, .group = state.group, .location = warp.location()};
  pending.keeps_d = (read_mask(warp, product.keeps_d) >> lane & 1) != 0;
  pending.b = MatrixDescriptor(get<std::uint64_t>(warp.registers + product.b_matrix, lane));
  if (cta.races) cta.races->begin_product(warp, lane);
  if (product.a.empty()) {
    pending.a = MatrixDescriptor(get<std::uint64_t>(warp.registers + product.a_matrix, lane));
    check_matrix(warp, pending.a, product.a_by_columns, warp.index % warps_of_group * rows_of_warp,
                 rows_of_warp, product.per_chunk);
  }
  check_matrix(warp, pending.b, product.b_by_rows, 0, product.n, product.per_chunk);
  state.pending.push_back(pending);
  // In mode random a draw decides whether to do products now. They are done in order, so all pending ones are
  // done.
  const auto mode = cta.launch.options.mode;
  if (mode == SimOptions::Mode::early || (mode == SimOptions::Mode::random && (cta.random() & 3) == 0)) {
    for (PendingProduct& each : state.pending) complete(warp, each);
  }
}

void fence(Warp& warp, const MicroOp&, Mask mask) {
  if (!warp.gather(mask)) return;
  WarpgroupState& state = warpgroup_of(warp);
  state.fenced = true;
  std::fill(state.touched.begin(), state.touched.end(), false);
  std::ranges::fill(state.kinds, 0U);
}

void commit(Warp& warp, const MicroOp&, Mask mask) {
  if (warp.gather(mask)) ++warpgroup_of(warp).group;
}

/// wgmma.wait_group. aux: number of groups that may be pending. A product, and so a group, is one operation
/// of all four warps (9.7.15.7.2). So a warp waits until all four warps have issued the group's products, and
/// completes them for all four.
void wait_group(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  Cta& cta = *warp.cta;
  WarpgroupState& state = warpgroup_of(warp);
  const auto awaited = [&](const PendingProduct& pending) { return pending.group + op.aux < state.group; };
  const auto end = std::ranges::find_if_not(state.pending, awaited);
  const auto not_awaited = static_cast<std::size_t>(state.pending.end() - end);
  const std::size_t count = end == state.pending.begin() ? 0 : state.products.size() - not_awaited;
  const std::uint32_t first = warp.index / warps_of_group * warps_of_group;
  const std::size_t last = std::min<std::size_t>(first + warps_of_group, cta.warps.size());
  for (std::size_t i = first; count != 0 && i < last; ++i) {
    if (warpgroup_of(*cta.warps[i]).products.size() >= count) continue;
    warp.park(mask, warp.here(), {Wait::Kind::products, static_cast<std::uint32_t>(count), 0});
    return;
  }
  for (std::size_t i = first; i < last; ++i) {
    Warp& other = *cta.warps[i];
    WarpgroupState& theirs = warpgroup_of(other);
    std::size_t number = theirs.products.size() - theirs.pending.size();
    for (auto each = theirs.pending.begin(); number < count; ++each, ++number) complete(other, *each);
    if (cta.races && op.aux < state.group) cta.races->wait_products(warp, other, state.group - op.aux);
  }
  while (!state.pending.empty() && awaited(state.pending.front())) {
    const PendingProduct& pending = state.pending.front();
    for (std::size_t i = 0; i < pending.product->registers.size(); ++i) {
      --state.in_flight[pending.product->registers[i]];
      if (i < pending.product->results) --state.results[pending.product->registers[i]];
    }
    state.pending.pop_front();
  }
  ++cta.changes;
}

/// A product that the ISA has.
struct Product {
  ScalarType a;
  ScalarType b;
  ScalarType d;
  void (*multiply)(Warp&, const WarpgroupProduct&, const PendingProduct&);
};
template <ScalarType a, ScalarType b, ScalarType d>
constexpr Product product_of{a, b, d, &multiply<a, b, d>};

using T = ScalarType;
constexpr Product products[] = {
    product_of<T::f16, T::f16, T::f16>,   product_of<T::f16, T::f16, T::f32>,
    product_of<T::bf16, T::bf16, T::f32>, product_of<T::tf32, T::tf32, T::f32>,
    product_of<T::e4m3, T::e4m3, T::f16>, product_of<T::e4m3, T::e4m3, T::f32>,
    product_of<T::e4m3, T::e5m2, T::f16>, product_of<T::e4m3, T::e5m2, T::f32>,
    product_of<T::e5m2, T::e4m3, T::f16>, product_of<T::e5m2, T::e4m3, T::f32>,
    product_of<T::e5m2, T::e5m2, T::f16>, product_of<T::e5m2, T::e5m2, T::f32>,
    product_of<T::u8, T::u8, T::s32>,     product_of<T::u8, T::s8, T::s32>,
    product_of<T::s8, T::u8, T::s32>,     product_of<T::s8, T::s8, T::s32>,
    product_of<T::b1, T::b1, T::s32>,
};

/// N of the instruction's shape if the ISA has this shape for `k`; else 0.
std::uint32_t n_of(const Decoder& d, std::uint32_t k, bool integers) {
  for (std::uint32_t n = 8; n <= max_n; n += n < 32 || !integers ? 8 : 16) {
    if (d.has(fmt::format("m64n{}k{}", n, k))) return n;
  }
  return 0;
}

/// Whether operand i, which must be 1 or −1, is −1.
bool negates(const Decoder& d, std::size_t i) {
  const auto value = static_cast<std::int64_t>(d.literal(d.arg(i)));
  if (value != 1 && value != -1) d.unsupported("a scale other than 1 and -1");
  return value == -1;
}

void select_product(Decoder& d) {
  const auto types = d.instruction().types();  // d, a, b
  if (types.size() != 3 || d.has("sp")) d.unsupported();
  const auto* const found = std::ranges::find_if(products, [&](const Product& each) {
    return each.d == types[0] && each.a == types[1] && each.b == types[2];
  });
  if (found == std::end(products)) d.unsupported();
  WarpgroupProduct product;
  product.multiply = found->multiply;
  product.per_chunk = 4 * per_register(types[1]);
  const bool integers = types[0] == T::s32;
  product.n = n_of(d, k_chunks * product.per_chunk, integers);
  if (product.n == 0) d.unsupported("this shape");
  const bool from_registers = d.arg(1).kind == Arg::Kind::group;
  const bool halves = per_register(types[1]) == 2;
  std::size_t next = 4;
  if (!integers) {
    product.negates_a = negates(d, next++);
    product.negates_b = negates(d, next++);
  }
  if (halves && !from_registers) product.a_by_columns = d.literal(d.arg(next++)) != 0;
  if (halves) product.b_by_rows = d.literal(d.arg(next++)) != 0;
  if (next != d.args().size()) d.unsupported("this number of operands");
  product.saturates = d.has("satfinite");
  const auto registers = [&](std::size_t i, std::size_t count) {
    std::vector<Slot> slots = d.slots(d.arg(i), T::b32, false);
    if (slots.size() != count) d.unsupported("this number of registers");
    return slots;
  };
  product.d = registers(0, product.n / (types[0] == T::f16 ? 4 : 2));
  if (from_registers) {
    product.a = registers(1, 4);
  } else {
    product.a_matrix = d.read(1, T::b64);
  }
  product.b_matrix = d.read(2, T::b64);
  product.keeps_d = d.read(3, T::pred);
  product.kind = product.n << 1 | (types[0] == T::f16 ? 1U : 0U);
  d.emit(&issue, 0, 0, 0, 0, d.add(std::move(product)));
}

constexpr Selector warpgroup_table[] = {
    {Opcode::wgmma_mma_async, &select_product},
    {Opcode::wgmma_fence, [](Decoder& d) { d.emit(&fence); }},
    {Opcode::wgmma_commit_group, [](Decoder& d) { d.emit(&commit); }},
    {Opcode::wgmma_wait_group,
     [](Decoder& d) { d.emit(&wait_group, 0, 0, 0, 0, static_cast<std::uint32_t>(d.literal(d.arg(0)))); }},
};

}  // namespace
}  // namespace warpgroup_instructions

constinit const Selectors warpgroup_selectors = warpgroup_instructions::warpgroup_table;

}  // namespace sim
TMAJIT_END
