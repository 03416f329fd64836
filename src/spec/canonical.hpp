#pragma once

#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

TMAJIT_BEGIN

/// Most views of one kernel: eight destinations and eight sources.
inline constexpr std::uint32_t max_operands = 16;

/// A loop nest over several views at once, with the fewest dimensions that make the same accesses. Planners
/// work on it. It preserves which elements correspond, but not the views' dimensions: these are sorted by the
/// destination's strides.
struct CanonicalNest {
  struct Operand {
    std::array<std::int64_t, max_view_rank> strides{};  ///< in elements; 0 if the operand is broadcast
    std::int64_t offset = 0;  ///< elements from the view's address to the nest's first element
    friend bool operator==(const Operand&, const Operand&) = default;
  };

  std::uint32_t rank = 0;      ///< 0 for a single element
  std::uint32_t operands = 0;  ///< the destination first
  std::array<std::uint64_t, max_view_rank> shape{};
  std::array<Operand, max_operands> operand{};
  /// A padded source covers the destination indices window_first to window_end − 1 of each dimension. If not
  /// `windowed`, sources cover all indices.
  bool windowed = false;
  std::array<std::int64_t, max_view_rank> window_first{};
  std::array<std::int64_t, max_view_rank> window_end{};
  /// The nest's dimension for each dimension of the views, and whether the nest walks it backwards; valid
  /// only with `keep_dimensions`. A dimension that was dropped has the nest's rank.
  std::uint32_t view_rank = 0;
  std::array<std::uint32_t, max_view_rank> dimension_of{};
  std::array<bool, max_view_rank> backwards{};
  /// For arg_min and arg_max: an element's position among the elements of its reduction is first_place plus
  /// the sum of index[d] · place[d]. 0 if the caller needs no positions.
  std::array<std::int64_t, max_view_rank> place{};
  std::int64_t first_place = 0;

  [[nodiscard]] bool empty() const noexcept;              ///< whether the first extent is 0
  [[nodiscard]] std::uint64_t elements() const noexcept;  ///< saturates at 2^64 − 1
  /// "64x128: 1,64 <- 128,1", for explanations and failing tests.
  [[nodiscard]] std::string text() const;

  /// Whether two nests make the same accesses.
  friend bool operator==(const CanonicalNest& a, const CanonicalNest& b) noexcept {
    return a.rank == b.rank && a.operands == b.operands && a.shape == b.shape && a.operand == b.operand &&
           a.place == b.place && a.first_place == b.first_place;
  }
};

/// The part of the destination that a padded source covers.
struct SourceWindow {
  std::array<std::int64_t, max_view_rank> first{};  ///< destination index of its first element
  std::array<std::uint64_t, max_view_rank> extent{};
};

/// Dimensions of the views that the destination lacks, so that its view has stride 0 there, or those of rows.
struct ReducedDimensions {
  std::array<bool, max_view_rank> reduced{};
  std::array<std::int64_t, max_view_rank> place{};  ///< CanonicalNest::place of the views' dimensions
};

struct NestOptions {
  bool keep_dimensions = false;  ///< do not merge dimensions, because an expression reads coordinates
  const SourceWindow* window = nullptr;
  const ReducedDimensions* reduced = nullptr;
  /// The operand whose strides order the nest, instead of the destination's: it may have strides of 0, and so
  /// may the destination.
  std::uint32_t primary = 0;
};

/// Brings views of one shape, the destination first, to their canonical nest:
/// - Dimensions of extent 1 are dropped.
/// - Dimensions in which the destination has a negative stride are walked in the opposite direction; in
///   reduced dimensions, where the destination has stride 0, the first source's stride decides.
/// - Dimensions are sorted by the destination's strides, the largest first. Those with equal strides are
///   sorted by the first source's. Reduced dimensions come last.
/// - Adjacent dimensions that every operand can walk as one dimension are merged.
/// A shape with an extent of 0 gives the empty nest.
///
/// Throws Error{invalid_argument} if there is no view or too many, if shapes differ, or if the destination
/// has stride 0 in a dimension of more than one element that is not reduced: it would write elements twice.
[[nodiscard]] CanonicalNest canonical(std::span<const TensorView> views, const NestOptions& options = {});

TMAJIT_END
