/// Matrix products on opaque fragments: wmma.load, wmma.store, wmma.mma (PTX ISA 9.7.14.4).
#include "sim/instructions/matrix.hpp"
#include "sim/instructions/select.hpp"
#include "sim/instructions/trace.hpp"
#include "sim/undefined/undefined.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace wmma_instructions {
namespace {

/// A matrix in the registers of a warp. The ISA does not specify the layout. Here the elements are in
/// row-major order (column-major if a or b is loaded with .col), and each lane holds a run of consecutive
/// elements; all runs have the same length. If a lane's registers have room for more elements, the run is
/// repeated. No GPU has this layout, so a kernel that relies on a GPU's layout computes wrong results.
struct Fragment {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  bool by_column = false;

  /// The number of elements of a lane.
  [[nodiscard]] std::uint32_t run() const { return rows * columns / lanes; }
  /// The number of elements of a row, or with `by_column` of a column.
  [[nodiscard]] std::uint32_t line() const { return by_column ? rows : columns; }
  /// The row and the column of element `i` of a lane.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> position(std::uint32_t lane, std::uint32_t i) const {
    const std::uint32_t at = lane * run() + i % run();
    const std::pair position(at / line(), at % line());
    return by_column ? std::pair(position.second, position.first) : position;
  }
  [[nodiscard]] std::uint32_t pack() const { return rows | columns << 8 | (by_column ? 1U << 16 : 0); }
  [[nodiscard]] static Fragment unpack(std::uint32_t bits) {
    return {bits & 255, bits >> 8 & 255, (bits >> 16 & 1) != 0};
  }
};

// The largest fragment: its rows (or columns) in memory, their bytes, and its elements.
constexpr std::uint32_t max_lines = 32;
constexpr std::uint32_t max_line_bytes = 128;
constexpr std::uint32_t max_elements = 1024;  ///< of a or b

/// The required alignment of a fragment's lines in memory, in bytes: the size of the fragment in a lane (PTX
/// ISA, "Matrix Storage for WMMA"), but at most 16, which CUDA's nvcuda::wmma requires of the leading
/// dimension.
constexpr std::uint32_t alignment_of(std::size_t registers, std::uint32_t bits) {
  return std::min<std::uint32_t>(static_cast<std::uint32_t>(registers) * (bits == 64 ? 8 : 4), 16);
}

/// The lines (rows, or columns with .col) of a matrix in memory.
struct Lines {
  std::uint64_t address = 0;  ///< address of the first line
  std::uint64_t pitch = 0;    ///< bytes from line to line
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  ///< of a line
  std::uint32_t alignment = 0;
};

/// Copies lines between memory and `buffer`. Lane i accesses line i; if it is not in `mask`, the
/// first lane does.
/// Sets targets[i] to the memory of line i. Returns whether bytes that are read may be undefined.
template <bool loads>
bool move_lines(Warp& warp, const MemoryAccess& access, Mask mask, const Lines& lines, std::byte* buffer,
                std::array<Target, max_lines>& targets) {
  Mask legal = 0;
  bool maybe_undefined = false;
  const auto lane_of = [&](std::uint32_t i) { return (mask >> i & 1) != 0 ? i : first_lane(mask); };
  for (std::uint32_t i = 0; i < lines.count; ++i) {
    const std::uint32_t lane = lane_of(i);
    targets[i] = resolve(warp, lane, access.space, lines.address + i * lines.pitch, lines.bytes,
                         lines.alignment, !loads);
    bool unsure_line = false;
    if (check_shadow(warp, lane, targets[i], lines.bytes, !loads, loads ? &unsure_line : nullptr))
      legal |= 1U << i;
    maybe_undefined = maybe_undefined || unsure_line;
    std::byte* const line = buffer + std::size_t{i} * max_line_bytes;
    loads ? std::memcpy(line, targets[i].memory, lines.bytes)
          : std::memcpy(targets[i].memory, line, lines.bytes);
  }
  if (!warp.cta->races) return maybe_undefined;
  warp.cta->races->synchronise(warp, mask);
  for (std::uint32_t at = 0; at < lines.bytes; at += lines.alignment) {
    Trace trace(warp, lines.alignment, !loads, access.ordering);
    for (std::uint32_t i = 0; i < lines.count; ++i) {
      Target part = targets[i];
      part.offset += at;
      trace.add(lane_of(i), part, lines.address + i * lines.pitch + at, (legal >> i & 1) != 0);
    }
    trace.finish();
  }
  return maybe_undefined;
}

