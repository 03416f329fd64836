#pragma once

#include "kernel/choice.hpp"
#include "kernel/facts_text.hpp"
#include "kernel/parameters.hpp"
#include "kernel/problem.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/prediction.hpp>
#include <tmajit/tuning.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

TMAJIT_BEGIN

class Family;

/// Bytes of a sector, the unit in which the L2 cache and DRAM transfer.
inline constexpr std::uint32_t sector_bytes = 32;

/// A fact that is true or false, in a struct that must not have padding: 0 or 1.
using Flag = std::uint32_t;

/// Whether a candidate is the default of its problem (Candidate::default_choice).
enum class DefaultChoice : std::uint8_t {
  no,
  fallback,  ///< only if no candidate has `yes`
  yes,
};

/// A candidate's facts (the constants that its kernel is specialised for), its choice (which determines the
/// launch) and its layout. Facts and choices are plain data without padding: equal ones have equal bytes.
class CandidateData {
 public:
  virtual ~CandidateData() = default;
  [[nodiscard]] virtual std::string_view facts_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::string_view choice_bytes() const noexcept = 0;

 protected:
  template <class Plain>
  [[nodiscard]] static std::string_view bytes_of(const Plain& plain) noexcept {
    static_assert(std::is_trivially_copyable_v<Plain> && std::has_unique_object_representations_v<Plain>);
    return {reinterpret_cast<const char*>(&plain), sizeof plain};
  }
};

/// One kernel that can solve a problem: its family, the facts that it would be specialised for, and the
/// choice that determines its launch.
struct Candidate {
  const Family* family = nullptr;
  std::shared_ptr<const CandidateData> data;  ///< immutable; the family knows its type
  CanonicalNest nest = {};  ///< the problem's nest as the kernel walks it: some dimensions may be reversed
  /// The planner takes the default candidate unless the cost model predicts another to be clearly faster. The
  /// default candidate also determines the shape class. At most one candidate of a problem has `yes`, and at
  /// most one has `fallback`.
  DefaultChoice default_choice = DefaultChoice::no;
  /// Whether many problems share the kernel. Compiling any other kernel for one small problem would not pay.
  /// So a planner takes such a kernel only if a measurement chose it or if it is predicted to be far faster.
  bool common = true;

  friend bool operator==(const Candidate& a, const Candidate& b) noexcept {
    return a.family == b.family && a.data->facts_bytes() == b.data->facts_bytes() &&
           a.data->choice_bytes() == b.data->choice_bytes();
  }
};

/// A kernel's demands on an SM and on memory. The cost model and explanations know nothing else of a kernel.
struct Footprint {
  PerDimension box{};               ///< elements of a tile in each dimension of the nest
  std::uint32_t threads = 32;       ///< threads of a CTA
  std::uint64_t tiles = 0;          ///< number of tiles if they are not boxes; 0: computed from the box
  std::uint32_t stages = 1;         ///< tiles that a CTA has in flight at once
  std::uint32_t tiles_per_cta = 1;  ///< consecutive tiles of a CTA
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t max_dynamic_shared_bytes = 0;  ///< maximum over the kernel's launches; 0: the same in all
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t registers = 32;       ///< registers of a thread, as NVRTC compiles kernels of this kind
  std::uint64_t bytes_in_flight = 0;  ///< bytes of a CTA's loads in flight
  bool by_engine = false;             ///< the copy engine loads; its latency is longer than a thread's load
  bool stored_by_engine = false;      ///< the copy engine stores, row by row
  std::uint32_t stagger = 0;        ///< elements, at most, by which a row's first tile begins before the row
  std::uint32_t store_bytes = 0;    ///< least alignment of stores in bytes, whatever the tile; 0: unknown
  std::uint32_t rounds = 1;         ///< times that a thread waits for loads
  double waits = 0;                 ///< times that a thread waits for memory while no other work hides it
  double last_waits = 0;            ///< waits of the last CTA when all others have ended
  std::uint32_t passes = 0;         ///< vectors that a thread reads from shared memory, one after the other
  double instructions = 0;          ///< instructions of all threads of all CTAs together
  double lines = 0;                 ///< lines of memory that the accesses of all warps touch
  double reread_bytes = 0;          ///< bytes read twice: CTAs read parts of a sector at different times
  double halo_bytes = 0;            ///< bytes of neighbouring tiles' elements that all tiles load
  PerDimension order = in_order();  ///< order of dimensions in which CTAs take tiles, the fastest last
};

