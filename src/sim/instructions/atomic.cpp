/// Atomics (PTX ISA 9.7.13, "atom" and "red").
#include "sim/engine/reduction.hpp"
#include "sim/instructions/select.hpp"
#include "sim/instructions/trace.hpp"

#include <cstring>
#include <mutex>
#include <optional>

TMAJIT_BEGIN
namespace sim {
namespace {

// Atomics run lane by lane. They are host atomics, because CTAs run on several host threads.

/// Checks and records the `bytes` bytes that each lane changes, and calls change(lane, host memory, is shared
/// memory).
template <typename Change>
void change_memory(Warp& warp, const MicroOp& op, Mask mask, std::uint32_t bytes, const Change& change) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  if (access.peers && warp.cta->cluster.delay_peer_access(warp, access, mask)) return;
  ++warp.cta->changes;
  Trace trace(warp, bytes, true, access.ordering);
  std::array<std::byte*, lanes> memory;
  Mask shared = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target target =
        resolve_or_zeros(warp, lane, access.space, address, bytes, bytes, true, access.peers);
    bool legal = check_shadow(warp, lane, target, bytes, false);
    legal = check_shadow(warp, lane, target, bytes, true) && legal;
    trace.add(lane, target, address, legal);
    memory[lane] = target.memory;
    shared |= target.shared ? 1U << lane : 0;
  });
  trace.begin();
  for_lanes(mask, [&](std::uint32_t lane) { change(lane, memory[lane], (shared >> lane & 1) != 0); });
  trace.finish();
}

