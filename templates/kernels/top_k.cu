// top_k: the first k elements of each row, in order, with their places.
//
//   row --elements become keys: a greater one is earlier--> the first k by (key, place) --places--> values, index
//
// Keys are unsigned integers, so that equal elements, such as 0 and -0 or any two NaN, have equal keys. No two elements have
// the same key and place: the order is total, and results do not depend on the order in which threads find them.
//@ # Facts of the kernel: rank, element_bytes, index_bytes, largest, Order, Team; those of the team. FloatOrder: greatest_number.
#include "tmajit/division.cuh"
#include "tmajit/shuffles.cuh"
#include "tmajit/top_k_plan.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

using Plan = params::TopKPlan<rank>;
using Element = typename Bits<element_bytes>::Type;
using Key = typename Bits<element_bytes == 8 ? 8 : 4>::Type;

constexpr u32 key_bits = 8 * element_bytes;
constexpr Key sign = Key(1) << (key_bits - 1);
constexpr Key all_ones = sign | (sign - 1);
constexpr u32 no_place = ~0U;

// ---- keys ----

// An order's ascending() is greater for greater elements.
struct UnsignedOrder {
  static __device__ __forceinline__ Key ascending(Key bits) { return bits; }
};
struct SignedOrder {
  static __device__ __forceinline__ Key ascending(Key bits) { return bits ^ sign; }
};
struct FloatOrder {
  static __device__ __forceinline__ Key ascending(Key bits) {
    const Key magnitude = bits & ~sign;
    const Key number = bits & sign ? sign - magnitude : sign + magnitude;
    return magnitude > static_cast<Key>(greatest_number) ? all_ones : number;
  }
};

// The key of an element; a greater one is earlier in the results.
__device__ __forceinline__ Key key_of(Element element) {
  const Key key = Order::ascending(element);
  return largest ? key : key ^ all_ones;
}

// ---- rows ----

struct Row {
  const u8* x;
  u8* values;
  u8* index;
};

__device__ __forceinline__ Row row_of(const Plan& plan, u32 row) {
  Row at{plan.x, plan.values, plan.index};
#pragma unroll
  for (u32 n = 0; n < rank; ++n) {
    const u32 d = rank - 1 - n;
    const i64 digit = d > 0 ? take(plan.digit[d].count, row) : row;
    at.x += digit * plan.digit[d].x;
    at.values += digit * plan.digit[d].values;
    if (index_bytes != 0) at.index += digit * plan.digit[d].index;
  }
  return at;
}

// Stores result number `result`: the element at `place` of the row.
__device__ __forceinline__ void store_result(const Plan& plan, const Row& row, u32 result, u32 place, Element element) {
  *reinterpret_cast<Element*>(row.values + result * plan.values_step) = element;
  if constexpr (index_bytes != 0) {
    *reinterpret_cast<typename Bits<index_bytes == 0 ? 4 : index_bytes>::Type*>(row.index + result * plan.index_step) = place;
  }
}

// The elements of a vector of `vector_bytes`.
using Piece = typename Bits<vector_bytes>::Type;
constexpr u32 vector_elements = vector_bytes / element_bytes;
struct Elements {
  Element at[vector_elements];
};

// ---- a warp takes a row ----

//@ # Facts: vectors, vector_bytes.
// A warp holds a row in registers. For each result it finds the first element of all lanes.
struct WarpTeam {
  static constexpr u32 held = vectors * vector_elements;  // elements of a lane, at most 32

  // The first element that a lane still has.
  struct First {
    Key key;
    u32 slot;
    u32 place;
  };

  static __device__ __forceinline__ First first_of(const Key (&key)[held], u32 present, u32 lane) {
    First first{0, 0, no_place};
#pragma unroll
    for (u32 n = 0; n < held; ++n) {
      const u32 slot = held - 1 - n;
      if ((present >> slot & 1) != 0 && key[slot] >= first.key) {
        first.key = key[slot];
        first.slot = slot;
        first.place = (slot / vector_elements * 32 + lane) * vector_elements + slot % vector_elements;
      }
    }
    return first;
  }

