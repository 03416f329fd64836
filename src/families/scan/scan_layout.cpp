#include "families/scan/scan_layout.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t scan_vector_bytes = 16;
constexpr std::uint32_t scan_warp = 32;
constexpr std::uint32_t default_threads = 256;
// Columns. One thread scans a column, or several threads share it.
constexpr std::uint32_t input_registers = 32;   // registers for the vectors that a thread loads at once
constexpr std::uint32_t max_rows_at_once = 32;  // most rows that a thread loads at once if it scans alone
// Several threads share each column of 17 to 32 rows if an SM has fewer columns than this.
constexpr std::uint64_t min_short_per_sm = 64;
constexpr std::uint64_t column_threads_per_sm = 512;  // if threads that scan alone are fewer, vectors shrink
constexpr std::uint64_t many_alone_per_sm = 1024;  // from so many threads on, each loads fewer rows at once
constexpr std::uint32_t min_at_once = 4;           // least rows that each of so many threads loads at once
constexpr std::uint64_t min_alone_per_sm = 256;    // if long columns are fewer, several threads share each
// Lanes of a warp may share columns if rows begin less than `wide_rows` bytes apart and have at most
// `narrow_vectors` vectors.
constexpr std::uint64_t wide_rows = 64;
constexpr std::uint64_t narrow_vectors = 6;
constexpr std::uint32_t lane_turns = 2;           // most rows that such a lane loads at once
constexpr std::uint64_t min_narrow_per_sm = 5;    // if long columns are fewer, CTAs share them
constexpr std::uint32_t shared_turns = 8;         // most rows of a thread in short shared columns
constexpr std::uint64_t shared_phases = 16;       // short: at most shared_phases * shared_turns rows
constexpr std::uint32_t min_shared_threads = 64;  // least threads of a CTA whose threads share columns
constexpr std::uint32_t column_state = 32;        // most bytes of a thread's states
constexpr std::uint32_t min_line = 128;           // least contiguous bytes for threads side by side
constexpr std::uint64_t threads_per_sm = 1024;    // if columns are fewer, several threads share each
constexpr std::uint64_t split_ctas_per_sm = 2;    // columns are split only if there are fewer chains
constexpr std::uint64_t short_chain = 4;          // columns of at most so many tiles have units of one tile

// Rows.
constexpr std::uint32_t longest_turns = 8;     // most vectors of a thread
constexpr std::uint32_t packed_threads = 128;  // threads of a CTA with rows that begin inside vectors
constexpr std::uint32_t packed_turns = 4;      // most vectors of a thread, if rows are short
constexpr std::uint32_t few_turns = 2;         // most vectors of a thread if such a tile has min_rows rows
constexpr std::uint32_t busy_threads = 512;    // wanted threads per SM if no tile looks back
constexpr std::uint32_t split_threads = 64;    // wanted threads per SM if tiles look back with 4-byte states
constexpr std::uint64_t many_rows = 8;         // from so many long rows on, tiles have max_scan_threads
constexpr std::uint64_t huge = 128 << 20;      // tiles of a source of so many bytes have max_scan_threads
constexpr std::uint64_t min_rows = 4;          // least rows of a packed tile: fewer leave much of it empty
constexpr std::uint32_t row_registers = 56;    // registers for a thread's vectors, and the state before each
constexpr std::uint32_t position_registers = 3;  // registers for a vector's position, if rows are not aligned
constexpr std::uint32_t row_state = 64;          // most bytes of the states of a vector

// Looking back, and prefetching into the L2 cache at the same time.
constexpr std::uint32_t max_log2_unit = 5;         // 32 tiles: each lane of a warp looks at one
constexpr std::uint64_t ahead_per_sm = 32 << 10;   // bytes to prefetch
constexpr std::uint64_t max_ahead = 16 << 20;      // most bytes in one tile of each row, for a prefetch
constexpr std::uint64_t min_for_ahead = 32 << 20;  // least bytes of the sources: fewer stay in the cache

class Planner {
 public:
  Planner(const Problem& problem, const ScanTuning& tuning)
      : problem_(problem),
        nest_(problem.nest),
        axis_(nest_.rank - 1),
        tuning_(tuning),
        threads_(tuning.threads == 0 ? default_threads : tuning.threads) {
    layout_.length = nest_.shape[axis_];
  }

  ScanLayout plan() {
    const std::uint32_t column = choose_column();
    layout_.columns = column != axis_;
    if (layout_.columns) {
      plan_columns(column);
    } else {
      plan_rows();
    }
    return layout_;
  }

