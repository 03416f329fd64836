#pragma once

#include "families/shared/line_image.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <cstdint>
#include <cstdlib>

TMAJIT_BEGIN

/// Bytes of lines that come to an image at once.
inline constexpr std::uint32_t image_unit = 16;
/// The logarithm of lines between two gaps of an image that has none: no index is so large.
inline constexpr std::uint32_t no_skew = 31;

/// Which lines of a source's memory a tile takes, and where they lie in its image.
struct SourceLines {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  std::uint32_t bytes = 0;       ///< that a line spans
  std::uint32_t dimensions = 0;  ///< how many, from the last of `order`, a line spans
  std::uint32_t units = 1;       ///< of 16 bytes that a line meets
  std::uint32_t count = 1;
  PerDimension order{};  ///< dimensions by the source's strides, the largest first
  // The image:
  std::array<std::int32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  std::uint32_t below = 0;                               ///< bytes of a line before its element of index 0
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes
  std::uint32_t skew_log = no_skew;      ///< the logarithm of the lines between two such gaps
  std::uint32_t image_bytes = 0;         ///< a multiple of 16

  /// Whether a line spans dimension `d`.
  [[nodiscard]] bool spans(std::uint32_t d) const noexcept;
  /// The image of a tile whose runs have the dimensions from `run_dimension` on.
  [[nodiscard]] LineImage layout(const PerDimension& box, std::uint32_t run_dimension) const noexcept;
  friend bool operator==(const SourceLines&, const SourceLines&) = default;
};

/// Plans the lines of a tile: first which dimensions they span, then where they lie in the image.
class LinePlanner {
 public:
  /// Problem and tile must outlive it. So many bytes `past` the last line are read, though nobody uses them.
  LinePlanner(const Problem& problem, std::uint32_t operand, const PerDimension& box, std::uint32_t past = 0);

  [[nodiscard]] const SourceLines& lines() const noexcept { return own_; }
  /// Bytes that every line's first is a multiple of, at most 16.
  [[nodiscard]] std::uint32_t alignment() const noexcept { return alignment_; }
  [[nodiscard]] std::int64_t stride(std::uint32_t d) const { return nest_.operand[operand_].strides[d]; }
  [[nodiscard]] std::uint64_t distance(std::uint32_t d) const {
    return static_cast<std::uint64_t>(std::abs(stride(d)));
  }

  /// Lines go on, the nearest dimension first, as long as `goes_on(d, span)`: in dimension `d`, of a line
  /// that spans so many elements. False if a line is too long for an image.
  template <class GoesOn>
  bool take_lines(const GoesOn& goes_on) {
    std::uint64_t span = 1;
    for (std::uint32_t k = own_.rank; k-- > 0; ++own_.dimensions) {
      const std::uint32_t d = own_.order[k];
      if (box_[d] == 1) continue;
      if (!goes_on(d, span) || !add(d, span)) break;
    }
    return finish_lines(span);
  }
  /// What such a `goes_on` asks first: whether what the line skips is little, and, if it runs backwards, the
  /// tile takes all of it.
  [[nodiscard]] bool may_go_on(std::uint32_t d, std::uint64_t span) const;

  /// The innermost dimension of a run that takes lines apart, if it is met in the run's first `elements`;
  /// else the rank.
  [[nodiscard]] std::uint32_t first_of_run(std::uint32_t run_dimension, std::uint64_t elements) const;
  /// Places lines with so many times 16 bytes more between those of dimension `first`, and as many again
  /// after each 1 << skew_of(bytes from one to the next). A line begins as far from a multiple of 16 bytes as
  /// in memory, and never in the 16 bytes where another ends. False if that takes too much memory.
  template <class SkewOf>
  bool place_lines(std::uint32_t first, std::uint32_t gap, const SkewOf& skew_of) {
    std::uint64_t span = own_.bytes;
    own_.count = 1;
    own_.skewed = max_view_rank;
    own_.skew_log = no_skew;
    for (std::uint32_t k = own_.rank - own_.dimensions; k-- > 0;) {
      const std::uint32_t d = own_.order[k];
      if (stride(d) == 0 || box_[d] == 1) continue;
      const std::uint64_t step = step_beyond(d, span) + (d == first ? std::uint64_t{gap} * image_unit : 0);
      if (d == first) own_.skew_log = skew_of(step);
      if (d == first && own_.skew_log != no_skew) own_.skewed = d;
      if (!put_apart(d, step, span)) return false;
    }
    own_.image_bytes = sat_cast<std::uint32_t>(round_up(span + apart_ + past_, std::uint64_t{image_unit}));
    return true;
  }
  /// Places lines with gaps of different lengths until what `taken(least)` says of the image is no more than
  /// `enough`, and keeps those of which it says least, of this call and the ones before. `least` is what it
  /// has said at least so far: all that is not less is as bad.
  template <class SkewOf, class Taken>
  void try_gaps(std::uint32_t first, const SkewOf& skew_of, std::uint32_t enough, const Taken& taken) {
    for (std::uint32_t gap = 0; gap < most_gaps && least_ > enough; ++gap) {
      if (!place_lines(first, gap, skew_of)) return;
      const std::uint32_t found = taken(least_);
      if (found >= least_) continue;
      least_ = found;
      best_ = own_;
    }
  }
  /// Ends the search: what was said of the best image; UINT32_MAX if all took too much memory.
  std::uint32_t settle() {
    if (least_ != UINT32_MAX) own_ = best_;
    return least_;
  }

 private:
  static constexpr std::uint32_t most_gaps = 4;

  bool add(std::uint32_t d, std::uint64_t& span);
  bool finish_lines(std::uint64_t span);
  [[nodiscard]] std::uint64_t step_beyond(std::uint32_t d, std::uint64_t span) const;
  bool put_apart(std::uint32_t d, std::uint64_t step, std::uint64_t& span);

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t operand_;
  std::uint32_t bytes_;
  const PerDimension& box_;
  std::uint32_t past_;
  std::uint32_t alignment_ = 1;
  std::uint64_t apart_ = 0;  ///< bytes that a line may begin later than it does here
  SourceLines own_;
  SourceLines best_;
  std::uint32_t least_ = UINT32_MAX;  ///< what was said of it
};

TMAJIT_END