  // The place of the first element of all lanes. Lanes without an element have key 0 and `no_place`.
  static __device__ __forceinline__ u32 first_place(const First& own) {
    if constexpr (element_bytes <= 2) {
      const u32 all = __reduce_max_sync(~0U, static_cast<u32>(own.key) << 16 | (~own.place & 0xffff));
      return ~all & 0xffff;
    } else {
      bool is_first = true;
#pragma unroll
      for (u32 shift = 8 * sizeof(Key); shift > 0;) {  // words of the key, the highest one first
        shift -= 32;
        const u32 word = is_first ? static_cast<u32>(own.key >> shift) : 0;
        const u32 greatest = __reduce_max_sync(~0U, word);
        is_first = is_first && word == greatest;
      }
      return __reduce_min_sync(~0U, is_first ? own.place : no_place);
    }
  }

  static __device__ __forceinline__ void select(const Plan& plan) {
    const u32 lane = threadIdx.x % 32;
    const u32 number = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (number >= plan.rows) return;
    const Row row = row_of(plan, number);
    Piece piece[vectors];
    u32 present = 0;
#pragma unroll
    for (u32 v = 0; v < vectors; ++v) {
      const u32 place = (v * 32 + lane) * vector_elements;  // rows are whole vectors
      piece[v] = Piece{};
      if (place >= plan.length) continue;
      piece[v] = *reinterpret_cast<const Piece*>(row.x + place * plan.x_step);
      present |= static_cast<u32>((u64(1) << vector_elements) - 1) << (v * vector_elements);
    }
    Key key[held];
#pragma unroll
    for (u32 v = 0; v < vectors; ++v) {
      const Elements elements = __builtin_bit_cast(Elements, piece[v]);
#pragma unroll
      for (u32 i = 0; i < vector_elements; ++i) key[v * vector_elements + i] = key_of(elements.at[i]);
    }
    First first = first_of(key, present, lane);
    u32 mine = 0;  // the place of the result whose number is the lane's
#pragma unroll 1
    for (u32 result = 0; result < plan.count; ++result) {
      const u32 place = first_place(first);
      if (lane == result) mine = place;
      if (place == first.place) {
        present &= ~(1U << first.slot);
        first = first_of(key, present, lane);
      }
    }
    if (lane < plan.count)
      store_result(plan, row, lane, mine, *reinterpret_cast<const Element*>(row.x + mine * plan.x_step));
  }
};

// ---- a CTA takes a row ----

// The elements of a row in memory.
struct Line {
  const u8* first;
  i64 step;
  u32 length;
};

// How a CTA reads a row whose elements are neighbours: by vectors, and those before the first and after the last vector one by
// one. It calls visit(element, place) for each element of the row, and keep(loaded, place) for each vector or element that it
// loads, with the place of the first element.
struct Contiguous {
  template <class Visit, class Keep>
  static __device__ __forceinline__ void walk(const Line& line, const Visit& visit, const Keep& keep) {
    const u32 unaligned = (0U - static_cast<u32>(reinterpret_cast<u64>(line.first))) % vector_bytes / element_bytes;
    const u32 head = unaligned < line.length ? unaligned : line.length;
    const u32 whole = (line.length - head) / vector_elements;
    const u32 tail = head + whole * vector_elements;
    // Each element before and after the vectors has a thread of its own: there are fewer of them than in two vectors.
    if (threadIdx.x < head + line.length - tail) {
      const u32 place = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
      const Element element = *reinterpret_cast<const Element*>(line.first + i64(place) * element_bytes);
      keep(element, place);
      visit(element, place);
    }
    const u8* const body = line.first + i64(head) * element_bytes;
#pragma unroll 1
    for (u32 first = threadIdx.x; first < whole; first += turns * blockDim.x) {
      Piece piece[turns];
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) {
        const u32 vector = first + turn * blockDim.x;
        if (vector < whole) piece[turn] = *reinterpret_cast<const Piece*>(body + i64(vector) * vector_bytes);
      }
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) {
        const u32 vector = first + turn * blockDim.x;
        if (vector >= whole) continue;
        const u32 place = head + vector * vector_elements;
        keep(piece[turn], place);
        const Elements elements = __builtin_bit_cast(Elements, piece[turn]);
#pragma unroll
        for (u32 i = 0; i < vector_elements; ++i) visit(elements.at[i], place + i);
      }
    }
  }
};