/// Tracks uninitialised values of wmma.load (`loads`) or wmma.store. position(lane, i) returns the line of
/// element i of a lane, and the element's first byte in the line. An element has `bytes` bytes, a register
/// `per` elements.
template <bool loads, typename Position>
void track_lines(Warp& warp, Mask mask, const std::array<Target, max_lines>& targets, std::size_t registers,
                 std::uint32_t per, std::uint32_t bytes, const Position& position) {
  for (std::uint32_t reg = 0; reg < registers; ++reg) {
    Mask to_global = 0;
    for_lanes(mask, [&](std::uint32_t lane) {
      std::vector<std::uint32_t> pieces;
      Cta* owner = nullptr;
      for (std::uint32_t i = 0; i < per; ++i) {
        const auto [line, at] = position(lane, reg * per + i);
        const Target& target = targets[line];
        if (target.global) to_global |= 1U << lane;
        if (!target.shared) return;
        owner = target.owner;
        pieces.push_back(target.offset + at);
        if (!loads) warp.undefined->store_piece(warp, lane, reg, *owner, pieces.back(), bytes);
      }
      if (loads) track_pieces(warp, lane, reg, *owner, pieces.data(), pieces.size(), bytes);
    });
    if (!loads) warp.undefined->report_if_operand_undefined(warp, reg, to_global);
  }
}

/// wmma.load (`loads`) and wmma.store. accesses[aux].values: the registers; a: the stride; d:
/// Fragment::pack(); b: 1 if the lines in memory are columns.
template <std::uint32_t bits, bool loads>
void move_fragment(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const MemoryAccess& access = warp.program->accesses[op.aux];
  const Fragment fragment = Fragment::unpack(op.d);
  const std::uint32_t first = first_lane(mask);
  const std::uint64_t address = address_of(warp, access, first);
  const auto stride = get<std::uint32_t>(warp.registers + op.a, first);
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t other = address_of(warp, access, lane);
    const auto other_stride = get<std::uint32_t>(warp.registers + op.a, lane);
    if (other == address && other_stride == stride) return;
    warp.fail(lane, "wmma.operands",
              fmt::format("address {:#x} and stride {}, those of lane {} are {:#x} and {}", other,
                          other_stride, first, address, stride));
  });
  const bool by_column = op.b != 0;
  const std::uint32_t length = by_column ? fragment.rows : fragment.columns;
  const Lines lines{address, std::uint64_t{stride} * bits / 8, fragment.rows * fragment.columns / length,
                    length * bits / 8, alignment_of(access.values.size(), bits)};
  using Register = std::conditional_t<bits == 64, std::uint64_t, std::uint32_t>;
  constexpr std::uint32_t per = 8 * sizeof(Register) / bits;
  constexpr Register low = static_cast<Register>(~Register{0}) >> (8 * sizeof(Register) - bits);
  std::array<std::byte, max_lines * max_line_bytes> buffer;
  // Calls use(byte in buffer, bit in the byte, bit in the register, register) for each element.
  const auto visit = [&](const auto& use) {
    for_lanes(mask, [&](std::uint32_t lane) {
      for (std::uint32_t reg = 0; reg < access.values.size(); ++reg) {
        std::byte* const slot = warp.registers + access.values[reg];
        Register all = loads ? Register{0} : get<Register>(slot, lane);
        for (std::uint32_t i = 0; i < per; ++i) {
          const auto [row, column] = fragment.position(lane, reg * per + i);
          const std::uint32_t at = (by_column ? row : column) * bits;
          const std::size_t line = by_column ? column : row;
          use(buffer.data() + line * max_line_bytes + at / 8, at % 8, i * bits, all);
        }
        if (loads) put(slot, lane, all);
      }
    });
  };
  constexpr std::uint32_t bytes = std::max(bits / 8, 1U);
  std::array<Target, max_lines> targets{};
  const auto position = [&](std::uint32_t lane, std::uint32_t i) {
    const auto [row, column] = fragment.position(lane, i);
    return by_column ? std::pair(column, row * bits / 8) : std::pair(row, column * bits / 8);
  };
  if constexpr (loads) {
    const bool maybe_undefined = move_lines<true>(warp, access, mask, lines, buffer.data(), targets);
    visit([&](const std::byte* from, std::uint32_t shift, std::uint32_t to, Register& all) {
      Register word = 0;
      std::memcpy(&word, from, bytes);
      all |= (word >> shift & low) << to;
    });
    if (maybe_undefined) track_lines<true>(warp, mask, targets, access.values.size(), per, bytes, position);
  } else {
    visit([&](std::byte* to, std::uint32_t, std::uint32_t from, Register& all) {
      const auto word = static_cast<Register>(all >> from);
      std::memcpy(to, &word, bytes);
    });
    (void)move_lines<false>(warp, access, mask, lines, buffer.data(), targets);
    if (warp.undefined && warp.undefined->any())
      track_lines<false>(warp, mask, targets, access.values.size(), per, bytes, position);
  }
}

