// rowwise: reductions and element-wise steps over rows.
//
//   sources --`turns` vectors of a thread--> registers --run_steps(): reduced, combined by the threads of the row--> its values
//                                            registers, with the values of the row --run_steps(): stored--> destinations
//
// The threads that share a row are its team. If a row does not fit into the registers of its team, each step loads it again.
//@ # Facts of the kernel: vector, turns, rows_at_once, operands, Index, Team, Elements, Edges (with anchor and anchor_bytes if
//@ # staggered), RowShape, max_threads, cluster, reductions, Source<i>, AllSources, Target<j>; run_steps(), the user's steps.
#include "tmajit/reducers.cuh"
#include "tmajit/row_teams.cuh"
#include "tmajit/thread_vectors.cuh"

namespace tmajit {

using Plan = params::RowPlan<operands>;

// ---- where vectors begin and end ----

// Each vector is in the row, or beyond it.
struct WholeVectors {
  static constexpr bool cuts = false;
  static __device__ __forceinline__ i32 before(u8* const (&)[operands], const i64 (&)[operands]) { return 0; }
  static __device__ __forceinline__ Range range(i32 first, i32 length) { return {0, first < length ? vector : 0}; }
};
// A row may end within its last vector.
struct CutVectors {
  static constexpr bool cuts = true;
  static __device__ __forceinline__ i32 before(u8* const (&)[operands], const i64 (&)[operands]) { return 0; }
  static __device__ __forceinline__ Range range(i32 first, i32 length) {
    const i32 rest = length - first;
    return {0, rest >= static_cast<i32>(vector) ? vector : rest < 0 ? 0 : static_cast<u32>(rest)};
  }
};
// Vectors begin at multiples of their size in memory, so the first may begin before the row.
struct StaggeredVectors {
  static constexpr bool cuts = true;
  static __device__ __forceinline__ i32 before(u8* const (&first)[operands], const i64 (&at)[operands]) {
    const u64 address = reinterpret_cast<u64>(first[anchor]) + static_cast<u64>(at[anchor]);
    return static_cast<i32>(static_cast<u32>(address) / anchor_bytes % vector);
  }
  static __device__ __forceinline__ Range range(i32 first, i32 length) {
    const Range range = CutVectors::range(first, length);
    return {first < 0 ? static_cast<u32>(-first) : 0, range.end};
  }
};

// ---- rows ----

// The position of a row.
struct Row {
  i64 at[operands];  // bytes from the first row
  i32 before;        // elements between the multiple of a vector before the row and the row
  bool exists;
};

__device__ __forceinline__ Row row_of(const Plan& plan, Index number) {
  Row row{};
  row.exists = number < plan.rows;
  Index rest = row.exists ? number : 0;
#pragma unroll 1
  for (u32 d = 0; d < plan.row_digits; ++d) {
    const Index index = d + 1 == plan.row_digits ? rest : take_index(plan.digit[d].extent, plan.digit[d].count, rest);
#pragma unroll
    for (u32 k = 0; k < operands; ++k) row.at[k] += static_cast<i64>(index) * plan.digit[d].step[k];
  }
  row.before = Edges::before(plan.first, row.at);
  return row;
}

// ---- how elements of an operand are accessed ----

// The distance of element n from the first element of its row, in bytes. All elements of a vector are neighbours in the innermost
// dimension of the row.
struct OneDimension {
  template <u32 k>
  static __device__ __forceinline__ i64 offset(const Plan& plan, i32 n) { return n * plan.step[k]; }
  // The same where elements are neighbours in memory.
  template <u32 k, u32 bytes>
  static __device__ __forceinline__ i64 offset_of_vector(const Plan&, i32 n) { return static_cast<i64>(n) * bytes; }
  // The index of element n in the user's row, which may run the other way.
  static __device__ __forceinline__ i32 index(const Plan& plan, i32 n) { return plan.first_place + n * plan.place_step; }
};
struct ManyDimensions {
  template <u32 k>
  static __device__ __forceinline__ i64 offset(const Plan& plan, i32 n) {
    u32 rest = static_cast<u32>(n);
    i64 at = 0;
#pragma unroll 1
    for (u32 d = plan.row_digits; d < plan.digits; ++d) {
      const u32 index = d + 1 == plan.digits ? rest : take(plan.digit[d].count, rest);
      at += static_cast<i64>(index) * plan.digit[d].step[k];
    }
    return at;
  }
  template <u32 k, u32>
  static __device__ __forceinline__ i64 offset_of_vector(const Plan& plan, i32 n) { return offset<k>(plan, n); }
  static __device__ __forceinline__ i32 index(const Plan& plan, i32 n) {
    u32 rest = static_cast<u32>(n);
    i32 place = plan.first_place;
#pragma unroll 1
    for (u32 d = plan.row_digits; d < plan.digits; ++d) {
      place += static_cast<i32>(d + 1 == plan.digits ? rest : take(plan.digit[d].count, rest)) * plan.digit[d].place;
    }
    return place;
  }
};

// Element by element, whatever the distance between neighbours.
struct ByElement {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    using Element = typename Bits<bytes>::Type;
    Element loaded[vector] = {};
    const u8* const at = from + RowShape::offset<k>(plan, first);
#pragma unroll
    for (u32 n = 0; n < vector; ++n) {
      if (n < range.begin || n >= range.end) continue;
      loaded[n] = *reinterpret_cast<const Element*>(at + static_cast<i64>(n) * plan.step[k]);
    }
    out = {};
#pragma unroll
    for (u32 n = 0; n < vector; ++n) out.set(n, loaded[n]);
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan& plan, const Raw<bytes, count>& value, i32 first, Range range) {
    u8* const at = to + RowShape::offset<k>(plan, first);
#pragma unroll
    for (u32 n = 0; n < vector; ++n) {
      if (n < range.begin || n >= range.end) continue;
      *reinterpret_cast<typename Bits<bytes>::Type*>(at + static_cast<i64>(n) * plan.step[k]) = value.get(n);
    }
  }
};
// The same element throughout the row.
struct OneElement {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan&, const u8* from, i32, Range) {
    const auto loaded = *reinterpret_cast<const typename Bits<bytes>::Type*>(from);
    out = {};
#pragma unroll
    for (u32 n = 0; n < vector; ++n) out.set(n, loaded);
  }
};
// Loads and stores the elements of a vector that exist, side by side.
template <u32 bytes, u32 count>
__device__ __forceinline__ void load_run(Raw<bytes, count>& out, const u8* from, Range range) {
  using Element = typename Bits<bytes>::Type;
  Element loaded[vector] = {};
#pragma unroll
  for (u32 n = 0; n < vector; ++n) {
    if (n >= range.begin && n < range.end) loaded[n] = reinterpret_cast<const Element*>(from)[n];
  }
  out = {};
#pragma unroll
  for (u32 n = 0; n < vector; ++n) out.set(n, loaded[n]);
}
template <u32 bytes, u32 count>
__device__ __forceinline__ void store_run(u8* to, const Raw<bytes, count>& value, Range range) {
#pragma unroll
  for (u32 n = 0; n < vector; ++n) {
    if (n >= range.begin && n < range.end) reinterpret_cast<typename Bits<bytes>::Type*>(to)[n] = value.get(n);
  }
}

