#include "families/rowwise/row_layout.hpp"

#include "families/rowwise/row_source.hpp"
#include "spec/saturate.hpp"

#include <tmajit/row_plan.cuh>

#include <algorithm>
#include <bit>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_row_vector_bytes = 16;
constexpr std::uint32_t max_held_words = 96;  // registers of a thread for elements and kept values
constexpr std::uint32_t max_row_turns = 8;    // more take too long to compile
constexpr std::uint32_t column_lanes = 32;    // neighbouring rows of a CTA
// Static shared memory of a CTA (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr std::uint32_t max_static_bytes = 48 * 1024;
// An estimate: with at most this many values of 4 bytes, 64 registers suffice without many spills.
constexpr std::uint32_t max_slim_words = 72;
// Measured (docs/measurements.md, "Rows"): shorter rows of incomplete vectors are faster by elements.
constexpr std::uint32_t min_cut_vectors = 13;
constexpr std::uint32_t min_vector_lanes = 8;
// Rows of more vectors do not fit into the registers of a CTA if an SM is to run two such CTAs.
constexpr std::uint64_t long_row_vectors = 4 * max_team_threads;
// An SM has shared memory for three such CTAs, so that one loads while another one computes.
constexpr std::uint64_t preferred_staged_bytes = 72 * 1024;
constexpr std::uint64_t min_staged_bytes = 8 * 1024;
constexpr std::uint32_t staged_threads = 256;
constexpr std::uint32_t staged_turns = 2;
// A target for the bytes of rows that the grid computes at once, for each SM. On an H100 that is half of the
// L2 cache, from which all steps but the first load the rows.
constexpr std::uint64_t grid_bytes_of_sm = 192 << 10;
constexpr std::uint64_t min_group_vectors = 4096;  // vectors of a row for each CTA of the grid that shares it

std::uint32_t pow2_ceil(std::uint64_t n) noexcept {
  return static_cast<std::uint32_t>(std::bit_ceil(std::max<std::uint64_t>(n, 1)));
}

/// Builds the layouts of one problem.
class RowLayouts {
 public:
  explicit RowLayouts(const Problem& problem)
      : problem_(problem), nest_(problem.nest), row_(problem.as<RowwiseProblem>()) {
    base_.length = row_.length;
    for (std::uint32_t d = 0; d < outer_dims(); ++d) base_.rows = sat_mul(base_.rows, nest_.shape[d]);
    if (row_.row_dims == 1) choose_vectors();
    if (row_.row_dims > 1) choose_inner_vectors();
    for (std::uint32_t k = 1; k <= problem.sources(); ++k) {
      if (is_one(k)) base_.access[k] = problem.is_number(k) ? RowAccess::number : RowAccess::one;
    }
    choose_late();
    base_.cut = base_.staggered || row_.length % base_.vector != 0;
    for (std::uint32_t k = 1; base_.cut && k <= problem.sources(); ++k) {
      if (base_.access[k] == RowAccess::vectors && problem.interleaved[k]) base_.access[k] = RowAccess::exact;
    }
  }

  [[nodiscard]] std::vector<RowLayout> all() {
    if (takes_columns()) {
      add_columns();
    } else {
      add_rows();
    }
    return std::move(layouts_);
  }