/// Calls use(row, column, value) for the elements of a fragment in the registers `slots`.
template <ScalarType type, typename Use>
void for_elements(const Warp& warp, const Fragment& fragment, const Slot* slots, const Use& use) {
  constexpr std::uint32_t per = per_register(type);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::uint32_t i = 0; i < fragment.run(); ++i) {
      const std::byte* const slot = warp.registers + slots[i / per];
      const std::uint64_t word =
          type == ScalarType::f64 ? get<std::uint64_t>(slot, lane) : get<std::uint32_t>(slot, lane);
      const auto [row, column] = fragment.position(lane, i);
      use(row, column, element<type>(word, i % per));
    }
  }
}

/// The undefined elements of a product's result: an undefined element of a makes a row undefined, one of b a
/// column, one of c a single element.
class UndefinedElements {
 public:
  /// Calls use(row, column) for each element in an undefined register of a fragment. The fragment's registers
  /// begin at operand `first`; each has `per` elements.
  template <typename Use>
  void visit_operand(Warp& warp, Mask mask, const Fragment& fragment, std::uint32_t first, std::uint32_t per,
                     const Use& use) {
    for (std::uint32_t reg = 0; reg * per < fragment.run(); ++reg) {
      const Undefined::State found = warp.undefined->operand(warp, first + reg, mask);
      if (found.lanes != 0) origin_ = found.origin;
      for_lanes(found.lanes, [&](std::uint32_t lane) {
        for (std::uint32_t i = reg * per; i < std::min((reg + 1) * per, fragment.run()); ++i) {
          const auto [row, column] = fragment.position(lane, i);
          use(row, column);
        }
      });
    }
  }

  /// Marks each register of the result undefined in the lanes in which all its elements are undefined.
  void mark_result(Warp& warp, Mask mask, const Fragment& fragment, std::uint32_t per) {
    for (std::uint32_t reg = 0; reg < fragment.run() / per; ++reg) {
      Undefined::State found{0, origin_};
      for_lanes(mask, [&](std::uint32_t lane) {
        for (std::uint32_t i = 0; i < per; ++i) {
          const auto [row, column] = fragment.position(lane, reg * per + i);
          if (!rows[row] && !columns[column] && !addends[row * fragment.columns + column]) return;
        }
        found.lanes |= 1U << lane;
      });
      warp.undefined->mark_result(warp, reg, mask, found);
    }
  }

  std::array<bool, 32> rows{};
  std::array<bool, 32> columns{};
  std::array<bool, 256> addends{};

 private:
  OriginNumber origin_ = 0;
};

enum Flags : std::uint32_t { a_by_column = 1, b_by_column = 2, saturates = 4, exclusive = 8 };