// Whole vectors at multiples of their size; the elements of other vectors one by one.
struct ByVector {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    const u8* const at = from + RowShape::offset_of_vector<k, bytes>(plan, first);
    if (!Edges::cuts || range.whole()) return load_words<least(bytes * vector, 16)>(out.word, at);
    load_run(out, at, range);
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan& plan, const Raw<bytes, count>& value, i32 first, Range range) {
    u8* const at = to + RowShape::offset_of_vector<k, bytes>(plan, first);
    if (!Edges::cuts || range.whole()) return store_raw<least(bytes * vector, 16)>(at, value);
    store_run(at, value, range);
  }
};
// Whole vectors that begin anywhere, by words. The words of shorter elements reach beyond the vector: near the ends of a row,
// elements are loaded one by one.
struct ByWords {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    constexpr i32 margin = bytes < 4 ? 4 / bytes : 0;
    const u8* const at = from + static_cast<i64>(first) * bytes;
    if (!range.whole() || first < margin || first + static_cast<i32>(vector) + margin > static_cast<i32>(plan.length)) {
      load_run(out, at, range);
    } else if constexpr (bytes < 4) {
      load_words_anywhere(out.word, at);
    } else {
      load_words<bytes>(out.word, at);
    }
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan&, const Raw<bytes, count>& value, i32 first, Range range) {
    store_run(to + static_cast<i64>(first) * bytes, value, range);
  }
};

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Row& row, i32 first, Range range) {
  Source<i>::Access::template load<i + 1>(input.bits, plan, plan.first[i + 1] + row.at[i + 1], first, range);
}

// Late sources are the same for all rows, such as weights, and only results read them: they are loaded for the results, so that no
// registers hold them while the row is reduced.
template <bool late, u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Row& row, i32 first, Range range) {
  ((Source<i>::is_late == late ? load_input<i>(inputs, plan, row, first, range) : void()), ...);
}

// ---- the elements of a row ----

