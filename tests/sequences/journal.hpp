#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sequences {

/// A failure of the library that a sequence found.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A log of the running sequence's steps, in memory shared with the watching process and with forked
/// children. It can be read after the writing process has ended in any way.
class Journal {
 public:
  explicit Journal(bool verbose);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void begin(std::uint64_t seed);
  /// Notes a step that begins, or a failure. Notes of a forked child are marked.
  void note(std::string_view text);
  /// Counts the sequence as completed: it ended without failure.
  void end();
  void set_child(bool child) { child_ = child; }

  [[nodiscard]] std::uint64_t seed() const;
  /// The number of sequences that ended without failure, since the last reset.
  [[nodiscard]] std::uint64_t completed() const;
  void reset_completed();
  /// A number that grows with every step.
  [[nodiscard]] std::uint64_t progress() const;
  [[nodiscard]] std::string text() const;

 private:
  struct Page;
  Page* page_;
  bool verbose_;  ///< on standard error, too
  bool child_ = false;
};

}  // namespace sequences
