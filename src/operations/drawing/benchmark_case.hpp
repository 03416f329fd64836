#pragma once

#include <tmajit/arguments.hpp>
#include <tmajit/element_type.hpp>
#include <tmajit/tile_options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

inline constexpr std::uint64_t KiB = 1024;
inline constexpr std::uint64_t MiB = 1024 * KiB;
inline constexpr std::uint64_t GiB = 1024 * MiB;
/// 2^20, for numbers of elements.
inline constexpr std::uint64_t Mi = 1024 * 1024;

/// "64 KiB", "1 GiB", "1.5 MiB".
std::string human_bytes(std::uint64_t bytes);

using Shape = std::vector<std::uint64_t>;

/// A dense row-major tensor.
struct Array {
  tmajit::ElementType type = tmajit::ElementType::f32;
  Shape shape;

  [[nodiscard]] std::uint64_t elements() const;
  [[nodiscard]] std::uint64_t bytes() const;
};

/// The peers of a case: other libraries that are measured besides tmajit and the driver's copy.
enum class Peers : std::uint8_t {
  none,
  eager,  ///< PyTorch's eager mode, which needs no compiling
  all
};

/// A tile for a kernel family whose callers may choose the tile. Fields that are zero or empty stand for the
/// family's defaults.
struct Tile {
  std::vector<std::uint32_t> box{};
  std::uint32_t stages = 0;
  std::uint32_t output_stages = 0;
  std::uint32_t warps = 0;
  std::uint32_t ctas_per_sm = 0;
  std::optional<std::uint32_t> tiles_per_cta = std::nullopt;
  friend bool operator==(const Tile&, const Tile&) = default;

  /// The tile as the library's options.
  [[nodiscard]] tmajit::TileOptions options() const;
};

/// One measurement: an operation, by its name, on arrays. One buffer holds all sources and another all
/// destinations, each array at a multiple of 256 bytes.
struct Case {
  std::string group;   ///< "copy", "1 GiB"; docs/movement.md describes the groups
  std::string name{};  ///< "(8191,8209)->(1,0)"
  /// One of tmajit::operations(), or "snapshot", which writes the bytes of each tile in shared memory.
  std::string operation = "copy";
  std::vector<Array> sources{};
  std::vector<Array> destinations{};
  tmajit::Arguments arguments{};  ///< arguments of the operation
  /// Permutations of the sources' axes: dimension d of source i, as the operation sees it, is dimension
  /// `orders[i][d]` of the array. An empty or missing order is the identity.
  std::vector<std::vector<std::uint32_t>> orders{};
  std::string expression{};  ///< map and cast: the peers' expression, a name of expressions.hpp
  std::string family{};      ///< family of kernels to use; empty: the planner chooses
  std::optional<Tile> tile = std::nullopt;  ///< tile to use; none: the planner chooses
  std::vector<std::uint32_t> image{};       ///< snapshot: the tile's extents
  Peers peers = Peers::all;
  bool quick = false;  ///< measured by --quick, too
  bool odd = false;    ///< has rows whose bytes are not a multiple of 16
  /// The required throughput, as a fraction of the driver's copy of as many bytes, counted in sectors.
  std::optional<double> min_ratio = std::nullopt;
  /// For small moves: the microseconds that they may take longer than the driver's copy.
  std::optional<double> max_extra_us = std::nullopt;

  /// The permutation of a source's axes; empty for the identity.
  [[nodiscard]] std::vector<std::uint32_t> order(std::size_t source) const;
  /// The shape of a source as the operation sees it.
  [[nodiscard]] Shape seen(std::size_t source) const;
  /// "f32", "f32->bf16".
  [[nodiscard]] std::string types() const;
  /// The sources' element type; without sources, the destination's.
  [[nodiscard]] tmajit::ElementType data_type() const {
    return sources.empty() ? destinations.front().type : sources.front().type;
  }
  /// "peers: (8191,8209)->(1,0) f32", unique in a list.
  [[nodiscard]] std::string label() const;
  /// The expression that the library computes; empty for a copy of bits and a plain cast.
  [[nodiscard]] std::string library_expression() const { return std::string(arguments.text("expression")); }
};

/// A case with dense sources and the destinations that tmajit::destinations_of() gives.
Case make_case(std::string group, std::string name, std::string operation, std::vector<Array> sources,
               tmajit::Arguments arguments = {});

/// Builds the list of measured cases. The reference that add() returns is valid until the next call.
class CaseBuilder {
 public:
  CaseBuilder(std::uint64_t seed, bool tiny) : seed_(seed), tiny_(tiny) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Whether cases have only a few elements, to test the benchmark itself.
  [[nodiscard]] bool tiny() const { return tiny_; }
  [[nodiscard]] std::vector<Case> take() { return std::exchange(cases_, {}); }

  // Each returns `n`, or a small number in its place if the cases are tiny.

  /// An extent of a permutation.
  [[nodiscard]] std::uint64_t scaled_extent(std::uint64_t n) const { return tiny_ && n > 4 ? 2 + n % 7 : n; }
  /// An extent of, or a position in, a matrix of about 16384 rows or columns.
  [[nodiscard]] std::uint64_t scaled_in_matrix(std::uint64_t n) const { return tiny_ ? n * 40 / 16384 : n; }
  /// The extent of a tensor of one dimension.
  [[nodiscard]] std::uint64_t scaled_length(std::uint64_t n) const { return tiny_ ? 1000 + n % 97 : n; }

  Case& add(Case c) { return cases_.emplace_back(std::move(c)); }
  Case& add(const char* group, std::string name, std::string operation, std::vector<Array> sources,
            tmajit::Arguments arguments = {}) {
    return add(
        make_case(group, std::move(name), std::move(operation), std::move(sources), std::move(arguments)));
  }

 private:
  std::uint64_t seed_;
  bool tiny_;
  std::vector<Case> cases_;
};

}  // namespace bench