// The first element of vector `turn` of a thread, counted from the beginning of its row.
__device__ __forceinline__ i32 first_element(const Team& team, const Row& row, u32 turn) {
  return static_cast<i32>((turn * team.size + team.index) * vector) - row.before;
}
__device__ __forceinline__ Range elements_at(const Plan& plan, const Row& row, i32 first) {
  return row.exists ? Edges::range(first, static_cast<i32>(plan.length)) : Range{0, 0};
}

// A thread holds its elements in registers.
struct HeldElements {
  AllInputs inputs[turns];
  Range range[turns];

  __device__ __forceinline__ void load(const Plan& plan, const Team& team, const Row& row) {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      const i32 first = first_element(team, row, turn);
      range[turn] = elements_at(plan, row, first);
      if (range[turn].begin < range[turn].end) load_inputs<false>(inputs[turn], plan, row, first, range[turn]);
    }
  }
  // Calls visit(inputs, turn, first, range) for each vector of the thread, without late sources.
  template <class Visit>
  __device__ __forceinline__ void each(const Plan&, const Team& team, const Row& row, const Visit& visit) const {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      if (range[turn].begin < range[turn].end) visit(inputs[turn], turn, first_element(team, row, turn), range[turn]);
    }
  }
  // The same with late sources, which are loaded one vector ahead.
  template <class Visit>
  __device__ __forceinline__ void each_complete(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    AllInputs next = inputs[0];
    if (range[0].begin < range[0].end) load_inputs<true>(next, plan, row, first_element(team, row, 0), range[0]);
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      const AllInputs now = next;
      if (turn + 1 < turns) {
        next = inputs[turn + 1];
        const Range ahead = range[turn + 1];
        if (ahead.begin < ahead.end) load_inputs<true>(next, plan, row, first_element(team, row, turn + 1), ahead);
      }
      if (range[turn].begin < range[turn].end) visit(now, turn, first_element(team, row, turn), range[turn]);
    }
  }
};
// A thread loads its elements for each step.
struct ReloadedElements {
  __device__ __forceinline__ void load(const Plan&, const Team&, const Row&) {}
  template <class Visit>
  __device__ __forceinline__ void each(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    walk<false>(plan, team, row, visit);
  }
  template <class Visit>
  __device__ __forceinline__ void each_complete(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    walk<true>(plan, team, row, visit);
  }

 private:
  template <bool complete, class Visit>
  __device__ __forceinline__ void walk(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    const u32 vectors = (plan.length + static_cast<u32>(row.before) + vector - 1) / vector;
#pragma unroll 1
    for (u32 turn = 0; turn * team.size < vectors; turn += turns) {
      AllInputs inputs[turns];
      Range range[turns];
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        const i32 first = first_element(team, row, turn + t);
        range[t] = elements_at(plan, row, first);
        if (range[t].begin >= range[t].end) continue;
        load_inputs<false>(inputs[t], plan, row, first, range[t]);
        if (complete) load_inputs<true>(inputs[t], plan, row, first, range[t]);
      }
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        if (range[t].begin < range[t].end) visit(inputs[t], t, first_element(team, row, turn + t), range[t]);
      }
    }
  }
};

// The values of a vector of each source.
template <u32... i>
__device__ __forceinline__ AllValues<pack_count, i...> values_of(const Inputs<i...>& inputs) {
  AllValues<pack_count, i...> values;
  (to_pack<typename Source<i>::Element, pack_count>(static_cast<const Input<i>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, pack_count>&>(values).at),
   ...);
  return values;
}

// ---- reductions ----

constexpr u32 states = least(vector, 4);  // independent accumulators of a thread

// The user's steps call these functions, which reduce over the row and store its results.
struct RowSteps {
  const Plan& plan;
  const Team& team;
  const Row& row;
  const Elements& elements;

//@ if numbers
  // The number that the launch passes in place of operand k's address.
  template <class T, u32 k>
  __device__ __forceinline__ T number() const {
    const auto bits = static_cast<typename Bits<sizeof(T)>::Type>(reinterpret_cast<u64>(static_cast<u8*>(plan.first[k])));
    return __builtin_bit_cast(T, bits);
  }

//@ end
  // Calls of element(i, slot, x…) compute a value of the element with index i, which is the thread's element number `slot`.

  // Reduces the values over the row. `step` numbers the kernel's reductions.
  template <template <class> class Reducer, u32 step, class Element>
  __device__ __forceinline__ auto reduced(const Element& element) const { return reduce<Reducer, step>(AllSources{}, element); }

  // The values of all elements that the thread holds, in registers.
  template <class Element>
  __device__ __forceinline__ auto kept(const Element& element) const { return keep(AllSources{}, element); }