/// The number of tiles of the nest.
[[nodiscard]] std::uint64_t tiles_of(const Footprint& footprint, const CanonicalNest& nest) noexcept;

/// The number of CTAs that an SM can hold, limited by threads, shared memory and registers.
[[nodiscard]] std::uint32_t resident_ctas(const Footprint& footprint) noexcept;

/// A name that a template may ask for by `//@ if NAME` (templates/README.md).
struct TemplateFlag {
  std::string name;
  bool is_set = false;
};

/// A family's part of one kernel's source. The source writer adds the rest (codegen/source.cpp).
struct SourceParts {
  std::string_view kernel = {};  ///< templates/kernels/<kernel>.cu; empty: the family's name
  std::string why = {};    ///< a sentence or two for the first lines: what the kernel does and why this way
  std::string facts = {};  ///< facts that the kernel is specialised for, as declarations
  /// The flags that the family declares. Its template may ask for them and for the generator's own flags.
  std::vector<TemplateFlag> flags = {};
  std::uint32_t rank = 0;      ///< rank of the views, to which template lines `//@ each d` are unrolled; or 0
  std::uint32_t map_rank = 0;  ///< rank of the tensor maps; 0 if there are none
  std::uint32_t element_bytes = 0;  ///< size of elements that are moved as bits; 0 if `elements` gives it
  std::vector<ElementType> elements = {};  ///< types that are loaded, converted or stored
  std::uint32_t max_threads = 0;  ///< threads of the largest CTA, if launches differ; 0: those of the plan
  std::uint32_t min_ctas = 0;     ///< CTAs of an SM, for which the compiler limits registers; 0: no limit
  std::string call = {};          ///< body of the entry: "transpose_tile(views)"

  // For kernels with an expression.
  std::vector<ElementType> inputs = {};  ///< types of x0 …, then of p0 …
  std::uint32_t numbers = 0;             ///< inputs that are numbers of the launch: p0 …
  ElementType result = ElementType::u8;  ///< type of the results
  ExpressionReads reads = {};            ///< names that the template passes to evaluate()
  bool pads = false;              ///< whether elements outside a source become a value, converted as results
  bool neighbours = false;        ///< whether inputs are function objects, called with offsets
  std::uint32_t coordinates = 0;  ///< number of coordinates in g and t
  bool has_place = false;  ///< whether the template calls evaluate_at(): g, t, tile_index in one struct
  std::string before_expression = {};  ///< lines of evaluate() before the expression
  std::string steps =
      {};  ///< the function that stands in place of evaluate() for an expression of several steps
  std::vector<std::string> expressions = {};  ///< the user's expressions in `steps`

  /// Declares a flag. One that is declared several times is set if any declaration sets it.
  void set(std::string_view flag, bool on = true) { flags.push_back({std::string(flag), on}); }
};

/// One kernel family, described in its own folder. A family is stateless. It is never destroyed, because
/// threads and static objects may make kernels while the process ends.
class Family {
 public:
  explicit Family(const FamilyInfo& info) : info_(info) {}
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  [[nodiscard]] const FamilyInfo& info() const noexcept { return info_; }
  [[nodiscard]] std::string_view name() const noexcept { return info_.name; }

  /// Adds the family's candidates for a problem whose nest is not empty; adds none if the family does not
  /// support the problem.
  virtual void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const = 0;

