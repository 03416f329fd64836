#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bench {

/// Elements of each part of a large destination that check() compares.
inline constexpr std::uint64_t compared_part = 1ULL << 14;

/// Each byte of the destinations before what is checked runs.
inline constexpr std::byte poison{0xA5};

/// Parts of a case's destinations as the operation's reference computes them from a buffer of sources that
/// the pattern fills: the ends and random places, or everything if it is small. An expression that the
/// reference does not understand is not checked.
class Check {
 public:
  Check(const Case& c, const reference::Pattern& pattern, std::uint64_t seed,
        std::uint64_t part = compared_part);
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  ~Check();

  /// The first mistake in the destinations on a device, or an empty text.
  [[nodiscard]] std::string wrong(tmajit::Device& device, tmajit::DevicePtr destination,
                                  tmajit::Stream stream) const;
  /// Throws tmajit::Error{internal} that says what is wrong.
  void require_right(tmajit::Device& device, tmajit::DevicePtr destination, tmajit::Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How far a peer's result may lie from ours for the order and the precision of its roundings, relative to
/// the larger of 1 and its size; none where nothing is computed, or the reference does not understand it.
std::optional<double> tolerance(const Case& c);

}  // namespace bench