 private:
  [[nodiscard]] std::uint32_t outer_dims() const { return nest_.rank - row_.row_dims; }
  /// The dimension whose elements are neighbours in a row.
  [[nodiscard]] std::uint32_t inner() const { return nest_.rank - 1; }
  [[nodiscard]] bool is_one(std::uint32_t operand) const {
    for (std::uint32_t d = outer_dims(); d < nest_.rank; ++d) {
      if (nest_.operand[operand].strides[d] != 0) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_contiguous(std::uint32_t operand) const {
    return row_.row_dims > 0 && !is_one(operand) && nest_.operand[operand].strides[inner()] == 1;
  }

  /// The most elements of a vector for which all rows of an operand begin at a multiple of the vector's size.
  [[nodiscard]] std::uint32_t aligned_elements(std::uint32_t operand) const {
    std::uint64_t bits = problem_.address[operand];
    for (std::uint32_t d = 0; d < inner(); ++d) bits |= static_cast<std::uint64_t>(problem_.step(operand, d));
    const std::uint32_t bytes = 1U << std::countr_zero(bits | max_row_vector_bytes);
    return std::max(bytes / problem_.element_bytes(operand), 1U);
  }
  /// Whether rows of both operands begin at the same place within vectors.
  [[nodiscard]] bool is_in_step(std::uint32_t a, std::uint32_t b, std::uint32_t vector) const {
    const auto first = [&](std::uint32_t k) { return problem_.address[k] / problem_.element_bytes(k); };
    std::uint64_t difference = first(a) - first(b);
    for (std::uint32_t d = 0; d < outer_dims(); ++d) {
      difference |= static_cast<std::uint64_t>(nest_.operand[a].strides[d] - nest_.operand[b].strides[d]);
    }
    return difference % vector == 0;
  }

  /// The operands whose elements are neighbours along the innermost dimension.
  [[nodiscard]] std::vector<std::uint32_t> contiguous_operands() const {
    std::vector<std::uint32_t> contiguous;
    for (std::uint32_t k = 0; k < nest_.operands; ++k) {
      if (is_contiguous(k)) contiguous.push_back(k);
    }
    return contiguous;
  }
  /// The most elements of a vector of these operands.
  [[nodiscard]] std::uint32_t most_elements(const std::vector<std::uint32_t>& contiguous) const {
    std::uint32_t widest = 1;
    for (const std::uint32_t k : contiguous) widest = std::max(widest, problem_.element_bytes(k));
    // Kernels convert packs of at most 16 bytes of elements of one or two bytes. A strided operand is packed,
    // too: its wider elements count as two bytes.
    for (std::uint32_t k = 0; k < nest_.operands; ++k)
      widest = std::max(widest, std::min(problem_.element_bytes(k), 2U));
    return max_row_vector_bytes / widest;
  }
  /// The operand that moves the most bytes, which decides how rows are cut into vectors.
  [[nodiscard]] std::uint32_t anchor_of(const std::vector<std::uint32_t>& contiguous) const {
    const auto bytes = [&](std::uint32_t k) {
      std::uint64_t elements = problem_.element_bytes(k);
      for (std::uint32_t d = 0; d < nest_.rank; ++d) {
        if (nest_.operand[k].strides[d] != 0) elements = sat_mul(elements, nest_.shape[d]);
      }
      return elements;
    };
    return *std::ranges::max_element(contiguous, {}, bytes);
  }

  /// Chooses the vectors of rows of several dimensions. All elements of a vector have the same index in all
  /// dimensions but the innermost one.
  void choose_inner_vectors() {
    const std::vector<std::uint32_t> contiguous = contiguous_operands();
    if (contiguous.empty()) return;
    const std::uint32_t anchor = anchor_of(contiguous);
    std::uint32_t vector = std::min(most_elements(contiguous), aligned_elements(anchor));
    while (nest_.shape[inner()] % vector != 0) vector /= 2;
    if (vector < 2) return;
    base_.vector = vector;
    for (const std::uint32_t k : contiguous) {
      if (aligned_elements(k) >= vector && vector * problem_.element_bytes(k) >= 4)
        base_.access[k] = RowAccess::vectors;
    }
  }

  /// Chooses the vectors, and the operands that are accessed by them.
  void choose_vectors() {
    const std::vector<std::uint32_t> contiguous = contiguous_operands();
    if (contiguous.empty()) return;
    const auto vector = std::min<std::uint32_t>(most_elements(contiguous), pow2_ceil(row_.length));
    if (vector < 2) return;
    base_.anchor = anchor_of(contiguous);
    base_.vector = vector;
    // Vectors of half the size are better than incomplete ones at the ends of rows.
    for (const std::uint32_t shorter : {vector, vector / 2}) {
      const auto fits = [&](std::uint32_t k) { return aligned_elements(k) >= shorter; };
      if (shorter < 2 || row_.length % shorter != 0 || !std::ranges::all_of(contiguous, fits)) continue;
      if (shorter < vector && row_.length > long_row_vectors * vector) break;
      base_.vector = shorter;
      break;
    }
    base_.staggered = aligned_elements(base_.anchor) < base_.vector;
    for (const std::uint32_t k : contiguous) {
      const bool aligned =
          base_.staggered ? is_in_step(k, base_.anchor, base_.vector) : aligned_elements(k) >= base_.vector;
      if (base_.vector * problem_.element_bytes(k) < 4) continue;
      // Words hold neighbouring elements, which other threads may be writing if the source interleaves.
      if (aligned || !problem_.interleaved[k] || k == 0)
        base_.access[k] = aligned ? RowAccess::vectors : RowAccess::words;
    }
  }

  /// Whether neighbouring threads take neighbouring rows: more bytes are contiguous across rows than along
  /// them, or rows have fewer than 4 elements.
  [[nodiscard]] bool takes_columns() const {
    if (outer_dims() == 0) return false;
    std::uint64_t across = 0;
    std::uint64_t along = 0;
    for (std::uint32_t k = 0; k < nest_.operands; ++k) {
      if (is_one(k)) continue;
      const std::uint32_t bytes = problem_.element_bytes(k);
      if (nest_.operand[k].strides[outer_dims() - 1] == 1) across += bytes;
      if (is_contiguous(k)) along += bytes;
    }
    return across > along || (across > 0 && row_.length < 4);
  }

  [[nodiscard]] std::uint64_t vectors_of_row() const { return base_.vectors(); }

  /// Sources that are the same for all rows, such as weights, are loaded late if only results read them.
  /// Their rows stay in the L2 cache, and until then registers hold only the elements of other sources.
  void choose_late() {
    const std::uint32_t early = early_sources(*row_.steps, row_.results);
    for (std::uint32_t k = 1; k <= problem_.sources() - problem_.numbers; ++k) {
      const auto& strides = nest_.operand[k].strides;
      const bool repeats = std::all_of(strides.begin(), strides.begin() + outer_dims(),
                                       [](std::int64_t stride) { return stride == 0; });
      base_.late[k] = repeats && outer_dims() > 0 && !is_one(k) && (early >> (k - 1) & 1) == 0;
    }
  }

  /// Bytes of registers that a thread needs for a vector of each source, and for the steps' values.
  [[nodiscard]] std::uint32_t held_bytes() const {
    const std::vector<bool> kept = kept_steps(*row_.steps, row_.results);
    auto bytes = static_cast<std::uint32_t>(4 * base_.vector * std::ranges::count(kept, true));
    for (std::uint32_t k = 1; k <= problem_.sources(); ++k)
      bytes += is_one(k) || base_.late[k] ? 0 : base_.vector * std::max(problem_.element_bytes(k), 2U);
    return std::max(bytes, 1U);
  }
  /// The most vectors that a thread can hold.
  [[nodiscard]] std::uint32_t held_vectors() const {
    return std::clamp(std::bit_floor(4 * max_held_words / held_bytes()), 1U, max_row_turns);
  }

  /// Whether 64 registers suffice for the elements that a thread holds and the values of one vector of each
  /// operand; if rows are cut, also for the ranges of its vectors. Small CTAs, whose lanes share rows, gain
  /// too little to pay for a spill.
  [[nodiscard]] bool is_slim(const RowTuning& tuning) const {
    if (tuning.staged) return true;
    if (tuning.team == RowTeam::lanes) return false;
    std::uint32_t words = tuning.turns * tuning.rows_at_once * held_bytes() / 4;
    for (std::uint32_t k = 0; k < nest_.operands; ++k) words += is_one(k) ? 0 : base_.vector;
    if (base_.cut) words += base_.vector + 2 * tuning.turns;
    return words <= max_slim_words;
  }

  void add(const RowTuning& tuning) {
    RowLayout layout = base_;
    layout.tuning = tuning;
    layout.reloads = !tuning.staged &&
                     std::uint64_t{tuning.turns} * tuning.team_threads * tuning.cluster < vectors_of_row();
    layout.slim = is_slim(tuning);
    const auto same = [&](const RowLayout& one) { return one.tuning == tuning; };
    if (std::ranges::none_of(layouts_, same)) layouts_.push_back(layout);
  }

  /// Replaces vectors by single elements.
  void use_elements() {
    base_.vector = 1;
    base_.staggered = false;
    base_.cut = false;
    for (std::uint32_t k = 0; k < nest_.operands; ++k) {
      if (!is_one(k))
        base_.access[k] =
            row_.row_dims == 1 && is_contiguous(k) ? RowAccess::neighbours : RowAccess::elements;
    }
  }

  void add_columns() {
    use_elements();
    const std::uint32_t held = held_vectors();
    const auto columns = pow2_ceil(std::min<std::uint64_t>(base_.rows, column_lanes));
    const auto tuning = [&](std::uint32_t turns) {
      const std::uint32_t most = max_column_threads(state_bytes_of(*row_.steps, row_.results)) / columns;
      const auto team =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(pow2_ceil(ceil_div(row_.length, turns)), most));
      return RowTuning{
          .team = RowTeam::columns, .turns = turns, .threads = team * columns, .team_threads = team};
    };
    add(tuning(held));
    if (held > 1) add(tuning(held / 2));
  }

  /// Adds CTAs that hold a row in their shared memory, if that is large enough.
  void add_staged() {
    if (row_.row_dims != 1) return;
    std::uint64_t row_bytes = 0;
    for (std::uint32_t k = 1; k <= problem_.sources(); ++k) {
      base_.in_shared[k] = base_.access[k] == RowAccess::vectors && !base_.late[k] &&
                           base_.vector * problem_.element_bytes(k) == staged_vector_bytes;
      if (base_.in_shared[k]) row_bytes += vectors_of_row() * staged_vector_bytes;
    }
    if (row_bytes == 0) return;
    std::uint32_t cluster = 1;
    while (cluster < max_team_cluster && row_bytes > cluster * preferred_staged_bytes) cluster *= 2;
    cluster = filling_cluster(cluster, row_bytes / min_staged_bytes);
    const auto staged = static_cast<std::uint64_t>(std::ranges::count(base_.in_shared, true));
    if (ceil_div(vectors_of_row(), cluster) * staged * staged_vector_bytes > max_staged_bytes) return;
    add({.team = cluster > 1 ? RowTeam::cluster : RowTeam::cta,
         .turns = staged_turns,
         .threads = staged_threads,
         .team_threads = staged_threads,
         .cluster = cluster,
         .staged = true});
  }

  /// Adds teams of lanes for rows of single elements, or whose first and last vectors are incomplete. A warp
  /// executes the stores of incomplete vectors in every turn that has one. So a row takes several turns, and
  /// most of them have none.
  template <class Lanes>
  void add_turns_of_lanes(const Lanes& lanes) {
    const bool by_elements = base_.vector == 1;
    const std::uint64_t vectors = vectors_of_row();
    const std::uint32_t most = std::min(held_vectors(), by_elements ? max_row_turns : 4U);
    if (vectors <= most || vectors > std::uint64_t{32} * most) return;
    std::uint32_t team = by_elements ? 2 : min_vector_lanes;
    while (ceil_div(vectors, team) > most) team *= 2;
    const auto turns = static_cast<std::uint32_t>(ceil_div(vectors, team));
    lanes(turns, 1, 128);
  }

  void add_rows() {
    if (base_.cut && vectors_of_row() < min_cut_vectors) use_elements();
    const std::uint64_t vectors = vectors_of_row();
    const std::uint32_t held = held_vectors();
    // A team of lanes that needs at most `turns` turns. Its kernel has the next power of two of those it
    // needs.
    const auto lanes = [&](std::uint32_t turns, std::uint32_t rows_at_once, std::uint32_t threads) {
      const std::uint32_t team = pow2_ceil(ceil_div(vectors, turns));
      add({.team = RowTeam::lanes,
           .turns = pow2_ceil(ceil_div(vectors, team)),
           .rows_at_once = rows_at_once,
           .threads = threads,
           .team_threads = team});
    };
    const auto ctas = [&](std::uint32_t turns, std::uint32_t cluster) {
      const std::uint64_t threads = round_up(ceil_div(vectors, std::uint64_t{turns} * cluster), 32);
      const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(threads, 32, max_team_threads));
      add({.team = cluster > 1 ? RowTeam::cluster : RowTeam::cta,
           .turns = turns,
           .threads = count,
           .team_threads = count,
           .cluster = cluster});
    };
    const std::uint32_t turns = std::min(held, 4U);
    const std::uint32_t rows_at_once = std::min(held, 4U);
    if (base_.cut || base_.vector == 1) add_turns_of_lanes(lanes);
    // Lanes without elements take as long as the others.
    const std::uint32_t few_lanes = pow2_ceil(ceil_div(vectors, turns));
    const bool few_are_full = ceil_div(vectors, few_lanes) * few_lanes < pow2_ceil(vectors);
    if (vectors <= 16 && few_are_full) lanes(turns, 1, 128);
    if (vectors <= 16) {
      lanes(1, rows_at_once, 128);
      lanes(1, 1, 128);
    }
    if (base_.cut && vectors > std::uint64_t{32} * turns && vectors <= std::uint64_t{32} * max_row_turns)
      lanes(max_row_turns, 1, 128);
    if (vectors <= std::uint64_t{32} * turns) {
      lanes(turns, 1, 128);
      if (vectors <= 32) lanes(1, 1, 128);
    }
    if (vectors <= 32) return;
    const bool has_reductions = reductions_of(*row_.steps, row_.results) > 0;
    const bool is_long = vectors > std::uint64_t{max_team_threads} * turns;
    if (has_reductions && is_long) {
      add_long_rows(ctas, turns, held);
    } else {
      if (is_long) add_independent(turns);
      // A cluster shares rows that are too few for all SMs.
      const std::uint32_t cluster =
          has_reductions ? filling_cluster(1, vectors / (std::uint64_t{128} * turns)) : 1;
      ctas(turns, cluster);
      if (held > turns) ctas(held, 1);
      if (turns > 1 && cluster == 1) ctas(turns / 2, 1);
      if (has_reductions && cluster < max_team_cluster && vectors > 256) ctas(turns, cluster * 2);
      if (has_reductions && vectors > long_row_vectors / 2) add_staged();
    }
  }