// How a CTA reads a row whose elements are not neighbours.
struct Strided {
  template <class Visit, class Keep>
  static __device__ __forceinline__ void walk(const Line& line, const Visit& visit, const Keep& keep) {
#pragma unroll 1
    for (u32 first = threadIdx.x; first < line.length; first += turns * blockDim.x) {
      Element element[turns];
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) {
        const u32 place = first + turn * blockDim.x;
        if (place < line.length) element[turn] = *reinterpret_cast<const Element*>(line.first + place * line.step);
      }
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) {
        const u32 place = first + turn * blockDim.x;
        if (place >= line.length) continue;
        keep(element[turn], place);
        visit(element[turn], place);
      }
    }
  }
};

// The row is read again for each pass.
struct ReadAgain {
  using Again = Access;
  static constexpr bool always = false;  // whether there is a first pass for every row
  template <class Visit>
  static __device__ __forceinline__ Line read(const Line& line, const Visit& visit) {
    Access::walk(line, visit, [](const auto&, u32) {});
    return line;
  }
};

// The first pass copies the row into shared memory, from which further passes read it.
struct KeepRow {
  using Again = Contiguous;
  static constexpr bool always = true;
  template <class Visit>
  static __device__ __forceinline__ Line read(const Line& line, const Visit& visit) {
    extern __shared__ __align__(16) u8 kept[];
    // Vectors of the row in memory are aligned in the copy, too.
    u8* const copy = kept + static_cast<u32>(reinterpret_cast<u64>(line.first)) % 16;
    Access::walk(line, visit, [&](const auto& loaded, u32 place) {
      *reinterpret_cast<typename Bits<sizeof(loaded)>::Type*>(copy + place * element_bytes) = loaded;
    });
    return Line{copy, element_bytes, line.length};
  }
};

// The digits of (key, ~place) that are known of the last result. Elements whose digits are not less may be results.
struct Bound {
  Key key = 0;
  Key key_mask = 0;
  u32 place = 0;
  u32 place_mask = 0;

  // Whether an element has exactly these digits.
  __device__ __forceinline__ bool holds(Key k, u32 p) const {
    return ((k ^ key) & key_mask) == 0 && ((~p ^ place) & place_mask) == 0;
  }
  __device__ __forceinline__ bool selects(Key k, u32 p) const {
    const Key digits = k & key_mask;
    return digits > key || (digits == key && (~p & place_mask) >= place);
  }
};

struct Shared {
  u32 bins[256];  // elements by their digit
  Key key[capacity];
  u32 place[capacity];
  u32 found;  // elements of `key` and `place`
  u32 digit;  // the chosen digit: that of the last result
  u32 above;  // elements with a greater digit in this pass or in an earlier one
  u32 equal;  // elements with the chosen digit
};

// One warp finds the digit of the last of `count` results and empties the bins. `above` elements come before those in the bins. A
// lane has eight digits, the greatest first.
__device__ __forceinline__ void choose_digit(Shared& shared, u32 count, u32 above) {
  const u32 lane = threadIdx.x;
  const u32 greatest = 255 - 8 * lane;
  u32 bin[8];
  u32 own = 0;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) {
    bin[i] = shared.bins[greatest - i];
    shared.bins[greatest - i] = 0;
    own += bin[i];
  }
  u32 before = above + sum_up_to_lane(own, lane) - own;
#pragma unroll
  for (u32 i = 0; i < 8; ++i) {
    if (before < count && count <= before + bin[i]) {
      shared.digit = greatest - i;
      shared.above = before;
      shared.equal = bin[i];
    }
    before += bin[i];
  }
}

