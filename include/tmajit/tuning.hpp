#pragma once

#include <tmajit/version.hpp>

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

/// The fastest choice that was measured for moves of one shape class on one chip.
struct TunedChoice {
  std::string chip;         ///< "NVIDIA H200"
  std::string shape_class;  ///< MoveExplanation::shape_class
  std::string choice;       ///< MoveStep::choice
  double microseconds = 0;  ///< measured
  std::string version;      ///< of the library that measured it
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

/// Tuned choices by chip and shape class. Thread-safe. Choices of another version of the library are kept in
/// files but never found: its candidates may differ.
class TMAJIT_API TuningTable {
 public:
  TuningTable();
  ~TuningTable();
  TuningTable(TuningTable&&) noexcept;
  TuningTable& operator=(TuningTable&&) noexcept;

  /// The choices that come with this library.
  [[nodiscard]] static TuningTable shipped();

  [[nodiscard]] std::optional<TunedChoice> find(std::string_view chip, std::string_view shape_class) const;
  /// Replaces the choice of the same chip, class and version.
  void add(const TunedChoice& choice);
  /// Every choice, ordered by chip, class and version.
  [[nodiscard]] std::vector<TunedChoice> all() const;

  /// JSON: {"tmajit": "0.1.0", "choices": [{"chip": …, "class": …, "choice": …, "microseconds": …, "version":
  /// …}]}.
  [[nodiscard]] std::string json() const;
  /// Adds the choices of such a text. Throws Error{invalid_argument} that says where the text is wrong; the
  /// table is then as before.
  void add_json(std::string_view text, std::string_view label = "tuning file");

  /// add_json() of a file; nothing if there is none. Throws Error{io} if it cannot be read.
  void load(const std::filesystem::path& file);
  /// Writes json(), whole or not at all. Throws Error{io}.
  void save(const std::filesystem::path& file) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct TuneOptions {
  /// Timed runs of each candidate, in three rounds over all of them. Those below 50 us run eight times as
  /// often.
  std::uint32_t repeats = 20;
  /// Called before each measurement with how many candidates' worth is done and how many there are; may be
  /// empty.
  std::function<void(std::uint32_t done, std::uint32_t candidates, std::string_view choice)> progress{};
  bool store = true;  ///< add the winner to the runtime's table, and to its file if it has one
};

struct TuneReport {
  struct Candidate {
    std::string choice;
    double predicted_us = 0;
    double microseconds = 0;  ///< the median
  };
  std::string shape_class;
  std::vector<Candidate> candidates;  ///< fastest first
};

TMAJIT_END