  /// The CTAs that share a row: `least`, doubled as long as they are at most `most` and the CTAs of all rows
  /// do not outnumber the SMs.
  [[nodiscard]] std::uint32_t filling_cluster(std::uint32_t least, std::uint64_t most) const {
    std::uint32_t cluster = least;
    while (cluster < max_team_cluster && cluster * 2 <= most && base_.rows * cluster * 2 <= problem_.sm_count)
      cluster *= 2;
    return cluster;
  }

  /// Adds teams for rows that are too long for an SM to run two CTAs that hold one: a CTA and clusters that
  /// hold as many vectors as their registers allow, CTAs that hold their part in shared memory, groups of
  /// CTAs of the grid, and a CTA that loads a row again for each step. A CTA that holds a whole row comes
  /// first. Clusters of small CTAs come before those of large ones: some CTAs of an SM load while others wait
  /// for their cluster.
  template <class Ctas>
  void add_long_rows(const Ctas& ctas, std::uint32_t turns, std::uint32_t held) {
    const std::uint64_t vectors = vectors_of_row();
    const auto add_cluster = [&](std::uint32_t threads) {
      const std::uint32_t least = pow2_ceil(ceil_div(vectors, std::uint64_t{threads} * held));
      if (least <= max_team_cluster)
        ctas(held, filling_cluster(least, vectors / (std::uint64_t{128} * held)));
    };
    if (vectors <= std::uint64_t{max_team_threads} * held) add_cluster(max_team_threads);
    for (const std::uint32_t threads : {256U, 128U, max_team_threads}) add_cluster(threads);
    add_staged();
    add_grid(turns);
    ctas(turns, 1);
  }