/// Atomics on one integer, f64 or f32, except sums of f32. d: old value; a and b: operands; c: the operation.
template <typename T>
void atomic(Warp& warp, const MicroOp& op, Mask mask) {
  using Word = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  change_memory(warp, op, mask, sizeof(T), [&](std::uint32_t lane, std::byte* memory, bool) {
    const T a = get<T>(warp.registers + op.a, lane);
    const T b = get<T>(warp.registers + op.b, lane);
    auto* const word = reinterpret_cast<Word*>(memory);
    Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    Word result = 0;
    do {
      result = std::bit_cast<Word>(combine(static_cast<Atomic>(op.c), std::bit_cast<T>(old), a, b));
    } while (!__atomic_compare_exchange_n(word, &old, result, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    put<Word>(warp.registers + op.d, lane, old);
  });
}

/// Atomically replaces the word at `memory` by change(word), and returns the old word.
template <typename Word, typename Change>
Word exchange(std::byte* memory, const Change& change) {
  auto* const word = reinterpret_cast<Word*>(memory);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  Word result = change(old);
  while (!__atomic_compare_exchange_n(word, &old, result, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    result = change(old);
  return old;
}

/// The sum of two f32 for an atomic on global memory: subnormal operands and results are flushed to zero (PTX
/// ISA, "atom", "red").
std::uint32_t flushed_sum(std::uint32_t a, std::uint32_t b) {
  return std::bit_cast<std::uint32_t>(
      canonical(flush(flush(std::bit_cast<float>(a)) + flush(std::bit_cast<float>(b)))));
}

/// Atomics on f16, bf16 and pairs of them, sums of f32, and vectors of all of these. Each element is atomic
/// by itself. accesses[aux].values: the words of the operand, then the old words if the instruction returns
/// them. a: number of operand words; b: type of the elements; c: the operation. The arithmetic is that of the
/// copy engine's reductions, except for f32 in global memory.
template <typename Word>
void combine_elements(Warp& warp, const MicroOp& op, Mask mask) {
  const auto operation = static_cast<Atomic>(op.c);
  const auto type = static_cast<ScalarType>(op.b);
  const auto apply = reduction_of(operation, type, ReductionTo::global)->apply;
  const std::vector<Slot>& values = warp.program->accesses[op.aux].values;
  const auto count = static_cast<std::uint32_t>(op.a);
  change_memory(warp, op, mask, count * sizeof(Word),
                [&](std::uint32_t lane, std::byte* memory, bool shared) {
                  const bool flushes = type == ScalarType::f32 && !shared;
                  for (std::uint32_t i = 0; i < count; ++i) {
                    const Word operand = get<Word>(warp.registers + values[i], lane);
                    const Word old = exchange<Word>(memory + i * sizeof(Word), [&](Word word) {
                      if constexpr (sizeof(Word) == sizeof(float)) {
                        if (flushes) return flushed_sum(word, operand);
                      }
                      apply(reinterpret_cast<std::byte*>(&word), reinterpret_cast<const std::byte*>(&operand),
                            sizeof word, operation);
                      return word;
                    });
                    if (values.size() > count) put<Word>(warp.registers + values[count + i], lane, old);
                  }
                });
}

/// cas and exch of 128 bits. accesses[aux].values has two words, the low one first, of each of these: the
/// value to compare (cas only), the value to store, and the old value if the instruction returns it. c: the
/// operation.
void exchange_128(Warp& warp, const MicroOp& op, Mask mask) {
  using U64 = std::uint64_t;
  // A lock for the whole process, because host atomics of 128 bits would need a library.
  static std::mutex mutex;
  const bool compares = static_cast<Atomic>(op.c) == Atomic::cas;
  const std::vector<Slot>& values = warp.program->accesses[op.aux].values;
  const std::size_t stored = compares ? 2 : 0;
  change_memory(warp, op, mask, 16, [&](std::uint32_t lane, std::byte* memory, bool) {
    const auto value = [&](std::size_t i) { return get<U64>(warp.registers + values[i], lane); };
    const std::lock_guard lock(mutex);
    auto* const words = reinterpret_cast<U64*>(memory);
    const U64 old[] = {__atomic_load_n(words, __ATOMIC_SEQ_CST),
                       __atomic_load_n(words + 1, __ATOMIC_SEQ_CST)};
    if (!compares || (old[0] == value(0) && old[1] == value(1))) {
      for (std::size_t i = 0; i < 2; ++i) __atomic_store_n(words + i, value(stored + i), __ATOMIC_SEQ_CST);
    }
    for (std::size_t i = 0; i < 2 && values.size() > stored + 2; ++i)
      put<U64>(warp.registers + values[stored + 2 + i], lane, old[i]);
  });
}

/// A decoded atomic.
struct Form {
  Atomic operation{};
  ScalarType type{};
  std::size_t address = 0;  ///< index of the address operand
  bool returns = false;     ///< atom; else red
};

void append_slots(Decoder& d, MemoryAccess& access, const Arg& arg, ScalarType type, bool written) {
  const std::vector<Slot> slots = d.slots(arg, type, written);
  access.values.insert(access.values.end(), slots.begin(), slots.end());
}

void emit_128(Decoder& d, const Form& form, MemoryAccess access) {
  const bool compares = form.operation == Atomic::cas;
  if (!compares && form.operation != Atomic::exch) d.unsupported();
  const auto append = [&](const Arg& arg, bool written) {
    if (elements(arg).size() != 2) d.unsupported("this operand");
    append_slots(d, access, arg, ScalarType::b64, written);
  };
  append(d.arg(form.address + 1), false);
  if (compares) append(d.arg(form.address + 2), false);
  if (d.arg(0).kind != Arg::Kind::sink) append(d.arg(0), true);
  d.emit(&exchange_128, 0, 0, 0, static_cast<Slot>(form.operation), d.add(std::move(access)));
}

/// Whether combine_elements() executes the atomic.
bool by_elements(const Decoder& d, const Form& form) {
  return d.instruction().vector_width() != 1 || is_half(form.type) ||
         (form.type == ScalarType::f32 && form.operation == Atomic::add);
}

void emit_elements(Decoder& d, const Form& form, MemoryAccess access) {
  const ScalarType t = form.type;
  const bool halves = is_half(t);
  const std::uint32_t count = d.instruction().vector_width();
  const ScalarType word = ptx::bits_of(t) == 16 ? ScalarType::b16 : ScalarType::b32;
  const ScalarType element = !halves ? t : is_bfloat(t) ? ScalarType::bf16 : ScalarType::f16;
  // The ISA has min and max of f16 and bf16 only for vectors, and only sums of f32.
  const bool supported =
      (halves || t == ScalarType::f32) &&
      (form.operation == Atomic::add ||
       (halves && count > 1 && (form.operation == Atomic::min || form.operation == Atomic::max))) &&
      count * ptx::bits_of(t) <= 128 && (!halves || d.has("noftz"));
  if (!supported) d.unsupported();
  const auto append = [&](const Arg& arg, bool written) {
    if (elements(arg).size() != count) d.unsupported("this operand");
    append_slots(d, access, arg, word, written);
  };
  append(d.arg(form.address + 1), false);
  if (form.returns && d.arg(0).kind != Arg::Kind::sink) append(d.arg(0), true);
  d.emit(word == ScalarType::b16 ? &combine_elements<std::uint16_t> : &combine_elements<std::uint32_t>, 0,
         count, static_cast<Slot>(element), static_cast<Slot>(form.operation), d.add(std::move(access)));
}

void emit_number(Decoder& d, const Form& form, MemoryAccess access) {
  const ScalarType t = form.type;
  const Handler handler = with_number(t, []<typename T>(T) -> Handler {
    if constexpr (sizeof(T) == 1)
      return nullptr;
    else
      return &atomic<T>;
  });
  // For 16-bit words the ISA has only cas.
  if (handler == nullptr || (ptx::bits_of(t) == 16 && form.operation != Atomic::cas)) d.unsupported();
  const std::uint32_t index = d.add(std::move(access));
  const Slot a = d.read(form.address + 1, t);
  const Slot b = form.operation == Atomic::cas ? d.read(form.address + 2, t) : a;
  d.emit(handler, d.write(form.returns ? d.arg(0) : Arg{}, t), a, b, static_cast<Slot>(form.operation),
         index);
}

void select_atom_red(Decoder& d) {
  const std::optional<Atomic> operation = atomic_of(d.instruction());
  if (!operation) d.unsupported();
  Form form{.operation = *operation, .type = d.type()};
  form.returns = d.instruction().opcode == Opcode::atom;
  form.address = form.returns ? 1 : 0;
  MemoryAccess access = d.address(d.arg(form.address), d.space());
  access.ordering = ordering_of(d, true);
  if (form.type == ScalarType::b128) return emit_128(d, form, std::move(access));
  if (by_elements(d, form)) return emit_elements(d, form, std::move(access));
  emit_number(d, form, std::move(access));
}

constexpr Selector atomic_table[] = {
    {Opcode::atom, &select_atom_red},
    {Opcode::red, &select_atom_red},
};

}  // namespace

constinit const Selectors atomic_selectors = atomic_table;

}  // namespace sim
TMAJIT_END
