#pragma once

#include <tmajit/kernel_plan.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The shape of a move, for which a fastest kernel can be measured. Plain data; it does not depend on which
/// candidates exist, nor on their order. All members before `extents` are the shape's kind.
///
/// A choice that was measured for one shape serves near shapes of its kind, too. It was measured how far a
/// choice carries: docs/model.md.
struct ShapeClass {
  static constexpr std::uint32_t version = 3;  ///< version of the meaning of these fields
  /// The most distance() at which a choice serves another shape: no extent differs by more than 11 %.
  static constexpr double near = 0.15;
  std::string_view family;  ///< family of the candidate that suits most moves of the kind
  std::uint8_t element_bytes = 0;
  std::uint8_t rank = 0;
  bool staggered = false;  ///< not all rows of the destination begin at multiples of a vector
  /// The order of each source's dimensions, by descending stride, as a permutation of the destination's: its
  /// index among all permutations in lexicographic order. 0: the destination's order.
  std::array<std::uint16_t, 8> order{};
  std::uint8_t sources = 0;  ///< number of sources of an expression, or of views with arbitrary strides
  /// For each source 16 · a + b: a is a number for how the source is read, b is log2 of its element's bytes.
  std::array<std::uint8_t, 8> access{};
  std::array<std::uint64_t, max_view_rank>
      extents{};  ///< of the destination's dimensions, merged where possible
  std::uint64_t length =
      0;  ///< of what the extents do not show: taps of a window, elements of a row, tensors
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is compared
  friend constexpr auto operator<=>(const ShapeClass&, const ShapeClass&) = default;

  [[nodiscard]] TMAJIT_API bool is_of_kind(const ShapeClass& other) const noexcept;
  /// The greatest difference between extents, or lengths, of two shapes of a kind, in octaves: |log2(a / b)|.
  /// Infinite for shapes of different kinds.
  [[nodiscard]] TMAJIT_API double distance(const ShapeClass& other) const noexcept;
  /// "transpose 4B rank 2 order 1,0 extents 16384x8192", for people.
  [[nodiscard]] TMAJIT_API std::string text() const;
};

/// The fastest choice that was measured for moves of one shape on one chip.
struct TunedChoice {
  std::string chip;  ///< "NVIDIA H200"
  ShapeClass shape_class;
  KernelChoice choice;
  double microseconds = 0;  ///< measured
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

/// Tuned choices by chip and shape. Thread-safe. Choices that were stored under another version of
/// ShapeClass or KernelChoice are skipped when a file is read.
class TMAJIT_API TuningTable {
 public:
  TuningTable();
  ~TuningTable();
  TuningTable(TuningTable&&) noexcept;
  TuningTable& operator=(TuningTable&&) noexcept;

  /// The choices that come with this library.
  [[nodiscard]] static TuningTable shipped();

  /// The choice of the nearest shape of the kind, up to ShapeClass::near; shipped choices come after added
  /// ones.
  [[nodiscard]] std::optional<TunedChoice> find(std::string_view chip, const ShapeClass& shape_class) const;
  /// Whether find() gives a choice that was added to the shipped ones.
  [[nodiscard]] bool has_added(std::string_view chip, const ShapeClass& shape_class) const;
  /// Replaces the choice of the same chip and shape.
  void add(const TunedChoice& choice);
  /// Increases with every change. A plan made at an earlier generation may differ from the present choice.
  [[nodiscard]] std::uint64_t generation() const noexcept;
  /// Every choice, ordered by chip and shape.
  [[nodiscard]] std::vector<TunedChoice> all() const;

  /// JSON: {"tmajit": "0.2.0", "class_version": 3, "choice_version": 2, "choices": [{"chip": …, "class": {…},
  /// "choice": {…}, "microseconds": …}]}.
  [[nodiscard]] std::string json() const;
  /// Adds the choices of a text that json() wrote. Throws Error{invalid_argument} that says where the text is
  /// wrong; the table is then unchanged.
  void add_json(std::string_view text, std::string_view label = "tuning file");

  /// Calls add_json() with a file's text, if the file exists. Throws Error{io} if it cannot be read.
  void load(const std::filesystem::path& file);
  /// Writes json(), whole or not at all. Throws Error{io}.
  void save(const std::filesystem::path& file) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct TuneOptions {
  /// Timed runs of each candidate that takes at most twice the fastest's time, in three rounds over these
  /// candidates. Candidates within 3 % of the fastest then get 4 · repeats further runs. If the fastest takes
  /// less than 50 us, a run is 50 launches in a CUDA graph.
  std::uint32_t repeats = 20;
  /// Called before each measurement with the work done so far, in units of candidates, the number of
  /// candidates, and the choice to be measured. During the further runs of the fastest candidates, `done` is
  /// `candidates`. May be empty.
  std::function<void(std::uint32_t done, std::uint32_t candidates, std::string_view choice)> progress{};
  bool store = true;  ///< add the winner to the runtime's table, and to its `tuning.json` if it has one
};

struct TuneReport {
  struct Candidate {
    KernelChoice choice;
    double predicted_us = 0;
    double microseconds = 0;  ///< the median
  };
  /// A candidate that could not be compiled, loaded or prepared. The other candidates are measured.
  struct LeftOut {
    KernelChoice choice;
    std::string why;
  };
  ShapeClass shape_class;
  std::vector<Candidate> candidates;  ///< fastest first
  std::vector<LeftOut> left_out;
};

TMAJIT_END