  // Stores the values of each element of the row to the destinations j, one of which may be a source: all values of a vector
  // come from what was loaded before the first is stored.
  template <u32... j, class... Element>
  __device__ __forceinline__ void store(Indices<j...>, const Element&... element) const {
    elements.each_complete(plan, team, row, [&](const AllInputs& inputs, u32 turn, i32 first, Range range) {
      const auto x = values_of(inputs);
      (store_vector<j>(AllSources{}, x, turn, first, range, element), ...);
    });
  }

  // Stores the row's value to destination j.
  template <u32 j, class T>
  __device__ __forceinline__ void store_value(T value) const {
    using To = typename Target<j>::Element;
    if (team.index != 0 || !row.exists) return;
    const Value<To> values[2] = {convert<Value<To>>(value), convert<Value<To>>(value)};  // a pack has at least two elements
    Pack<To, 2> pack;
    pack.encode(values);
    constexpr u32 k = Target<j>::operand;
    *reinterpret_cast<typename Bits<sizeof(To)>::Type*>(plan.first[k] + row.at[k]) = to_raw<To, 2>(pack).get(0);
  }

 private:
  template <template <class> class Reducer, u32 step, class Element, u32... i>
  __device__ __forceinline__ auto reduce(Indices<i...>, const Element& element) const {
    using Reduced = Reducer<decltype(element(0, 0, Value<typename Source<i>::Element>{}...))>;
    typename Reduced::State state[states];
#pragma unroll
    for (u32 n = 0; n < states; ++n) state[n] = Reduced::identity();
    elements.each(plan, team, row, [&](const AllInputs& inputs, u32 turn, i32 first, Range range) {
      const auto x = values_of(inputs);
      const auto add = [&](u32 n) {
        const i32 at = RowShape::index(plan, first + static_cast<i32>(n));
        const auto value = element(at, turn * vector + n, static_cast<const SourceValues<i, pack_count>&>(x).at[n]...);
        state[n % states] = Reduced::combine(state[n % states], Reduced::of(value, at));
      };
      if (!Edges::cuts || range.whole()) {
#pragma unroll
        for (u32 n = 0; n < vector; ++n) add(n);
      } else {
#pragma unroll
        for (u32 n = 0; n < vector; ++n) {
          if (n >= range.begin && n < range.end) add(n);
        }
      }
    });
#pragma unroll
    for (u32 n = 1; n < states; ++n) state[0] = Reduced::combine(state[0], state[n]);
    return Reduced::result(team.template combined<Reduced, step>(state[0]), plan.length);
  }

  template <class Element, u32... i>
  __device__ __forceinline__ auto keep(Indices<i...>, const Element& element) const {
    struct Kept {
      decltype(element(0, 0, Value<typename Source<i>::Element>{}...)) at[turns * vector];
    } kept;
    elements.each(plan, team, row, [&](const AllInputs& inputs, u32 turn, i32 first, Range) {
      const auto x = values_of(inputs);
#pragma unroll
      for (u32 n = 0; n < vector; ++n) {
        kept.at[turn * vector + n] = element(RowShape::index(plan, first + static_cast<i32>(n)), turn * vector + n,
                                             static_cast<const SourceValues<i, pack_count>&>(x).at[n]...);
      }
    });
    return kept;
  }

  template <u32 j, u32... i, class Element>
  __device__ __forceinline__ void store_vector(Indices<i...>, const AllValues<pack_count, i...>& x, u32 turn, i32 first, Range range,
                                               const Element& element) const {
    using To = typename Target<j>::Element;
    constexpr u32 k = Target<j>::operand;
    Value<To> out[pack_count] = {};
#pragma unroll
    for (u32 n = 0; n < vector; ++n) {
      out[n] = convert<Value<To>>(element(RowShape::index(plan, first + static_cast<i32>(n)), turn * vector + n,
                                          static_cast<const SourceValues<i, pack_count>&>(x).at[n]...));
    }
    Pack<To, pack_count> pack;
    pack.encode(out);
    Target<j>::Access::template store<k>(plan.first[k] + row.at[k], plan, to_raw<To, pack_count>(pack), first, range);
  }
};

__device__ __forceinline__ void compute_rows(const Plan& plan) {
  const Team team(plan.threads);
  Row row[rows_at_once];
  Elements elements[rows_at_once];
#pragma unroll
  for (u32 r = 0; r < rows_at_once; ++r) {
    row[r] = row_of(plan, static_cast<Index>(team.first_row()) + r * static_cast<Index>(team.rows()));
    elements[r].load(plan, team, row[r]);
  }
  team.prepare();
#pragma unroll
  for (u32 r = 0; r < rows_at_once; ++r) {
    run_steps(static_cast<i32>(plan.length), RowSteps{plan, team, row[r], elements[r]});
  }
}

}  // namespace tmajit