  /// Adds as many CTAs of the grid as a row without reductions needs for one turn.
  void add_independent(std::uint32_t turns) {
    add_group({.team = RowTeam::grid,
               .turns = turns,
               .threads = max_team_threads,
               .team_threads = max_team_threads,
               .group = sat_cast<std::uint32_t>(
                   ceil_div(vectors_of_row(), std::uint64_t{max_team_threads} * turns))},
              base_.rows);
  }
  void add_group(const RowTuning& tuning, std::uint64_t groups) {
    RowLayout layout = base_;
    layout.tuning = tuning;
    layout.reloads = true;
    layout.slim = is_slim(tuning);
    layout.groups = groups;
    if (layout.scratch_bytes(reductions_of(*row_.steps, row_.results)) <= scratch_zeros)
      layouts_.push_back(layout);
  }
  /// Adds groups of CTAs of the grid. As many CTAs take part as are certain to be resident at once.
  void add_grid(std::uint32_t turns) {
    RowTuning tuning{
        .team = RowTeam::grid, .turns = turns, .threads = max_team_threads, .team_threads = max_team_threads};
    const std::uint64_t ctas =
        std::uint64_t{problem_.sm_count} * (is_slim(tuning) ? slim_threads_per_sm / max_team_threads : 1);
    const std::uint64_t most_groups =
        std::clamp<std::uint64_t>(problem_.sm_count * grid_bytes_of_sm / row_bytes(), 1, base_.rows);
    // A group has work for each of its CTAs.
    const std::uint64_t group = std::min(ceil_div(ctas, most_groups),
                                         std::max<std::uint64_t>(vectors_of_row() / min_group_vectors, 1));
    if (group < 2) return;
    tuning.group = static_cast<std::uint32_t>(group);
    add_group(tuning, std::min(base_.rows, ctas / group));
  }
  /// Bytes of a row of all sources that are loaded for reductions.
  [[nodiscard]] std::uint64_t row_bytes() const {
    std::uint64_t bytes = 1;
    for (std::uint32_t k = 1; k <= problem_.sources(); ++k)
      bytes += is_one(k) || base_.late[k] ? 0 : sat_mul(row_.length, problem_.element_bytes(k));
    return bytes;
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  const RowwiseProblem& row_;
  RowLayout base_;
  std::vector<RowLayout> layouts_;
};

}  // namespace