/// wmma.mma. accesses[aux].values: the registers of d, a, b, c one after the other; op.a, op.b, op.c: indices
/// of the first registers of a, b, c; op.d: m, n, k and the flags, one byte each.
template <ScalarType ab, ScalarType c_type, ScalarType d_type>
void multiply(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const auto& slots = warp.program->accesses[op.aux].values;
  const MatrixShape shape{op.d & 255, op.d >> 8 & 255, op.d >> 16 & 255};
  const std::uint32_t flags = op.d >> 24;
  std::array<double, max_elements> a;
  std::array<double, max_elements> b;
  std::array<double, 256> sums;
  const Fragment left{shape.m, shape.k, (flags & a_by_column) != 0};
  const Fragment right{shape.k, shape.n, (flags & b_by_column) != 0};
  const Fragment result{shape.m, shape.n, false};
  if (warp.undefined && warp.undefined->any()) {
    UndefinedElements undefined_elements;
    undefined_elements.visit_operand(
        warp, mask, left, 0, per_register(ab),
        [&](std::uint32_t row, std::uint32_t) { undefined_elements.rows[row] = true; });
    undefined_elements.visit_operand(
        warp, mask, right, op.b - op.a, per_register(ab),
        [&](std::uint32_t, std::uint32_t column) { undefined_elements.columns[column] = true; });
    undefined_elements.visit_operand(warp, mask, result, op.c - op.a, per_register(c_type),
                                     [&](std::uint32_t row, std::uint32_t column) {
                                       undefined_elements.addends[row * shape.n + column] = true;
                                     });
    undefined_elements.mark_result(warp, mask, result, per_register(d_type));
  }
  for_elements<ab>(warp, left, &slots[op.a], [&](std::uint32_t row, std::uint32_t column, double value) {
    a[row * shape.k + column] = value;
  });
  for_elements<ab>(warp, right, &slots[op.b], [&](std::uint32_t row, std::uint32_t column, double value) {
    b[column * shape.k + row] = value;
  });
  for_elements<c_type>(warp, result, &slots[op.c], [&](std::uint32_t row, std::uint32_t column, double c) {
    const double* const its_row = &a[std::size_t{row} * shape.k];
    const double* const its_column = &b[std::size_t{column} * shape.k];
    double& sum = sums[row * shape.n + column];
    if constexpr (c_type == ScalarType::s32) {
      const bool differ = (flags & exclusive) != 0;
      sum = multiply_integers(its_row, its_column, shape.k, static_cast<std::int32_t>(c),
                              (flags & saturates) != 0, differ);
    } else {
      sum = multiply_floats<ab == ScalarType::f64>(its_row, its_column, shape.k, c);
    }
  });
  // d may share registers with a, b or c, so it is written after all sums have been computed.
  constexpr std::uint32_t per = per_register(d_type);
  for_lanes(mask, [&](std::uint32_t lane) {
    for (std::uint32_t reg = 0; reg < result.run() / per; ++reg) {
      std::byte* const slot = warp.registers + slots[reg];
      const auto sum = [&](std::uint32_t i) {
        const auto [row, column] = result.position(lane, reg * per + i);
        return sums[row * shape.n + column];
      };
      if constexpr (d_type == ScalarType::f16) {
        const auto half = [&](std::uint32_t i) {
          return std::uint32_t{encode_small<f16_format>(sum(i), false)};
        };
        put(slot, lane, half(0) | half(1) << 16);
      } else if constexpr (d_type == ScalarType::s32) {
        put(slot, lane, static_cast<std::int32_t>(sum(0)));
      } else {
        using D = std::conditional_t<d_type == ScalarType::f64, double, float>;
        put(slot, lane, canonical(static_cast<D>(sum(0))));
      }
    }
  });
}

/// A product that the ISA has. `ab`: the type of a and b.
struct Product {
  ScalarType ab;
  ScalarType c;
  ScalarType d;
  Handler handler;
};
template <ScalarType ab, ScalarType c, ScalarType d = c>
constexpr Product product{ab, c, d, &multiply<ab, c, d>};

using T = ScalarType;
constexpr Product products[] = {
    product<T::f16, T::f16>,         product<T::f16, T::f32>,  product<T::f16, T::f16, T::f32>,
    product<T::f16, T::f32, T::f16>, product<T::bf16, T::f32>, product<T::tf32, T::f32>,
    product<T::f64, T::f64>,         product<T::u8, T::s32>,   product<T::s8, T::s32>,
    product<T::u4, T::s32>,          product<T::s4, T::s32>,   product<T::b1, T::s32>,
};

/// Whether the ISA has products of the type with this shape.
bool has_shape(ScalarType ab, const MatrixShape& shape) {
  const auto is = [&](std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    return shape.m == m && shape.n == n && shape.k == k;
  };
  switch (ab) {
    case T::f64: return is(8, 8, 4);
    case T::tf32: return is(16, 16, 8);
    case T::u4:
    case T::s4: return is(8, 8, 32);
    case T::b1: return is(8, 8, 128);
    default: return is(16, 16, 16) || is(8, 32, 16) || is(32, 8, 16);
  }
}

MatrixShape shape_of(const Decoder& d) {
  for (const auto& [m, n, k] :
       {MatrixShape{16, 16, 16}, {8, 32, 16}, {32, 8, 16}, {16, 16, 8}, {8, 8, 4}, {8, 8, 32}, {8, 8, 128}}) {
    if (d.has(fmt::format("m{}n{}k{}", m, n, k))) return {m, n, k};
  }
  d.unsupported();
}

/// The number of registers of fragment `which` ('a', 'b', or 'c' for c and d).
std::size_t registers_of(const MatrixShape& shape, ScalarType type, char which) {
  // A fragment a or b of f16 has 8 registers for every shape.
  if (type == T::f16 && which != 'c') return 8;
  const std::uint32_t elements = which == 'a'   ? shape.m * shape.k
                                 : which == 'b' ? shape.k * shape.n
                                                : shape.m * shape.n;
  return elements / lanes / per_register(type);
}