 private:
  [[nodiscard]] std::int64_t stride(std::uint32_t operand, std::uint32_t d) const {
    return nest_.operand[operand].strides[d];
  }

  /// The dimension along which the contiguous operands have the most bytes an element in total; in a tie the
  /// scanned dimension.
  [[nodiscard]] std::uint32_t choose_column() const {
    const auto bytes = [&](std::uint32_t d) {
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < nest_.operands; ++i) {
        if (std::abs(stride(i, d)) == 1 && nest_.shape[d] > 1) sum += problem_.element_bytes(i);
      }
      return sum;
    };
    std::uint32_t best = axis_;
    for (std::uint32_t d = 0; d < axis_; ++d) {
      if (bytes(d) > bytes(best)) best = d;
    }
    return best;
  }

  /// The most elements of a vector. It may have 16 bytes of the widest source and `state` bytes of states;
  /// and 16 bytes of the destination, or 32 if the destination's elements have `wide` bytes or more.
  [[nodiscard]] std::uint32_t max_vector(std::uint32_t state, std::uint32_t wide) const {
    std::uint32_t widest = 1;
    for (std::uint32_t i = 1; i < nest_.operands; ++i)
      widest = std::max(widest, problem_.is_number(i) ? 1U : problem_.element_bytes(i));
    const std::uint32_t to = problem_.element_bytes(0);
    return std::min(
        {scan_vector_bytes / widest, (to < wide ? 1 : 2) * scan_vector_bytes / to, state / state_bytes()});
  }
  [[nodiscard]] std::uint32_t registers_of_vector() const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 1; i < nest_.operands; ++i) {
      sum +=
          static_cast<std::uint32_t>(ceil_div(std::uint64_t{problem_.element_bytes(i)} * layout_.vector, 4));
    }
    return sum;
  }

  void add_steps(std::uint32_t column) {
    const auto add = [&](std::uint32_t d, std::uint32_t elements) {
      layout_.steps.push_back({d, ceil_div(nest_.shape[d], elements), elements});
      layout_.lines = sat_mul(layout_.lines, layout_.steps.back().extent);
    };
    if (column != axis_) add(column, layout_.vector);
    for (std::uint32_t d = axis_; d-- > 0;) {
      if (d != column) add(d, 1);
    }
  }

  // ---- rows ----

  /// Whether the rows of all operands are contiguous in memory, without gaps between them. Their order must
  /// be the scan's direction in all operands, or the opposite in all.
  bool find_dense() {
    if (nest_.rank != 2) return false;
    const auto length = static_cast<std::int64_t>(layout_.length);
    for (const int sign : {1, -1}) {
      bool all = true;
      for (std::uint32_t i = 0; i < nest_.operands; ++i)
        all = all && stride(i, 0) == sign * length * stride(i, axis_);
      if (!all) continue;
      layout_.backwards = sign < 0;
      for (std::uint32_t i = 0; sign < 0 && i < nest_.operands; ++i)
        layout_.first[i] = problem_.step(i, 0) * static_cast<std::int64_t>(nest_.shape[0] - 1);
      return true;
    }
    return false;
  }

  /// The number of elements from a boundary of vectors to the first row's first element, in the scan's
  /// direction.
  [[nodiscard]] std::uint64_t offset_in_vector(std::uint32_t operand, std::uint32_t vector) const {
    const DevicePtr at = problem_.address[operand] + static_cast<DevicePtr>(layout_.first[operand]);
    const std::uint64_t offset = at / problem_.element_bytes(operand) % vector;
    return stride(operand, axis_) > 0 ? offset : vector - 1 - offset;
  }
  /// The change of offset_in_vector() from one index of dimension `d` to the next.
  [[nodiscard]] std::uint64_t phase_step(std::uint32_t operand, std::uint32_t d, std::uint32_t vector) const {
    return static_cast<std::uint64_t>(stride(operand, d) * stride(operand, axis_)) % vector;
  }
  [[nodiscard]] bool is_run(std::uint32_t operand) const { return std::abs(stride(operand, axis_)) == 1; }

  [[nodiscard]] bool is_aligned(std::uint32_t vector, bool dense) const {
    for (std::uint32_t i = 0; i < nest_.operands; ++i) {
      if (!is_run(i)) continue;
      if (offset_in_vector(i, vector) != 0) return false;
      for (std::uint32_t d = 0; !dense && d < axis_; ++d) {
        if (phase_step(i, d, vector) != 0) return false;
      }
    }
    return true;
  }

  void choose_runs() {
    layout_.anchor = nest_.operands;
    for (std::uint32_t i = 0; i < nest_.operands; ++i) {
      if (!is_run(i)) continue;
      if (layout_.anchor == nest_.operands) layout_.anchor = i;
      bool same = offset_in_vector(i, layout_.vector) == offset_in_vector(layout_.anchor, layout_.vector);
      for (std::uint32_t d = 0; !layout_.dense && d < axis_; ++d) {
        same = same && phase_step(i, d, layout_.vector) == phase_step(layout_.anchor, d, layout_.vector);
      }
      if (same) layout_.run[i] = static_cast<std::int32_t>(stride(i, axis_));
    }
    if (layout_.anchor == nest_.operands) layout_.anchor = 0;
  }

  void choose_row_vector() {
    bool any = false;
    for (std::uint32_t i = 0; i < nest_.operands; ++i) any = any || is_run(i);
    const bool dense = find_dense();
    const std::uint64_t most = dense ? sat_mul(layout_.length, nest_.shape[0]) : layout_.length;
    std::uint32_t vector = any ? max_vector(row_state, 4) : 1;
    while (vector > most) vector /= 2;
    const auto fits_rows = [&] {
      return layout_.length * min_rows <= std::uint64_t{threads_} * choose_turns(vector) * vector;
    };
    layout_.dense = dense && vector > 1 && fits_rows();
    if (layout_.dense) {
      // If there are few elements, shorter vectors divide them among more threads.
      const std::uint64_t wanted = problem_.sm_count * std::uint64_t{packed_threads} / 2;
      while (vector > 2 && nest_.elements() < wanted * vector && fits_rows()) vector /= 2;
    } else {
      if (any && !fits_rows()) vector = std::min(vector, max_vector(row_state, 16));
      std::fill(layout_.first.begin(), layout_.first.end(), 0);
      layout_.backwards = false;
      while (vector > layout_.length) vector /= 2;
      while (layout_.length < std::uint64_t{4} * vector && !is_aligned(vector, false)) vector /= 2;
    }
    layout_.crosses = layout_.dense && (layout_.length % vector != 0 || !is_aligned(vector, true));
    layout_.staggered = layout_.dense ? layout_.crosses : vector > 1 && !is_aligned(vector, false);
    layout_.vector = vector;
    choose_runs();
    layout_.cut = layout_.staggered || layout_.length % vector != 0;
  }

  [[nodiscard]] std::uint32_t choose_turns(std::uint32_t vector) {
    layout_.vector = vector;
    const std::uint32_t state = state_bytes() / 4;
    const bool has_positions = layout_.staggered || layout_.crosses;
    const std::uint32_t per_vector = registers_of_vector() + state + (has_positions ? position_registers : 0);
    const std::uint32_t for_states = std::min(2 * vector * state, row_registers);
    std::uint32_t turns =
        std::bit_floor(std::clamp((row_registers - for_states) / per_vector, 1U, longest_turns));
    const std::uint64_t vectors = ceil_div(nest_.elements(), vector);
    const bool is_short = layout_.length * min_rows <= std::uint64_t{threads_} * turns * vector;
    // The fewest turns with which one CTA scans a long row, so that no tile looks back.
    const std::uint64_t whole_turns =
        std::bit_ceil(ceil_div(ceil_div(layout_.length, vector), max_scan_threads));
    const bool is_whole = !is_short && whole_turns <= turns;
    // The least threads: enough to keep an SM busy, or, for tiles that look back, few enough to make a short
    // chain.
    const std::uint64_t wanted = std::uint64_t{problem_.sm_count} *
                                 (is_short || is_whole ? busy_threads : split_threads * state_bytes() / 4);
    while (turns > 1 && vectors < wanted * turns && !(is_whole && turns == whole_turns)) turns /= 2;
    if (tuning_.turns > 0) return tuning_.turns;
    if (!is_short) return turns;
    // A thread of short rows keeps the position of each vector: with more vectors it would spill registers.
    const bool takes_few = layout_.length * min_rows <= std::uint64_t{threads_} * few_turns * vector;
    return std::min(turns, takes_few ? few_turns : packed_turns);
  }

  void plan_rows() {
    choose_row_vector();
    // A thread whose vectors have elements of several rows runs longer: smaller CTAs balance the SMs better.
    if (layout_.crosses && tuning_.threads == 0 &&
        layout_.length * min_rows <= std::uint64_t{packed_threads} * few_turns * layout_.vector)
      threads_ = packed_threads;
    layout_.turns = choose_turns(layout_.vector);
    add_steps(axis_);
    const std::uint32_t vector = layout_.vector;
    const std::uint32_t turns = layout_.turns;
    const std::uint32_t stagger = layout_.staggered ? vector - 1 : 0;
    layout_.row_vectors = ceil_div(layout_.length + stagger, vector);
    const std::uint64_t tile = std::uint64_t{threads_} * turns;
    const auto threads_for = [&](std::uint64_t vectors) {
      return static_cast<std::uint32_t>(round_up(ceil_div(vectors, turns), scan_warp));
    };
    if (layout_.dense || layout_.row_vectors * min_rows <= tile) {
      layout_.packed = true;
      std::uint64_t rows =
          layout_.dense ? (tile * vector - stagger) / layout_.length : tile / layout_.row_vectors;
      rows = std::clamp<std::uint64_t>(rows, 1, layout_.lines);
      layout_.rows = static_cast<std::uint32_t>(rows);
      layout_.chains = ceil_div(layout_.lines, rows);
      layout_.threads = threads_for(layout_.dense ? ceil_div(rows * layout_.length + stagger, vector)
                                                  : rows * layout_.row_vectors);
      return;
    }
    layout_.chains = layout_.lines;
    const bool fits_one_tile = layout_.row_vectors <= std::uint64_t{max_scan_threads} * turns;
    // Looking back costs each tile a fixed time. So if there are many rows, their tiles are as long as a CTA
    // allows, unless loads are narrow. If there are few rows, shorter tiles let more CTAs run at once.
    const bool is_long = turns == longest_turns || state_bytes() > 4;
    const bool is_huge = sat_mul(nest_.elements(), problem_.element_bytes(1)) >= huge;
    const bool has_max_threads = tuning_.threads == 0 && registers_of_vector() >= 4 &&
                                 (layout_.lines >= many_rows || !is_long || is_huge);
    layout_.parts =
        fits_one_tile
            ? 1
            : ceil_div(layout_.row_vectors, has_max_threads ? std::uint64_t{max_scan_threads} * turns : tile);
    layout_.threads = threads_for(ceil_div(layout_.row_vectors, layout_.parts));
    layout_.parts = ceil_div(layout_.row_vectors, std::uint64_t{layout_.threads} * turns);
    layout_.split = layout_.parts > 1 && find_ring(1, max_log2_unit);
    if (layout_.split) choose_ahead();
  }

  // ---- columns ----

  void plan_columns(std::uint32_t column) {
    std::uint32_t vector = max_vector(column_state, 16);
    const auto fits = [&] {
      if (vector > nest_.shape[column]) return false;
      for (std::uint32_t i = 0; i < nest_.operands; ++i) {
        if (stride(i, column) != 1) continue;
        if (problem_.alignment(i, column) < std::min(vector * problem_.element_bytes(i), scan_vector_bytes))
          return false;
      }
      return true;
    };
    while (vector > 1 && !fits()) vector /= 2;
    layout_.vector = vector;
    if (!tuning_.share_columns && plan_by_lanes(column)) return;
    layout_.vector = vector;
    // A thread scans a column alone if it can load the whole column at once, and so waits only once; or if
    // there are so many columns that their threads keep the memory busy.
    const std::uint64_t columns = nest_.elements() / layout_.length;
    const bool is_short =
        layout_.length <= max_rows_at_once / 2 ||
        (layout_.length <= max_rows_at_once && columns >= problem_.sm_count * min_short_per_sm);
    layout_.by_threads =
        !tuning_.share_columns && (is_short || columns >= problem_.sm_count * min_column_threads());
    while (layout_.by_threads && layout_.vector > 1 &&
           columns / layout_.vector < problem_.sm_count * column_threads_per_sm)
      layout_.vector /= 2;
    if (layout_.by_threads) return plan_by_threads(column);
    plan_shared(column);
  }

  /// Divides the columns' dimension into vectors of `vector` elements. A thread loads at most `turns` at
  /// once.
  void divide_columns(std::uint32_t column, std::uint32_t vector, std::uint32_t turns) {
    layout_.vector = vector;
    layout_.cut = nest_.shape[column] % vector != 0;
    for (std::uint32_t i = 0; i < nest_.operands; ++i)
      layout_.run[i] = stride(i, column) == 1 && vector > 1 ? 1 : 0;
    layout_.turns = turns;
    while (layout_.turns > 1 && layout_.turns / 2 >= layout_.length) layout_.turns /= 2;
    layout_.steps.clear();
    layout_.lines = 1;
    add_steps(column);
  }

  /// The largest distance in bytes between neighbouring rows of any operand.
  [[nodiscard]] std::uint64_t row_step() const {
    std::uint64_t step = 0;
    for (std::uint32_t i = 0; i < nest_.operands; ++i)
      step = std::max(step, static_cast<std::uint64_t>(std::abs(problem_.step(i, axis_))));
    return step;
  }

  /// Plans neighbouring lanes for neighbouring rows. Returns false if rows are wide, or if there are few long
  /// columns, which more threads can share.
  bool plan_by_lanes(std::uint32_t column) {
    const std::uint64_t step = row_step();
    if (step >= wide_rows) return false;
    // With more rows a thread, neighbouring lanes would load from different sectors; short columns wait only
    // once.
    const std::uint64_t most = std::uint64_t{lane_turns} * scan_warp;
    const bool takes_turns = step < sector_bytes || layout_.length <= most;
    divide_columns(column, layout_.vector, tuning_.turns > 0 ? tuning_.turns : takes_turns ? lane_turns : 1);
    if (layout_.steps.front().extent > narrow_vectors) return false;
    if (layout_.length > 2 * most && layout_.lines < problem_.sm_count * min_narrow_per_sm) return false;
    while (layout_.threads_along < scan_warp &&
           std::uint64_t{layout_.threads_along} * layout_.turns < layout_.length)
      layout_.threads_along *= 2;
    layout_.by_lanes = true;
    layout_.threads = threads_;
    layout_.threads_across = threads_ / layout_.threads_along;
    layout_.chains = ceil_div(layout_.lines, layout_.threads_across);
    layout_.parts = ceil_div(layout_.length, std::uint64_t{layout_.threads_along} * layout_.turns);
    return true;
  }

  /// Plans several threads for each column. If there are fewer CTAs than SMs, vectors become shorter, then
  /// CTAs smaller, then more threads share a column.
  void plan_shared(std::uint32_t column) {
    std::uint32_t vector = layout_.vector;
    std::uint32_t threads = threads_;
    // Neighbouring threads load from different sectors of narrow rows: fewer rows at once hit the L1 cache.
    const std::uint32_t registers = row_step() < wide_rows ? input_registers / 2 : input_registers;
    std::uint32_t turns = std::clamp(std::bit_floor(registers / registers_of_vector()), 1U, 16U);
    if (tuning_.turns > 0) turns = tuning_.turns;
    if (tuning_.turns == 0 && layout_.length <= shared_phases * shared_turns)
      turns = std::min(turns, shared_turns);
    share_columns(column, vector, turns, threads);
    // Shares columns with the given numbers if there are fewer CTAs than SMs. If a column then has more
    // tiles, restores the layout and returns false.
    const auto shrinks = [&](std::uint32_t less_vector, std::uint32_t less_turns,
                             std::uint32_t less_threads) {
      if (layout_.ctas() >= problem_.sm_count) return false;
      ScanLayout before = layout_;
      share_columns(column, less_vector, less_turns, less_threads);
      if (layout_.parts <= before.parts) return true;
      layout_ = std::move(before);
      return false;
    };
    while (vector > 1 && shrinks(vector / 2, turns, threads)) vector /= 2;
    while (threads > min_shared_threads && shrinks(vector, turns, threads / 2)) threads /= 2;
    while (turns > 1 && tuning_.turns == 0 && shrinks(vector, turns / 2, threads)) turns /= 2;
  }
  void share_columns(std::uint32_t column, std::uint32_t vector, std::uint32_t turns, std::uint32_t threads) {
    divide_columns(column, vector, turns);
    const std::uint64_t row_threads =
        std::clamp<std::uint64_t>(min_line / (vector * problem_.element_bytes(0)), 1, scan_warp);
    const std::uint64_t wanted = problem_.sm_count * threads_per_sm;
    const std::uint64_t most = max_scan_threads / std::min(row_threads, layout_.lines);
    std::uint64_t along = 1;
    while (along < scan_warp && 2 * along <= most && layout_.lines * along < wanted &&
           along * layout_.turns < layout_.length)
      along *= 2;
    layout_.threads_along = static_cast<std::uint32_t>(along);
    layout_.threads_across =
        static_cast<std::uint32_t>(std::min(layout_.lines, std::max(threads / along, row_threads)));
    layout_.threads = static_cast<std::uint32_t>(round_up(layout_.threads_across * along, scan_warp));
    layout_.chains = ceil_div(layout_.lines, layout_.threads_across);
    layout_.parts = ceil_div(layout_.length, along * layout_.turns);
    layout_.split =
        layout_.parts > 1 && along >= vector && layout_.chains < problem_.sm_count * split_ctas_per_sm &&
        find_ring(layout_.threads_across * vector, layout_.parts <= short_chain ? 0 : max_log2_unit);
  }

  /// The least number of columns per SM with which a thread scans a long column alone. Sharing a column costs
  /// more with states of 64-bit integers than with floating-point states.
  [[nodiscard]] std::uint64_t min_column_threads() const {
    return is_float(problem_.type[1]) ? min_alone_per_sm : min_alone_per_sm / 4;
  }

  /// Whether a row of an operand may begin inside a sector.
  [[nodiscard]] bool shares_sectors(std::uint32_t column) const {
    for (std::uint32_t i = 0; i < nest_.operands; ++i) {
      if (problem_.is_number(i)) continue;
      std::uint64_t bits = problem_.address[i];
      for (std::uint32_t d = 0; d < nest_.rank; ++d) {
        if (d != column && nest_.shape[d] > 1) bits |= static_cast<std::uint64_t>(problem_.step(i, d));
      }
      if (bits % sector_bytes != 0) return true;
    }
    return false;
  }

  /// Plans threads that scan columns alone, some rows at a time.
  void plan_by_threads(std::uint32_t column) {
    divide_columns(column, layout_.vector, 1);
    std::uint32_t most = std::clamp(input_registers / registers_of_vector(), 1U, max_rows_at_once);
    // With many threads, enough loads are in flight even if each thread loads fewer rows at once.
    if (layout_.lines >= problem_.sm_count * many_alone_per_sm) {
      most = std::min(most, std::max(most / 4, min_at_once));
    } else if (most < layout_.length && layout_.lines >= problem_.sm_count * column_threads_per_sm) {
      most = std::max(most / 2, 1U);
    }
    layout_.parts = ceil_div(layout_.length, tuning_.turns > 0 ? tuning_.turns : most);
    layout_.turns = static_cast<std::uint32_t>(ceil_div(layout_.length, layout_.parts));
    layout_.threads_across = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        round_up(layout_.lines / problem_.sm_count, scan_warp), scan_warp, threads_));
    layout_.threads = layout_.threads_across;
    layout_.chains = ceil_div(layout_.lines, layout_.threads_across);
    layout_.synchronised = layout_.parts > 1 && layout_.chains > problem_.sm_count && shares_sectors(column);
  }

  // ---- looking back ----

  /// Chooses how far ahead tiles prefetch, so that DRAM is busy while tiles look back.
  void choose_ahead() {
    std::uint64_t bytes = 0;  // bytes that one tile of each row loads
    for (std::uint32_t i = 1; i < nest_.operands; ++i) bytes += problem_.element_bytes(i);
    bytes = sat_mul(bytes * layout_.threads * layout_.turns * layout_.vector, layout_.chains);
    if (bytes > max_ahead || bytes * layout_.parts < min_for_ahead) return;
    layout_.prefetch_distance = sat_cast<std::uint32_t>(ceil_div(problem_.sm_count * ahead_per_sm, bytes));
  }

  /// An upper bound of a state's bytes: the type of an expression other than "x" is not known here.
  [[nodiscard]] std::uint32_t state_bytes() const {
    const ElementType type = problem_.type[1];
    const bool plain = problem_.as<ScanProblem>().expression == "x";
    return plain && is_float(type) && size_of(type) < max_scan_state ? 4 : max_scan_state;
  }

  bool find_ring(std::uint32_t width, std::uint32_t log2_most) {
    return find_scan_ring(layout_.chains, layout_.parts, std::uint64_t{state_bytes()} * width, log2_most,
                          layout_.ring);
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t axis_;
  ScanTuning tuning_;
  std::uint32_t threads_;
  ScanLayout layout_;
};

}  // namespace

ScanLayout scan_layout(const Problem& problem, const ScanTuning& tuning) {
  return Planner(problem, tuning).plan();
}

TMAJIT_END