// Sorts the first `size` elements, a power of two: the earliest one first.
__device__ __forceinline__ void sort_found(Shared& shared, u32 size) {
#pragma unroll 1
  for (u32 sorted = 2; sorted <= size; sorted *= 2) {
#pragma unroll 1
    for (u32 distance = sorted / 2; distance > 0; distance /= 2) {
      for (u32 pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
        const u32 a = 2 * pair - (pair & (distance - 1));
        const u32 b = a + distance;
        const Key key_a = shared.key[a];
        const Key key_b = shared.key[b];
        const u32 place_a = shared.place[a];
        const u32 place_b = shared.place[b];
        const bool b_is_earlier = key_b > key_a || (key_b == key_a && place_b < place_a);
        if (b_is_earlier == ((a & sorted) == 0)) {
          shared.key[a] = key_b;
          shared.key[b] = key_a;
          shared.place[a] = place_b;
          shared.place[b] = place_a;
        }
      }
      __syncthreads();
    }
  }
}

//@ # Facts: capacity, turns, vector_bytes, Access, Rereads.
// A CTA counts the elements of a row by their digits of 8 bits, the highest first, until few elements may be results. It
// sorts these. Digits of the place decide between equal keys.
struct CtaTeam {
  static __device__ __forceinline__ void select(const Plan& plan) {
    __shared__ Shared shared;
    for (u32 bin = threadIdx.x; bin < 256; bin += blockDim.x) shared.bins[bin] = 0;
    if (threadIdx.x == 0) shared.found = 0;
    __syncthreads();
    const Row row = row_of(plan, blockIdx.x);
    Line line{row.x, plan.x_step, plan.length};
    Bound bound;
    const auto add = [&](Element element, u32 place) {
      const Key key = key_of(element);
      if (!bound.selects(key, place)) return;
      const u32 at = atomicAdd(&shared.found, 1U);
      shared.key[at] = key;
      shared.place[at] = place;
    };
    if (Rereads::always || plan.length > plan.enough) {
      line = Rereads::read(line, [&](Element element, u32) {
        atomicAdd(&shared.bins[static_cast<u32>(key_of(element) >> (key_bits - 8))], 1U);
      });
      narrow(plan, shared, line, bound);
    }
    Rereads::Again::walk(line, add, [](const auto&, u32) {});
    __syncthreads();
    u32 size = 1;
    while (size < shared.found) size *= 2;
    for (u32 i = shared.found + threadIdx.x; i < size; i += blockDim.x) {
      shared.key[i] = 0;
      shared.place[i] = no_place;
    }
    __syncthreads();
    sort_found(shared, size);
    for (u32 result = threadIdx.x; result < plan.count; result += blockDim.x) {
      const u32 place = shared.place[result];
      store_result(plan, row, result, place, *reinterpret_cast<const Element*>(row.x + place * plan.x_step));
    }
  }

 private:
  // Adds digits to the bound until at most `enough` elements are selected. The bins have the first digit's counts.
  static __device__ __forceinline__ void narrow(const Plan& plan, Shared& shared, const Line& line, Bound& bound) {
    u32 above = 0;
#pragma unroll 1
    for (u32 pass = 0;; ++pass) {
      __syncthreads();
      if (threadIdx.x < 32) choose_digit(shared, plan.count, above);
      __syncthreads();
      above = shared.above;
      const bool is_key = pass < element_bytes;
      const u32 shift = is_key ? key_bits - 8 * (pass + 1) : 8 * (plan.place_digits + element_bytes - pass - 1);
      if (is_key) {
        bound.key |= static_cast<Key>(shared.digit) << shift;
        bound.key_mask |= static_cast<Key>(255) << shift;
      } else {
        bound.place |= shared.digit << shift;
        bound.place_mask |= 255U << shift;
      }
      if (above + shared.equal <= plan.enough) return;
      const bool next_is_key = pass + 1 < element_bytes;
      const u32 next = next_is_key ? key_bits - 8 * (pass + 2) : 8 * (plan.place_digits + element_bytes - pass - 2);
      Rereads::Again::walk(
          line,
          [&](Element element, u32 place) {
            const Key key = key_of(element);
            if (!bound.holds(key, place)) return;
            const u32 digit = next_is_key ? static_cast<u32>(key >> next) : ~place >> next;
            atomicAdd(&shared.bins[digit & 255], 1U);
          },
          [](const auto&, u32) {});
    }
  }
};

}  // namespace tmajit