std::vector<Slot> fragment_slots(Decoder& d, std::size_t operand, const MatrixShape& shape, ScalarType type,
                                 char which, bool written) {
  std::vector<Slot> slots = d.slots(d.arg(operand), type == T::f64 ? T::b64 : T::b32, written);
  if (slots.size() != registers_of(shape, type, which)) d.unsupported("this number of registers");
  return slots;
}

void select_move(Decoder& d) {
  const bool loads = d.has("load");
  const char which = d.has("a") ? 'a' : d.has("b") ? 'b' : 'c';
  const ScalarType type = d.type();
  const MatrixShape shape = shape_of(d);
  const bool exists = std::ranges::any_of(products, [&](const Product& each) {
    return (which == 'c' ? each.c : each.ab) == type && has_shape(each.ab, shape);
  });
  const bool by_column = d.has("col");
  // Types of less than 8 bits have only layouts in which the elements of a byte are adjacent along k.
  if (!exists || (ptx::bits_of(type) < 8 && by_column != (which == 'b'))) d.unsupported();
  Fragment fragment{which == 'b' ? shape.k : shape.m, which == 'a' ? shape.k : shape.n,
                    which != 'c' && by_column};
  MemoryAccess access = d.address(d.arg(loads ? 1 : 0), d.space());
  access.peers = false;
  access.values = fragment_slots(d, loads ? 0 : 1, shape, type, which, loads);
  const std::uint32_t length = by_column ? fragment.rows : fragment.columns;
  const Slot stride = d.args().size() > 2 ? d.read(2, T::b32) : d.constant(length, false);
  const auto handler_of = [&](auto into) -> Handler {
    switch (ptx::bits_of(type)) {
      case 1: return &move_fragment<1, true>;
      case 4: return &move_fragment<4, true>;
      case 8: return &move_fragment<8, true>;
      case 16: return &move_fragment<16, into>;
      case 64: return &move_fragment<64, into>;
      default: return &move_fragment<32, into>;
    }
  };
  d.emit(with_flags(handler_of, loads), fragment.pack(), stride, by_column ? 1 : 0, 0,
         d.add(std::move(access)));
}

void select_product(Decoder& d) {
  const auto types = d.instruction().types();  // d, c; or d, a, b, c
  if (types.size() != 2 && (types.size() != 4 || types[1] != types[2])) d.unsupported();
  const ScalarType ab = types.size() == 2 ? T::f16 : types[1];
  const ScalarType c = types.back();
  const MatrixShape shape = shape_of(d);
  const auto* const found = std::ranges::find_if(
      products, [&](const Product& each) { return each.ab == ab && each.c == c && each.d == types[0]; });
  if (found == std::end(products) || !has_shape(ab, shape)) d.unsupported();
  if (d.has("satfinite") && c != T::s32) d.unsupported();
  // The two words that name a layout are those of a and b.
  std::vector<bool> by_column;
  for (const std::string_view word : d.instruction().words())
    if (word == "row" || word == "col") by_column.push_back(word == "col");
  if (by_column.size() != 2) d.unsupported();
  if (ptx::bits_of(ab) < 8 && (by_column[0] || !by_column[1])) d.unsupported();

  MemoryAccess access;
  std::array<Slot, 4> begin{};
  const ScalarType operand_types[] = {types[0], ab, ab, c};
  for (std::size_t i = 0; i < 4; ++i) {
    begin[i] = static_cast<Slot>(access.values.size());
    const std::vector<Slot> slots = fragment_slots(d, i, shape, operand_types[i], "cabc"[i], i == 0);
    access.values.insert(access.values.end(), slots.begin(), slots.end());
  }
  const std::uint32_t flags = (by_column[0] ? a_by_column : 0U) | (by_column[1] ? b_by_column : 0U) |
                              (d.has("satfinite") ? saturates : 0U) | (d.has("xor") ? exclusive : 0U);
  Handler handler = found->handler;
  if (ab == T::f64) handler = rounded<&multiply<T::f64, T::f64, T::f64>>(d);
  d.emit(handler, shape.m | shape.n << 8 | shape.k << 16 | flags << 24, begin[1], begin[2], begin[3],
         d.add(std::move(access)));
}

constexpr Selector wmma_table[] = {
    {Opcode::wmma, [](Decoder& d) { d.has("mma") ? select_product(d) : select_move(d); }},
};

}  // namespace
}  // namespace wmma_instructions

constinit const Selectors wmma_selectors = wmma_instructions::wmma_table;

}  // namespace sim
TMAJIT_END
