// rowwise: reductions and element-wise steps over rows.
//
//   sources --`turns` vectors of a thread--> registers --run_steps(): reduced, combined by the threads of the row--> its values
//                                            registers, with the values of the row --run_steps(): stored--> destinations
//
// The threads that share a row are its team. If a row does not fit into the registers of its team, each step loads it again, from
// shared memory if it fits there.
//@ # Facts of the kernel: rows_at_once, max_threads, cluster, reductions, Elements, those of row_elements.cuh; run_steps(), the user's
//@ # steps. The flag `grid` is set if Team is GridTeam, `online` if a pass computes two reductions.
#include "tmajit/reducers.cuh"
//@ if online
#include "tmajit/online_reducers.cuh"
//@ end
#include "tmajit/row_elements.cuh"

namespace tmajit {

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

  // The same for a sum whose terms are zero but for that of the element with index `place`: no other term is computed.
  template <template <class> class Reducer, u32 step, class Place, class Element>
  __device__ __forceinline__ auto reduced_at(Place place, const Element& element) const {
    return reduce_at<Reducer, step>(AllSources{}, static_cast<i64>(place), element);
  }

  // Reduces a value that is equal for all elements of the row: it depends only on the sources `read`, which have one element for a row.
  template <template <class> class Reducer, u32... read, class Element>
  __device__ __forceinline__ auto reduced_constant(Indices<read...>, const Element& element) const {
    AllInputs inputs = {};
    // A team without a row loads nothing: another team may overwrite the element of the first row.
    if (row.length > 0) (load_input<read>(static_cast<Input<read>&>(inputs), plan, row, 0, Range{0, 1}), ...);
    return constant<Reducer>(AllSources{}, inputs, element);
  }

  // The values of all elements that the thread holds, in registers.
  template <class Element>
  __device__ __forceinline__ auto kept(const Element& element) const { return keep(AllSources{}, element); }

  // Stores the values of each element of the row to the destinations j, one of which may be a source: all sources of a vector
  // are loaded before its first value is stored.
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
    if (team.index != 0 || row.length == 0) return;
    const Value<To> values[2] = {convert<Value<To>>(value), convert<Value<To>>(value)};  // a pack has at least two elements
    Pack<To, 2> pack;
    pack.encode(values);
    constexpr u32 k = Target<j>::operand;
    *reinterpret_cast<typename Bits<sizeof(To)>::Type*>(plan.first[k] + row.at[k]) = to_raw<To, 2>(pack).get(0);
  }

 private:
  template <template <class> class Reducer, class Element, u32... i>
  __device__ __forceinline__ auto constant(Indices<i...>, const AllInputs& inputs, const Element& element) const {
    const auto x = values_of(inputs);
    const auto value = element(0, 0, static_cast<const SourceValues<i, pack_count>&>(x).at[0]...);
    return Reducer<decltype(value)>::result(Reducer<decltype(value)>::of(value, 0), plan.length);
  }

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
      // If lanes share a row, most warps have vectors with ends of rows, and would execute both branches.
      if (!Team::lanes_only && (!Edges::cuts || range.whole())) {
#pragma unroll
        for (u32 n = 0; n < vector; ++n) add(n);
      } else {
        const u32 mask = range.present();
#pragma unroll
        for (u32 n = 0; n < vector; ++n) {
          if ((mask >> n & 1) != 0) add(n);
        }
      }
    });
#pragma unroll
    for (u32 n = 1; n < states; ++n) state[0] = Reduced::combine(state[0], state[n]);
    return Reduced::result(team.template combined<Reduced, step>(state[0]), plan.length);
  }

  template <template <class> class Reducer, u32 step, class Element, u32... i>
  __device__ __forceinline__ auto reduce_at(Indices<i...>, i64 place, const Element& element) const {
    using Reduced = Reducer<decltype(element(0, 0, Value<typename Source<i>::Element>{}...))>;
    auto state = Reduced::identity();
    elements.each(plan, team, row, [&](const AllInputs& inputs, u32 turn, i32 first, Range range) {
      // Indices ascend or descend within a vector.
      const i32 begin = RowShape::index(plan, first);
      const i32 last = RowShape::index(plan, first + static_cast<i32>(vector) - 1);
      if (place < (begin < last ? begin : last) || place > (begin < last ? last : begin)) return;
      const auto x = values_of(inputs);
      const u32 mask = range.present();
#pragma unroll
      for (u32 n = 0; n < vector; ++n) {
        const i32 at = RowShape::index(plan, first + static_cast<i32>(n));
        if (at != place || (mask >> n & 1) == 0) continue;
        const auto value = element(at, turn * vector + n, static_cast<const SourceValues<i, pack_count>&>(x).at[n]...);
        state = Reduced::combine(state, Reduced::of(value, at));
      }
    });
    return Reduced::result(team.template combined<Reduced, step>(state), plan.length);
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

//@ if grid
__device__ __forceinline__ void compute_rows(const Plan& plan, u8* scratch) {
  Team team(plan.group, scratch);
#pragma unroll 1
  for (u64 number = team.group; number < plan.rows; number += team.groups(), ++team.round) {
    const Row row = row_of(plan, static_cast<Index>(number));
    run_steps(static_cast<i32>(plan.length), RowSteps{plan, team, row, Elements{}});
  }
  if (reductions > 0) team.clear();
}
//@ else
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
    elements[r].wait();
    run_steps(static_cast<i32>(plan.length), RowSteps{plan, team, row[r], elements[r]});
  }
}
//@ end

}  // namespace tmajit