std::uint32_t max_column_threads(std::uint32_t state_bytes) noexcept {
  std::uint32_t threads = max_team_threads;
  while (threads > column_lanes && threads * state_bytes > max_static_bytes) threads /= 2;
  return threads;
}

std::uint64_t RowLayout::ctas() const noexcept {
  if (tuning.team == RowTeam::grid) return groups * tuning.group;
  if (tuning.team == RowTeam::cta || tuning.team == RowTeam::cluster) return rows * tuning.cluster;
  return ceil_div(rows, std::uint64_t{tuning.threads / tuning.team_threads} * tuning.rows_at_once);
}

std::uint64_t RowLayout::scratch_bytes(std::uint32_t reductions) const noexcept {
  if (tuning.team != RowTeam::grid || reductions == 0) return 0;
  return params::row_counter_bytes + 2 * reductions * ctas() * params::row_slot_bytes;
}

std::uint64_t RowLayout::vectors() const noexcept {
  return ceil_div(length + (staggered ? vector - 1 : 0), vector);
}

std::uint32_t RowLayout::part() const noexcept {
  return tuning.staged ? static_cast<std::uint32_t>(ceil_div(vectors(), tuning.cluster)) : 0;
}

std::uint32_t RowLayout::shared_bytes() const noexcept {
  return part() * staged_vector_bytes * static_cast<std::uint32_t>(std::ranges::count(in_shared, true));
}

std::vector<RowLayout> row_layouts(const Problem& problem) {
  return RowLayouts(problem).all();
}

TMAJIT_END