  [[nodiscard]] virtual Footprint footprint(const Candidate& candidate, const Problem& problem) const = 0;
  [[nodiscard]] virtual KernelChoice choice(const Candidate& candidate) const = 0;
  [[nodiscard]] virtual std::span<const ChoiceField> choice_fields() const noexcept = 0;
  /// The choice as messages and reports show it after the family's name: "64x64 by 8, 256 threads, source
  /// order".
  [[nodiscard]] virtual std::string describe(const KernelChoice& choice) const = 0;
  /// One sentence: why this kernel suits the problem.
  [[nodiscard]] virtual std::string why(const Candidate& candidate, const Problem& problem) const = 0;
  /// Further steps by which a plan gets from the views to this kernel, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> rewrites(const Candidate& /*candidate*/) const { return {}; }

  /// Sets the parameters and grid of a launch. make_kernel_plan() has set CTA size and shared memory.
  virtual void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
                    LaunchShape& shape) const = 0;
  [[nodiscard]] virtual SourceParts source(const Candidate& candidate, std::string_view expression) const = 0;

  /// Sets the members of a shape that only the family knows: `staggered`, `sources`, `access` and `length`.
  virtual void classify(const Candidate& /*candidate*/, const Problem& /*problem*/,
                        ShapeClass& /*shape*/) const {}

 protected:
  ~Family() = default;

 private:
  FamilyInfo info_;
};

template <class Facts>
struct FactsData : CandidateData {
  explicit FactsData(const Facts& f) : facts(f) {}
  [[nodiscard]] std::string_view facts_bytes() const noexcept final { return bytes_of(facts); }
  Facts facts;
};

/// The facts of a candidate. `Facts` must be its family's struct.
template <class Facts>
[[nodiscard]] const Facts& facts_of(const Candidate& candidate) {
  return static_cast<const FactsData<Facts>&>(*candidate.data).facts;
}

/// For families whose candidates need no layout.
struct NoLayout {};

/// A family whose candidates have these types of facts, choice and layout. The layout caches results that
/// follow from choice and problem and take long to compute.
template <class Facts, class Choice, class Layout = NoLayout>
class TypedFamily : public Family {
 public:
  struct Data final : FactsData<Facts> {
    Data(const Facts& f, const Choice& c, Layout&& l)
        : FactsData<Facts>(f), choice(c), layout(std::move(l)) {}
    [[nodiscard]] std::string_view choice_bytes() const noexcept override { return this->bytes_of(choice); }
    Choice choice;
    [[no_unique_address]] Layout layout;
  };

  using Family::Family;
  /// The data of a candidate of this family.
  [[nodiscard]] static const Data& data(const Candidate& candidate) {
    return static_cast<const Data&>(*candidate.data);
  }
  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const final {
    return kernel_choice(name(), data(candidate).choice);
  }
  [[nodiscard]] std::span<const ChoiceField> choice_fields() const noexcept final {
    static constexpr auto fields = tmajit::choice_fields<Choice>();
    return fields;
  }
  [[nodiscard]] std::string describe(const KernelChoice& choice) const final {
    return typed_choice<Choice>(choice).text();
  }

 protected:
  ~TypedFamily() = default;
  [[nodiscard]] Candidate candidate(const Facts& facts, const Choice& choice, const CanonicalNest& nest,
                                    Layout layout = {}) const {
    return {
        .family = this, .data = std::make_shared<const Data>(facts, choice, std::move(layout)), .nest = nest};
  }
};

/// The logarithm to base 2, rounded down; 0 for n = 0. Shape classes hold extents by it.
[[nodiscard]] inline std::int8_t log2_of(std::uint64_t n) noexcept {
  return static_cast<std::int8_t>(std::bit_width(n | 1) - 1);
}

/// Adds a candidate unless an equal one is present. If `common` is set, the added or present one is common.
void add_once(std::vector<Candidate>& candidates, Candidate&& candidate, bool common = true);

/// A one-dimensional grid of `ctas` CTAs. Throws Error{unsupported} if these are more than 2^31 − 1.
[[nodiscard]] std::array<std::uint32_t, 3> grid_of(std::uint64_t ctas);

TMAJIT_END
